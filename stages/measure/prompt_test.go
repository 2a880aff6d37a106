package measure

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
)

func builder(t testing.TB, p cellParams, trial int) *prompter {
	t.Helper()
	b, err := newPrompter(p, trial)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDefaultPrompt(t *testing.T) {
	p := cellParams{Concurrency: 4, Prompt: spec.CapacityPrompt{Tokens: 500, Cache: "unique", Canary: true}, Output: spec.CapacityOutput{Words: 70}}
	got := builder(t, p, 1).build(3)
	if n := len(got.text); n > 1500 || n < 1480 {
		t.Errorf("%d characters, want about 3 a token", n)
	}
	if !strings.Contains(got.text, "request 3. Begin your answer with "+got.marker) || !strings.HasSuffix(got.text, "Write these 70 words in this order, separated by single spaces, add nothing, and do not stop before the last one: "+strings.Join(got.words, " ")) {
		t.Errorf("%s", got.text)
	}
	if strings.ContainsAny(got.text, "{}") || got.length != len(strings.Fields(got.text)) || len(got.words) != 70 {
		t.Errorf("%d words: %s", got.length, got.text)
	}
	short := builder(t, cellParams{Prompt: spec.CapacityPrompt{Cache: "unique"}}, 1).build(0)
	if !strings.HasSuffix(short.text, "Say in one line what stands above.") || strings.Contains(short.text, short.marker) {
		t.Errorf("%s", short.text)
	}
}

// TestTemplate: a template that makes prompts part early is sent as it stands,
// which a model with a fixed prompt form needs.
func TestTemplate(t *testing.T) {
	p := cellParams{Concurrency: 2, Prompt: spec.CapacityPrompt{Cache: "unique", Canary: true, Template: "Begin with {canary} then repeat these {words} words:\n{word-list}"}, Output: spec.CapacityOutput{Words: 8}}
	got := builder(t, p, 1).build(0)
	if want := "Begin with " + got.marker + " then repeat these 8 words:\n" + strings.Join(got.words, " "); got.text != want {
		t.Errorf("%q, want %q", got.text, want)
	}
	for template, early := range map[string]bool{
		"{canary} x": true, "{filler}{canary}": false, "no place": false, "{index} {filler} {canary}": true,
		strings.Repeat("x", 64) + "{index}": true, strings.Repeat("x", 65) + "{index}": false,
	} {
		if partsEarly(template) != early {
			t.Errorf("%q: %v", template, !early)
		}
	}
	for name, bad := range map[string]cellParams{
		"canary": {Prompt: spec.CapacityPrompt{Canary: true, Template: "{word-list}"}},
		"words":  {Prompt: spec.CapacityPrompt{Template: "{canary}"}, Output: spec.CapacityOutput{Words: 3}},
	} {
		if _, err := newPrompter(bad, 1); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestCacheModes: unique prompts part within their first 64 bytes, over cells
// and trials too; shared ones have their filler in common.
func TestCacheModes(t *testing.T) {
	heads := map[string]string{}
	for _, c := range []int{1, 4, 16} {
		for trial := 1; trial <= 3; trial++ {
			b := builder(t, cellParams{Concurrency: c, Prompt: spec.CapacityPrompt{Tokens: 300, Cache: "unique"}}, trial)
			for i := range 50 {
				text := b.build(i).text
				if other, seen := heads[text[:uniqueWithin]]; seen {
					t.Fatalf("two prompts begin alike: %q %q", text, other)
				}
				heads[text[:uniqueWithin]] = text
			}
		}
	}
	b := builder(t, cellParams{Concurrency: 4, Prompt: spec.CapacityPrompt{Tokens: 300, Cache: "shared"}, Output: spec.CapacityOutput{Words: 5}}, 1)
	x, y := b.build(1).text, b.build(2).text
	if n := len(x) / 2; x[:n] != y[:n] || x == y {
		t.Errorf("shared prompts:\n%s\n%s", x, y)
	}
}

func TestPromptProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := cellParams{Concurrency: rapid.IntRange(1, 256).Draw(t, "concurrency"),
			Prompt: spec.CapacityPrompt{Tokens: rapid.IntRange(0, 2000).Draw(t, "tokens"), Cache: rapid.SampledFrom([]string{"unique", "shared"}).Draw(t, "cache")},
			Output: spec.CapacityOutput{Words: rapid.IntRange(0, 200).Draw(t, "words")}}
		trial, i := rapid.IntRange(1, 5).Draw(t, "trial"), rapid.IntRange(0, 50000).Draw(t, "index")
		b, err := newPrompter(p, trial)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := newPrompter(p, trial)
		a, c := b.build(i), again.build(i)
		if a.text != c.text || a.marker != c.marker || len(a.words) != p.Output.Words {
			t.Fatal("the same request has two prompts")
		}
		if markers.FindString(a.marker) != a.marker || b.marker(i+1) == a.marker || b.marker(i+10000) == a.marker {
			t.Fatalf("marker %q", a.marker)
		}
		seen := map[string]int{}
		for _, w := range a.words {
			if seen[w]++; seen[w] > (len(a.words)+63)/64 {
				t.Fatalf("%s comes %d times in %d words", w, seen[w], len(a.words))
			}
		}
	})
}

func TestMarkersDiffer(t *testing.T) {
	b, seen := &prompter{concurrency: 16, trial: 2}, map[string]bool{}
	for i := range 30000 {
		m := b.marker(i)
		if seen[m] {
			t.Fatalf("%s twice, the second time for %d", m, i)
		}
		seen[m] = true
	}
	if len(codeWords) != 64 {
		t.Errorf("%d code words", len(codeWords))
	}
}

func TestCanary(t *testing.T) {
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
		if d := cmp.Diff(&want, checkCanary(text, m)); d != "" {
			t.Errorf("%.30q: %s", text, d)
		}
	}
}

func TestOutput(t *testing.T) {
	asked := []string{"alpha", "bravo", "alpha"}
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
			if d := cmp.Diff(&want, checkOutput(c.text, "REQ-0417", asked, policy)); d != "" {
				t.Errorf("%.40q %s: %s", c.text, policy, d)
			}
		}
	}
}
