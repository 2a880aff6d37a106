package prompts

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

func mustNew(t testing.TB, c Cell) Builder {
	t.Helper()
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustBuild(t testing.TB, b Builder, index int) Prompt {
	t.Helper()
	p, err := b.Build(index)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func anvilCell(id string) Cell {
	return Cell{Prompt: spec.CapacityPrompt{Builder: id, Tokens: 2048, Cache: "shared"}, Concurrency: 1, Requests: 10000}
}

// TestAnvilS: the sums were taken from the tool itself.
func TestAnvilS(t *testing.T) {
	for _, want := range []struct {
		shared, tokens, index, context, chars int
		sha                                   string
	}{
		{0, 2048, 0, 0, 6144, "4b3430c41a55a0297afd5b598416a49f03c33867ccbb90abaa7e1f10a9a327df"},
		{500, 4096, 3, 0, 12288, "22c9823d2a80d3e2ca6e77679aa45e298a0c598ddf80c42ed9076a0cbbbedf94"},
		{8000, 32768, 7, 131072, 98304, "80fac2a40ad72a2bad56d4794662607d545869bcbd54402e9a6ea6de8ab97e82"},
		{0, 32, 1, 0, 96, "aabcc84e73cf9c99e7bcc920666703fed528271d99c06378aa71a9c9113ac622"},
	} {
		c := anvilCell(AnvilS)
		c.Requests, c.Prompt.Tokens, c.Prompt.SharedTokens, c.ContextLimit, c.MaxTokens = 8, want.tokens, want.shared, want.context, 64
		p := mustBuild(t, mustNew(t, c), want.index)
		if len(p.Text) != want.chars || step.Sum([]byte(p.Text)).String() != want.sha || p.AskedTokens != want.tokens || p.Marker != "" {
			t.Errorf("%d tokens: %d characters, %s", want.tokens, len(p.Text), step.Sum([]byte(p.Text)))
		}
	}
}

// TestAnvilN: the sums are of the rules written anew in Python.
func TestAnvilN(t *testing.T) {
	for _, want := range readJSON[[]struct {
		Shared, Tokens, Index, Context, Words, Chars int
		MaxTokens                                    int `json:"max_tokens"`
		Seed                                         int64
		Canary, Unique                               bool
		SHA256                                       string
	}](t, "anvil_n.json") {
		cache := map[bool]string{true: "unique", false: "shared"}[want.Unique]
		p := mustBuild(t, mustNew(t, Cell{
			Prompt:   spec.CapacityPrompt{Builder: AnvilN, Tokens: want.Tokens, SharedTokens: want.Shared, Cache: cache, Canary: want.Canary},
			Output:   spec.CapacityOutput{Words: want.Words},
			Requests: 100, Concurrency: 1, Seed: want.Seed, ContextLimit: want.Context, MaxTokens: want.MaxTokens,
		}), want.Index)
		if len(p.Text) != want.Chars || step.Sum([]byte(p.Text)).String() != want.SHA256 || len(p.Words) != want.Words {
			t.Errorf("%+v: %d characters: %.200q", want, len(p.Text), p.Text)
		}
	}
}

func TestAnvilPlan(t *testing.T) {
	c := anvilCell(AnvilN)
	c.Requests, c.Prompt.Tokens, c.Prompt.Lengths = 12, 0, &spec.Lengths{Seed: -3, Distribution: AnvilAgentic}
	c.Prompt.Canary, c.ContextLimit, c.MaxTokens = true, 65536, 64
	plan, _ := Lengths(*c.Prompt.Lengths, 12)
	for i, tokens := range plan {
		p := mustBuild(t, mustNew(t, c), i)
		if tokens = min(tokens, 65536-64-1024); p.AskedTokens != tokens || len(p.Text) != 3*tokens || !strings.HasPrefix(p.Marker, "ANVIL_REQ_-3_0000") && i < 10 {
			t.Errorf("prompt %d: %d tokens, %d characters, %s", i, p.AskedTokens, len(p.Text), p.Marker)
		}
	}
}

func TestAnvilBounds(t *testing.T) {
	for name, spoil := range map[string]func(*Cell){
		"requests":    func(c *Cell) { c.Requests = 10001 },
		"none":        func(c *Cell) { c.Requests = 0 },
		"concurrency": func(c *Cell) { c.Concurrency = 257 },
		"shared":      func(c *Cell) { c.Prompt.SharedTokens = 262145 },
		"short":       func(c *Cell) { c.Prompt.Tokens = 31 },
		"long":        func(c *Cell) { c.Prompt.Tokens = 1048577 },
		"no length":   func(c *Cell) { c.Prompt.Tokens = 0 },
		"output":      func(c *Cell) { c.MaxTokens = 65537 },
		"words":       func(c *Cell) { c.Output.Words = 65537 },
		"context":     func(c *Cell) { c.ContextLimit = 1048577 },
		"no room":     func(c *Cell) { c.ContextLimit, c.MaxTokens = 2048, 1024 },
		"total":       func(c *Cell) { c.Requests, c.Prompt.Tokens = 10000, 6711 },
		"drawn total": func(c *Cell) {
			c.Prompt.Tokens, c.Prompt.Lengths, c.Requests = 0, &spec.Lengths{Distribution: AnvilAgentic}, 257
		},
		"strict":       func(c *Cell) { c.Output.Policy = "strict" },
		"canary":       func(c *Cell) { c.Prompt.Canary, c.MaxTokens = true, 15 },
		"template":     func(c *Cell) { c.Prompt.Template = "{filler}" },
		"calibrate":    func(c *Cell) { c.Prompt.Calibrate = "endpoint" },
		"ratio":        func(c *Cell) { c.CharsPerToken = 4 },
		"s canary":     func(c *Cell) { c.Prompt.Builder, c.Prompt.Canary = AnvilS, true },
		"s words":      func(c *Cell) { c.Prompt.Builder, c.Output.Words = AnvilS, 4 },
		"s unique":     func(c *Cell) { c.Prompt.Builder, c.Prompt.Cache, c.Prompt.SharedTokens = AnvilS, "unique", 8 },
		"distribution": func(c *Cell) { c.Prompt.Lengths = &spec.Lengths{Distribution: "x"} },
	} {
		c := anvilCell(AnvilN)
		c.Requests, c.MaxTokens = 100, 256
		mustNew(t, c)
		if spoil(&c); true {
			if _, err := New(c); err == nil || len(err.Error()) < 20 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	c := anvilCell(AnvilN)
	c.Requests, c.Prompt.Tokens, c.Output.Words = 5, 32, 9
	if _, err := mustNew(t, c).Build(0); err == nil {
		t.Error("a prompt without room for its request is built")
	}
}

func TestAnvilCanary(t *testing.T) {
	const m = "ANVIL_REQ_42_00007"
	p := Prompt{Builder: AnvilN, Marker: m}
	long := strings.Repeat("é ", 4096)
	for text, want := range map[string]evidence.Canary{
		m:                               {AtStart: true, Passed: true},
		m + " code":                     {AtStart: true, Passed: true},
		m + "\tcode":                    {AtStart: true, Passed: true},
		m + "\u2003code":                {AtStart: true, Passed: true},
		m + "\x1fcode":                  {AtStart: true, Passed: true},
		m + ": code":                    {},
		m + "0":                         {},
		"":                              {},
		" " + m:                         {},
		"code":                          {},
		m + " " + m:                     {AtStart: true, Passed: true},
		m + " ANVIL_REQ_42_00008":       {AtStart: true, Foreign: 1},
		m + " ANVIL_REQ_-42_00007":      {AtStart: true, Foreign: 1},
		m + " ANVIL_REQ_42_000080":      {AtStart: true, Passed: true},
		m + " ANVIL_REQ_42_00008é":      {AtStart: true, Passed: true},
		m + " ANVIL_REQ_42_00008.":      {AtStart: true, Foreign: 1},
		"ANVIL_REQ_1_00001 x " + m:      {Foreign: 1},
		m + " " + long:                  {AtStart: true},
		m + " " + long[:3*(8192-19)/2]:  {AtStart: true, Passed: true},
		m + strings.Repeat("\n", 8174):  {AtStart: true, Passed: true},
		m + strings.Repeat("\n", 8175):  {AtStart: true},
		strings.Repeat("x", 8192) + m:   {},
		m + strings.Repeat(" a", 5000):  {AtStart: true},
		m + strings.Repeat("\u00e9", 9): {},
	} {
		want.Marker = m
		if d := cmp.Diff(&want, Canary(text, p)); d != "" {
			t.Errorf("%.40q (%d): %s", text, len(text), d)
		}
	}
	if Canary(m, Prompt{Builder: AnvilN}) != nil {
		t.Error("a prompt without a marker has a canary")
	}
}

func TestAnvilOutput(t *testing.T) {
	const m = "ANVIL_REQ_0_00000"
	four := strings.TrimSpace(strings.Repeat("code ", 4))
	for _, c := range []struct {
		marker, text string
		got, extra   int
		strict       bool
	}{
		{m, m + " " + four, 4, 0, true},
		{m, m + "\n\n code\x1ccode\u00a0code code \n", 4, 0, true},
		{"", four, 4, 0, true},
		{m, four, 4, 0, true},             // no marker: the canary fails, the words do not
		{m, m + ": " + four, 4, 1, false}, // the marker is no word of its own, and so one too many
		{m, m + " code code code", 3, 0, false},
		{m, m + " " + four + " code", 5, 0, false},
		{m, m + " " + four + " done.", 4, 1, false},
		{m, m + " Code code, code code code", 3, 2, false},
		{m, m, 0, 0, false},
		{m, "", 0, 0, false},
		{m, m + " " + four + strings.Repeat(" ", captureLimit), 4, 0, false}, // not seen to its end
	} {
		p := Prompt{Builder: AnvilN, Marker: c.marker, Words: []string{"code", "code", "code", "code"}}
		for _, policy := range []string{"strict", "observe"} {
			want := evidence.Output{Policy: policy, Asked: 4, Got: c.got, Extra: c.extra, Passed: c.strict || policy == "observe"}
			if d := cmp.Diff(&want, Output(c.text, p, policy)); d != "" {
				t.Errorf("%.40q %s: %s", c.text, policy, d)
			}
		}
	}
	if Output("code", Prompt{Builder: AnvilN}, "strict") != nil {
		t.Error("a prompt that asks for no words has an output contract")
	}
}

func TestAnvilWordsAreShared(t *testing.T) {
	c := anvilCell(AnvilN)
	c.Requests, c.Prompt.Tokens, c.Output.Words = 2, 4096, 600
	b := mustNew(t, c)
	x, y := mustBuild(t, b, 0), mustBuild(t, b, 1)
	if &x.Words[0] != &y.Words[0] || len(x.Words) != 600 || !strings.Contains(x.Text, "exactly "+strconv.Itoa(600)+" ") {
		t.Error("every prompt has its own list of the one word")
	}
}
