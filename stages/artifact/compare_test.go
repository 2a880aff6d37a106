package artifact

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// pair reads one artifact twice, as two runs: what they are read from differs.
func pair(t *testing.T) (a, b *Record) {
	t.Helper()
	for i, r := range []**Record{&a, &b} {
		doc, err := Read(load(t, "artifacts/8690e3-cap-a-declared.json"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		*r = doc.Records[0]
		(*r).Source.SHA256[0] = byte(i)
	}
	return a, b
}

// What the other tool never looked at, each by itself.
func TestCompareLooksAt(t *testing.T) {
	n, s, f := is[float64], is[string], is[bool]
	for name, c := range map[string]struct {
		a, b  func(*Record)
		field string // "" = comparable
		told  string // in a caution
		prov  string
	}{
		"prompt tokens":         {a: func(r *Record) { r.Results.PromptTokens = n(1000) }, b: func(r *Record) { r.Results.PromptTokens = n(964) }, field: "results.prompt_tokens_mean"},
		"prompt tokens, close":  {a: func(r *Record) { r.Results.PromptTokens = n(1000) }, b: func(r *Record) { r.Results.PromptTokens = n(985) }},
		"output tokens":         {a: func(r *Record) { r.Results.OutputTokens = n(100) }, b: func(r *Record) { r.Results.OutputTokens = n(89) }, field: "results.output_tokens_mean"},
		"output tokens, told":   {a: func(r *Record) { r.Results.OutputTokens = n(100) }, b: func(r *Record) { r.Results.OutputTokens = n(95) }, told: "times of whole answers"},
		"failures":              {a: func(r *Record) { r.Results.Failed = n(0) }, b: func(r *Record) { r.Results.Failed = n(1) }, field: "results.failed"},
		"failures on each side": {a: func(r *Record) { r.Results.Failed = n(2) }, b: func(r *Record) { r.Results.Failed = n(2) }, told: "survivors"},
		"seed":                  {a: func(r *Record) { r.Generation.Seed = n(0) }, b: func(r *Record) { r.Generation.Seed = n(1) }, field: "generation.seed"},
		"prompt seed":           {a: func(r *Record) { r.Workload.ContextSeed = n(0) }, b: func(r *Record) { r.Workload.ContextSeed = n(1) }, field: "workload.context_seed"},
		"driver":                {a: func(r *Record) { r.Hardware.Driver = s("550.1") }, b: func(r *Record) { r.Hardware.Driver = s("570.2") }, field: "hardware.driver"},
		"driver of one":         {a: func(r *Record) { r.Hardware.Driver = s("550.1") }, b: func(*Record) {}, told: "hardware.driver is not known of b"},
		"power limit":           {a: func(r *Record) { r.Hardware.PowerLimitW = n(600) }, b: func(r *Record) { r.Hardware.PowerLimitW = n(450) }, field: "hardware.power_limit_w"},
		"cache hits":            {a: func(r *Record) { r.Results.CachedShare = n(0.5) }, b: func(r *Record) { r.Results.CachedShare = n(0.9) }, field: "results.cached_share"},
		"client health":         {a: func(r *Record) { r.Results.ClientBound = f(false) }, b: func(r *Record) { r.Results.ClientBound = f(true) }, field: "results.client_bound"},
		"client of both":        {a: func(r *Record) { r.Results.ClientBound = f(true) }, b: func(r *Record) { r.Results.ClientBound = f(true) }, told: "the client was the bottleneck"},
		"co-resident":           {a: func(r *Record) { r.Hardware.Protected = is([]string{}) }, b: func(r *Record) { r.Hardware.Protected = is([]string{"gpu 1"}) }, field: "hardware.protected"},
		"quantisation":          {a: func(r *Record) { r.Memory.Weights = s("fp8") }, b: func(r *Record) { r.Memory.Weights = s("nvfp4") }, prov: "memory.quantization"},
		"KV type":               {a: func(r *Record) { r.Memory.KV = s("fp8") }, b: func(r *Record) { r.Memory.KV = s("bf16") }, prov: "memory.kv_dtype"},
		"revision":              {a: func(r *Record) { r.Identity.Revision = s("a") }, b: func(r *Record) { r.Identity.Revision = s("b") }, prov: "identity.revision"},
		"image":                 {a: func(r *Record) { r.Engine.Image = s("a") }, b: func(r *Record) { r.Engine.Image = s("b") }, prov: "engine.image_digest"},
		"model not known":       {a: func(r *Record) { r.Identity.Model = unknown[string]("x") }, b: func(*Record) {}, field: "identity.model"},
	} {
		a, b := pair(t)
		c.a(a)
		c.b(b)
		got := Compare([]Unit{{"a", a}, {"b", b}})
		if got.Comparable != (c.field == "") {
			t.Errorf("%s: comparable %v: %+v", name, got.Comparable, got)
		}
		if c.field != "" && got.Differences[c.field] == nil && got.Unknown[c.field] == nil {
			t.Errorf("%s: %s is not named: %+v", name, c.field, got)
		}
		if c.told != "" && !slices.ContainsFunc(got.Cautions, func(s string) bool { return strings.Contains(s, c.told) }) {
			t.Errorf("%s: %q is not told: %q", name, c.told, got.Cautions)
		}
		if c.prov != "" && got.Provenance[c.prov] == nil {
			t.Errorf("%s: %s is not told: %+v", name, c.prov, got.Provenance)
		}
	}
}

// The prompts of a newer artifact are rebuilt from what its generator was
// given: one with unique prompts has others than one with shared ones, and the
// same as cupel's own builder makes.
func TestRebuiltPrompts(t *testing.T) {
	id := func(mode string, words int) string {
		content, err := json.Marshal(map[string]any{
			"schema": "anvil-serving.benchmark/v1", "measurement_protocol": "capacity-v3", "metrics": map[string]any{}, "requests": 3, "completed": 3, "concurrency": 1,
			"context_tokens": 512, "context_distribution": map[string]int{"512": 3}, "context_seed": 7, "prompt_cache_mode": mode, "shared_prefix_tokens": 100,
			"request_canaries": true, "response_words": words, "max_tokens": 64, "performance_eligible": true,
		})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := Read(content, Options{Prompts: true})
		if err != nil || doc.Records[0].Workload.PromptSet.Value == nil {
			t.Fatalf("%v, %+v", err, doc.Records[0].Workload.PromptSet)
		}
		return *doc.Records[0].Workload.PromptSet.Value
	}
	b, err := prompts.New(prompts.Cell{Prompt: spec.CapacityPrompt{Builder: prompts.AnvilN, Cache: "unique", Canary: true, Tokens: 512}, Output: spec.CapacityOutput{Words: 8}, Requests: 3, Seed: 7, Trial: 1, Concurrency: 1, MaxTokens: 64})
	if err != nil {
		t.Fatal(err)
	}
	sha, _, err := prompts.Digest(b, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got := id("unique", 8); got != "sha256:"+sha.String() {
		t.Errorf("%s, cupel's own builder makes %s", got, sha)
	}
	if id("unique", 8) == id("shared", 8) || id("shared", 8) == id("shared", 9) {
		t.Error("other prompts have the same identity")
	}
}

// What is not eligible as a performance is no evidence of one.
func TestNotEligible(t *testing.T) {
	doc, err := Read([]byte(`{"schema":"anvil-serving.benchmark/v1","metrics":{},"performance_eligible":false}`), Options{})
	if err != nil || len(doc.Records[0].Invalid) != 1 {
		t.Errorf("%v, %+v", err, doc)
	}
}
