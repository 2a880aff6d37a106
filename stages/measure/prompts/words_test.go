package prompts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
)

func TestDefaultPrompt(t *testing.T) {
	c := Cell{Concurrency: 4, Trial: 1, Prompt: spec.CapacityPrompt{Tokens: 500, Cache: "unique", Canary: true}, Output: spec.CapacityOutput{Words: 70}}
	got := mustBuild(t, mustNew(t, c), 3)
	if n := len(got.Text); n > 1500 || n < 1480 {
		t.Errorf("%d characters, want about 3 a token", n)
	}
	if !strings.Contains(got.Text, "request 3. Begin your answer with "+got.Marker) || !strings.HasSuffix(got.Text, "Write these 70 words in this order, separated by single spaces, add nothing, and do not stop before the last one: "+strings.Join(got.Words, " ")) {
		t.Errorf("%s", got.Text)
	}
	if strings.ContainsAny(got.Text, "{}") || got.Length != len(strings.Fields(got.Text)) || len(got.Words) != 70 || got.AskedTokens != 500 || got.Builder != WordsV1 {
		t.Errorf("%+v", got)
	}
	c.CharsPerToken = 4.25
	if n := len(mustBuild(t, mustNew(t, c), 3).Text); n > 2125 || n < 2105 {
		t.Errorf("%d characters, want about 4.25 a token", n)
	}
	short := mustBuild(t, mustNew(t, Cell{Trial: 1, Prompt: spec.CapacityPrompt{Cache: "unique"}}), 0)
	if !strings.HasSuffix(short.Text, "Say in one line what stands above.") || short.Marker != "" || short.Words != nil || short.AskedTokens != 0 {
		t.Errorf("%+v", short)
	}
}

// TestTemplate: a template that makes prompts part early is sent as it stands,
// which a model with a fixed prompt form needs.
func TestTemplate(t *testing.T) {
	c := Cell{Concurrency: 2, Trial: 1, Prompt: spec.CapacityPrompt{Cache: "unique", Canary: true, Template: "Begin with {canary} then repeat these {words} words:\n{word-list}"}, Output: spec.CapacityOutput{Words: 8}}
	got := mustBuild(t, mustNew(t, c), 0)
	if want := "Begin with " + got.Marker + " then repeat these 8 words:\n" + strings.Join(got.Words, " "); got.Text != want {
		t.Errorf("%q, want %q", got.Text, want)
	}
	filled := Cell{Prompt: spec.CapacityPrompt{Tokens: 50}, Output: spec.CapacityOutput{Words: 2}}
	for template, early := range map[string]bool{
		"{canary} {filler}": true, "{canary} {word-list}": true, "{index} {filler} {canary}": true,
		"{filler}{canary}": false, "no place": false, "{canary} {index}": false, "{filler}": false,
		strings.Repeat("x", 64) + "{index}{filler}": true, strings.Repeat("x", 65) + "{index}{filler}": false,
	} {
		if filled.partsEarly(parseTemplate(template)) != early {
			t.Errorf("%q: %v", template, !early)
		}
	}
	c.Prompt.Template = "{canary} é {filler} {word-list} {filler} {no} {"
	c.Prompt.Tokens = 200
	if text := mustBuild(t, mustNew(t, c), 1).Text; !strings.HasSuffix(text, " {no} {") || len([]rune(text)) > 600 || len(text) < 560 {
		t.Errorf("%d: %s", len(text), text)
	}
}

func TestRefusedCells(t *testing.T) {
	for name, bad := range map[string]Cell{
		"canary":   {Prompt: spec.CapacityPrompt{Canary: true, Template: "{word-list}"}},
		"words":    {Prompt: spec.CapacityPrompt{Template: "{canary}"}, Output: spec.CapacityOutput{Words: 3}},
		"cache":    {Prompt: spec.CapacityPrompt{Cache: "cold"}},
		"ratio":    {CharsPerToken: -1},
		"builder":  {Prompt: spec.CapacityPrompt{Builder: "anvil/x"}},
		"shared":   {Prompt: spec.CapacityPrompt{Tokens: 100, SharedTokens: 100}},
		"lengths":  {Lengths: []int{4, 4}, Requests: 3},
		"length 0": {Lengths: []int{4, 0}, Requests: 2},
		"drawn":    {Prompt: spec.CapacityPrompt{Lengths: &spec.Lengths{Distribution: "x"}}},
		"negative": {Prompt: spec.CapacityPrompt{Tokens: -1}},
	} {
		if _, err := New(bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := mustNew(t, Cell{}).Build(-1); err == nil {
		t.Error("a prompt before the first is built")
	}
}

// TestUnique: prompts part within their first 64 bytes, over cells, points,
// seeds and trials too, and no long stretch of one is in another.
func TestUnique(t *testing.T) {
	heads := map[string]bool{}
	var texts []string
	for _, c := range []Cell{{Concurrency: 1}, {Concurrency: 4}, {Point: "rate=1"}, {Point: "rate=1", Seed: 7}, {Concurrency: 41}} {
		for c.Trial = 1; c.Trial <= 3; c.Trial++ {
			c.Prompt = spec.CapacityPrompt{Tokens: 2000, Cache: "unique"}
			b := mustNew(t, c)
			for i := range 50 {
				text := mustBuild(t, b, i).Text
				if head := text[:uniqueWithin]; heads[head] {
					t.Fatalf("two prompts begin with %q", head)
				} else {
					heads[head] = true
				}
				texts = append(texts, text)
			}
		}
	}
	for _, other := range texts[1:] {
		for at := 0; at+400 <= len(texts[0])-100; at += 200 {
			if strings.Contains(other, texts[0][at:at+400]) {
				t.Fatalf("two prompts share %q", texts[0][at:at+400])
			}
		}
	}
}

// TestShared: what is shared, with whom, and how much of it.
func TestShared(t *testing.T) {
	build := func(cache string, shared, trial, index int) string {
		return mustBuild(t, mustNew(t, Cell{Concurrency: 4, Trial: trial, Prompt: spec.CapacityPrompt{Tokens: 300, SharedTokens: shared, Cache: cache}, Output: spec.CapacityOutput{Words: 5}}), index).Text
	}
	common := func(a, b string) (n int) {
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		return n
	}
	for _, c := range []struct {
		cache       string
		shared      int
		low, high   int // bytes in common within a trial
		tLow, tHigh int // and between trials
	}{
		{"unique", 0, 0, 17, 0, 17},
		{"shared", 0, 650, 800, 650, 800},
		{"shared", 100, 285, 310, 285, 310},
		{"unique", 100, 285, 310, 0, 17},
	} {
		x, y, z := build(c.cache, c.shared, 1, 1), build(c.cache, c.shared, 1, 2), build(c.cache, c.shared, 2, 1)
		if n := common(x, y); n < c.low || n > c.high || x == y {
			t.Errorf("%s %d: two prompts have %d bytes in common", c.cache, c.shared, n)
		}
		if n := common(x, z); n < c.tLow || n > c.tHigh || x == z {
			t.Errorf("%s %d: two trials have %d bytes in common", c.cache, c.shared, n)
		}
		if len(x) > 900 || len(x) < 880 {
			t.Errorf("%s %d: %d characters", c.cache, c.shared, len(x))
		}
	}
}

func TestLengthsByIndex(t *testing.T) {
	c := Cell{Trial: 1, Requests: 3, Lengths: []int{90, 200, 150}, Prompt: spec.CapacityPrompt{Cache: "unique", Tokens: 10}}
	for i, tokens := range []int{90, 200, 150, 90} {
		if p := mustBuild(t, mustNew(t, c), i); p.AskedTokens != tokens || len(p.Text) > 3*tokens || len(p.Text) < 3*tokens-10 {
			t.Errorf("prompt %d: %d tokens in %d characters", i, p.AskedTokens, len(p.Text))
		}
	}
	c.Lengths, c.Prompt.Lengths = nil, &spec.Lengths{Seed: 1, Distribution: AnvilAgentic, Max: 40000}
	if p := mustBuild(t, mustNew(t, c), 1); p.AskedTokens != 40000 || len(p.Text) < 119990 {
		t.Errorf("%d tokens in %d characters", p.AskedTokens, len(p.Text))
	}
}

func TestBurst(t *testing.T) {
	b, err := Burst("c=8", 200, 300, 1, 0, 4, spec.CapacityOutput{})
	if err != nil {
		t.Fatal(err)
	}
	other, _ := Burst("c=16", 200, 300, 1, 0, 4, spec.CapacityOutput{})
	x, y, z := mustBuild(t, b, 0).Text, mustBuild(t, b, 1).Text, mustBuild(t, other, 0).Text
	if x[:780] != y[:780] || x[780:820] == y[780:820] || x[:uniqueWithin] == z[:uniqueWithin] || len(x) > 1200 || b.ID() != BurstV1 {
		t.Errorf("%q\n%q\n%q", x, y, z)
	}
	for _, bad := range [][2]int{{0, 10}, {10, 10}} {
		if _, err := Burst("c=8", bad[0], bad[1], 1, 0, 0, spec.CapacityOutput{}); err == nil {
			t.Errorf("%v: accepted", bad)
		}
	}
}

func TestDigest(t *testing.T) {
	b := mustNew(t, Cell{Trial: 1, Prompt: spec.CapacityPrompt{Tokens: 100, Cache: "unique"}})
	sha, distinct, err := Digest(b, 20)
	if err != nil || distinct != 20 {
		t.Fatal(distinct, err)
	}
	if again, _, _ := Digest(b, 20); again != sha {
		t.Error("the same prompts have two sums")
	}
	if fewer, _, _ := Digest(b, 19); fewer == sha {
		t.Error("fewer prompts have the same sum")
	}
	if _, distinct, _ := Digest(ContextSet{Items: Context(must(Profile("smoke")), "", 0)[:2]}, 4); distinct != 2 {
		t.Errorf("%d distinct prompts of 2, sent twice", distinct)
	}
	if _, _, err := Digest(ContextSet{}, 1); err == nil {
		t.Error("a set without items has prompts")
	}
}

func must[T any](v T, ok bool) T {
	if !ok {
		panic("not there")
	}
	return v
}

func TestCalibrates(t *testing.T) {
	drawn := &spec.Lengths{Distribution: AnvilAgentic}
	for _, c := range []struct {
		p    spec.CapacityPrompt
		want bool
	}{
		{spec.CapacityPrompt{Tokens: 5}, true},
		{spec.CapacityPrompt{}, false},
		{spec.CapacityPrompt{Lengths: drawn}, true},
		{spec.CapacityPrompt{Tokens: 5, Calibrate: "nominal"}, false},
		{spec.CapacityPrompt{Tokens: 5, Builder: AnvilN}, false},
		{spec.CapacityPrompt{Tokens: 5, Template: "{canary}"}, false},
		{spec.CapacityPrompt{Tokens: 5, Template: "{canary}{filler}", Calibrate: "endpoint"}, true},
	} {
		if Calibrates(c.p) != c.want {
			t.Errorf("%+v: %v", c.p, !c.want)
		}
	}
}

func TestPromptProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Cell{Concurrency: rapid.IntRange(0, 256).Draw(t, "concurrency"), Trial: rapid.IntRange(1, 5).Draw(t, "trial"),
			Seed: rapid.Int64().Draw(t, "seed"), Point: rapid.SampledFrom([]string{"", "rate=2"}).Draw(t, "point"),
			CharsPerToken: rapid.Float64Range(1, 6).Draw(t, "ratio"),
			Prompt: spec.CapacityPrompt{Tokens: rapid.IntRange(0, 2000).Draw(t, "tokens"), Canary: true,
				Cache: rapid.SampledFrom([]string{"unique", "shared"}).Draw(t, "cache")},
			Output: spec.CapacityOutput{Words: rapid.IntRange(0, 200).Draw(t, "words")}}
		c.Prompt.SharedTokens = min(rapid.IntRange(0, 500).Draw(t, "shared"), max(0, c.Prompt.Tokens-1))
		i := rapid.IntRange(0, 50000).Draw(t, "index")
		b, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := New(c)
		x, _ := b.Build(i)
		y, _ := again.Build(i)
		next, _ := b.Build(i + 1)
		if d := cmp.Diff(x, y); d != "" {
			t.Fatalf("the same request has two prompts: %s", d)
		}
		if x.Text == next.Text || x.Marker == next.Marker || markers.FindString(x.Marker) != x.Marker {
			t.Fatalf("neighbours are alike: %q", x.Marker)
		}
		budget := int(float64(c.Prompt.Tokens)*c.CharsPerToken + 0.5)
		least := 300 + 9*c.Output.Words + int(float64(c.Prompt.SharedTokens)*c.CharsPerToken)
		if n := len(x.Text); n > max(budget, least) || budget > least && n < budget-12 {
			t.Fatalf("%d characters of %d", n, budget)
		}
		seen := map[string]int{}
		for _, w := range x.Words {
			if seen[w]++; seen[w] > (len(x.Words)+63)/64 {
				t.Fatalf("%s comes %d times in %d words", w, seen[w], len(x.Words))
			}
		}
	})
}

func TestMarkersDiffer(t *testing.T) {
	b, err := newWords(Cell{Concurrency: 16, Trial: 2, Prompt: spec.CapacityPrompt{Canary: true}}, WordsV1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range 30000 {
		m := b.markerOf(i)
		if seen[m] {
			t.Fatalf("%s twice, the second time for %d", m, i)
		}
		seen[m] = true
	}
	if len(isCodeWord) != 64 {
		t.Errorf("%d code words", len(isCodeWord))
	}
}

func TestWordsCanary(t *testing.T) {
	const m = "REQ-0417"
	long := strings.Repeat("é ", 4096)
	for text, want := range map[string]evidence.Canary{
		m + " alpha":               {AtStart: true, Passed: true},
		m:                          {AtStart: true, Passed: true},
		m + "\nalpha":              {AtStart: true, Passed: true},
		m + ": alpha":              {},
		m + "0 alpha":              {Foreign: 1},
		" " + m:                    {},
		"alpha":                    {},
		"":                         {},
		m + " alpha " + m:          {AtStart: true, Passed: true},
		m + " alpha REQ-0418":      {AtStart: true, Foreign: 1},
		m + " REQ-04180 REQ-1234x": {AtStart: true, Foreign: 1},
		m + " " + long:             {AtStart: true}, // 8,201 characters: not all of it was looked at
		m + " " + long[:12200]:     {AtStart: true, Passed: true},
		"REQ-0001 REQ-0002":        {Foreign: 2},
	} {
		want.Marker = m
		if d := cmp.Diff(&want, Canary(text, Prompt{Builder: WordsV1, Marker: m})); d != "" {
			t.Errorf("%.30q: %s", text, d)
		}
	}
}

func TestWordsOutput(t *testing.T) {
	p := Prompt{Builder: WordsV1, Marker: "REQ-0417", Words: []string{"alpha", "bravo", "alpha"}}
	for _, c := range []struct {
		text       string
		got, extra int
		strict     bool
	}{
		{"REQ-0417 alpha bravo alpha", 3, 0, true},
		{"alpha alpha\n bravo ", 3, 0, true},
		{"alpha bravo", 2, 0, false},
		{"alpha bravo alpha alpha", 3, 1, false},
		{"alpha, bravo alpha", 2, 1, false},
		{"", 0, 0, false},
		{"alpha bravo alpha" + strings.Repeat(" ", captureLimit), 3, 0, false},
	} {
		for _, policy := range []string{"strict", "observe"} {
			want := evidence.Output{Policy: policy, Asked: 3, Got: c.got, Extra: c.extra, Passed: c.strict || policy == "observe"}
			if d := cmp.Diff(&want, Output(c.text, p, policy)); d != "" {
				t.Errorf("%.40q %s: %s", c.text, policy, d)
			}
		}
	}
}

func TestCountWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\t\u00a0\u2003é,")), 0, 60, -1).Draw(t, "text")
		if got, want := countWords(text), len(strings.Fields(text)); got != want {
			t.Fatalf("%q has %d words, want %d", text, got, want)
		}
	})
}
