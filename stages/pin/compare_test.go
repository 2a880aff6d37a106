package pin

import (
	"os"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

func one(t *testing.T, fields []evidence.PinField, name string) evidence.PinField {
	t.Helper()
	for _, f := range fields {
		if f.Name == name {
			return f
		}
	}
	return evidence.PinField{Name: name, State: "not listed"}
}

// TestTold: what the pages of vLLM, SGLang, TGI and llama.cpp tell, beside what
// is declared.
func TestTold(t *testing.T) {
	const local, label = "the engine loaded a local path, which cannot be held against a repository; declare model.sha256 or check the folder",
		"the engine tells the label of its build, which no digest can be held against"
	type (
		cand = spec.Candidate
		id   = llm.Identity
	)
	repo := func(r string) cand { return cand{Model: spec.Model{Repo: r}} }
	quant := func(w, kv string) cand { return cand{Quantization: &spec.Quantization{Weights: w, KV: kv}} }
	split := func(t, p, d int) cand {
		return cand{Parallelism: &spec.Parallelism{Tensor: t, Pipeline: p, Data: d}}
	}
	guess := func(m string, n int, draft string) cand {
		s := &spec.Speculative{Method: m, Tokens: n}
		if draft != "" {
			s.Draft = &spec.Revision{Repo: draft}
		}
		return cand{Speculative: s}
	}
	for name, c := range map[string]struct {
		c           cand
		id          id
		pin         string
		state, note string
	}{
		"repo":                     {repo("org/Name"), id{Repo: "Org/name"}, "model.repo", equal, ""},
		"another repo":             {repo("org/name"), id{Repo: "org/name-fp8"}, "model.repo", differs, ""},
		"a local path":             {repo("org/name"), id{File: "name"}, "model.repo", unknown, local},
		"a path and nothing said":  {cand{}, id{File: "name"}, "model.repo", unknown, ""},
		"the file is listed":       {cand{}, id{File: "name.gguf"}, "model.file", observedOnly, ""},
		"no file":                  {cand{}, id{}, "model.file", "not listed", ""},
		"an adapter's model":       {cand{}, id{Parent: "base"}, "model.parent", observedOnly, ""},
		"revision":                 {cand{Model: spec.Model{Revision: hexA}}, id{Revision: hexA}, "model.revision", equal, ""},
		"another revision":         {cand{Model: spec.Model{Revision: hexA}}, id{Revision: hexB}, "model.revision", differs, ""},
		"tokenizer's repo":         {cand{Tokenizer: &spec.Tokenizer{Repo: "org/t"}}, id{TokenizerRepo: "org/u"}, "tokenizer.repo", differs, ""},
		"tokenizer's revision":     {cand{Tokenizer: &spec.Tokenizer{Revision: hexA}}, id{TokenizerRevision: hexA}, "tokenizer.revision", equal, ""},
		"a short name":             {cand{Engine: spec.Engine{Name: "text-generation-inference"}}, id{EngineName: "tgi"}, "engine.name", equal, ""},
		"another engine":           {cand{Engine: spec.Engine{Name: "vllm"}}, id{EngineName: "sglang"}, "engine.name", differs, ""},
		"image":                    {cand{Engine: spec.Engine{Image: "a@sha256:" + hexA}}, id{EngineImage: "sha-9ad1a1d"}, "engine.image", unknown, label},
		"image, nothing said":      {cand{}, id{EngineImage: "sha-9ad1a1d"}, "engine.image", observedOnly, ""},
		"weights":                  {quant("bf16", ""), id{Quantization: "bfloat16"}, "quantization.weights", equal, ""},
		"F16 of Ollama":            {quant("fp16", ""), id{Quantization: "F16"}, "quantization.weights", equal, ""},
		"a kernel of it":           {quant("awq", ""), id{Quantization: "awq_marlin"}, "quantization.weights", equal, ""},
		"a container":              {quant("w8a8", ""), id{Quantization: "compressed-tensors"}, "quantization.weights", unknown, "compressed-tensors does not tell the number format of the weights"},
		"the container itself":     {quant("compressed-tensors", ""), id{Quantization: "compressed-tensors"}, "quantization.weights", equal, ""},
		"other weights":            {quant("bf16", ""), id{Quantization: "fp8"}, "quantization.weights", differs, ""},
		"KV auto":                  {quant("", "auto"), id{KVCache: "auto"}, "quantization.kv", equal, ""},
		"KV fp8":                   {quant("", "fp8"), id{KVCache: "fp8_e4m3"}, "quantization.kv", equal, ""},
		"another fp8":              {quant("", "fp8"), id{KVCache: "fp8_e5m2"}, "quantization.kv", differs, ""},
		"left to the engine":       {quant("", "auto"), id{KVCache: "fp8_e5m2"}, "quantization.kv", equal, "auto leaves the type to the engine"},
		"auto of a known type":     {quant("", "bf16"), id{KVCache: "auto", Dtype: "bfloat16"}, "quantization.kv", equal, "auto, and the model's type is bfloat16"},
		"auto of another type":     {quant("", "fp8"), id{KVCache: "auto", Dtype: "bfloat16"}, "quantization.kv", unknown, "the engine says auto, and not which type that came to"},
		"GPUs":                     {split(2, 1, 1), id{Tensor: 2, Pipeline: 1, Data: 1}, "parallelism", equal, ""},
		"GPUs, half of it told":    {split(2, 1, 1), id{Tensor: 2, Data: 1}, "parallelism", equal, "not told: pipeline"},
		"other GPUs":               {split(2, 1, 1), id{Tensor: 4}, "parallelism", differs, ""},
		"GPUs not declared":        {cand{}, id{Tensor: 4}, "parallelism", observedOnly, ""},
		"no speculation":           {guess("none", 0, ""), id{Speculative: "none"}, "speculative", equal, ""},
		"speculation":              {guess("none", 0, ""), id{Speculative: "ngram"}, "speculative", differs, ""},
		"speculation, alike":       {guess("eagle3", 3, "org/d"), id{Speculative: "EAGLE3", SpeculativeTokens: 3, SpeculativeDraft: "org/d"}, "speculative", equal, ""},
		"speculation, more tokens": {guess("eagle3", 3, ""), id{Speculative: "eagle3", SpeculativeTokens: 4}, "speculative", differs, ""},
		"speculation, other draft": {guess("eagle3", 3, "org/d"), id{Speculative: "eagle3", SpeculativeDraft: "org/e"}, "speculative", differs, ""},
		"speculation, local draft": {guess("eagle3", 3, "org/d"), id{Speculative: "eagle3", SpeculativeDraft: "d"}, "speculative", unknown, "the engine tells only the name of the draft model"},
		"cache":                    {cand{Cache: &spec.Cache{Prefix: "on"}}, id{PrefixCache: "off"}, "cache.prefix", differs, ""},
		"cache not declared":       {cand{Cache: &spec.Cache{Prefix: "unknown"}}, id{PrefixCache: "off"}, "cache.prefix", observedOnly, ""},
		"sequences":                {cand{Admission: &spec.Admission{MaxSeqs: 64}}, id{MaxSeqs: 256}, "admission.maxSeqs", differs, ""},
		"settings":                 {cand{}, id{Settings: map[string]string{"b": "2", "a": "1"}}, "settings", observedOnly, ""},
		"sampler":                  {cand{}, id{EngineName: "llama.cpp", Parameters: map[string]string{"top_k": "40"}}, "parameters", observedOnly, ""},
		"sampler of another":       {cand{}, id{EngineName: "tgi"}, "parameters", "not listed", ""},
		"sampler nobody tells":     {cand{}, id{EngineName: "vllm"}, "parameters", unknown, modelDefaults["vllm"]},
	} {
		f := one(t, compare(c.c, c.id, llm.TokenProbe{}), c.pin)
		if f.State != c.state || f.Note != c.note {
			t.Errorf("%s: %+v, want %s %q", name, f, c.state, c.note)
		}
	}
}

// TestBy: each field names the page that told it, and none where none did.
func TestBy(t *testing.T) {
	id := llm.Identity{EngineName: "vllm", Tensor: 2, Settings: map[string]string{"a": "1"}, By: map[string]string{"engine_name": "GET /v1/models", "tensor": "GET /server_info", "kv_cache": "GET /metrics", "settings": "GET /metrics"}}
	fields := compare(spec.Candidate{}, id, llm.TokenProbe{Template: hexA, TemplateBy: "POST /apply-template", Context: 4096})
	for name, want := range map[string]string{
		"engine.name": "GET /v1/models", "parallelism": "GET /server_info", "quantization.kv": "", "settings": "GET /metrics", "template.probe": "POST /apply-template",
		"context.served": "GET /api/ps", "parameters": "",
	} {
		if f := one(t, fields, name); f.By != want {
			t.Errorf("%s: by %q, want %q", name, f.By, want)
		}
	}
}

// TestStrict: a pin that stays unknown stops a strict candidate, with a list; a
// judge is not held to it.
func TestStrict(t *testing.T) {
	doc := evidence.PinDoc{Fields: compare(candidate(), identity(), llm.TokenProbe{})}
	if got := Unpinned(doc); len(got) != 1 || got[0] != "quantization.kv" {
		t.Errorf("%v", got)
	}
	doc = evidence.PinDoc{Fields: compare(spec.Candidate{Engine: spec.Engine{Image: "a@sha256:" + hexA}}, llm.Identity{Revision: hexA}, llm.TokenProbe{})}
	if got := Unpinned(doc); len(got) != 8 || got[0] != "quantization.weights" {
		t.Errorf("%v", got)
	}
	c := &spec.Campaign{Pins: "strict", Candidates: map[string]spec.Candidate{"a": candidate()}, Judges: map[string]spec.Judge{"j": {}}}
	if !strictly(c, "a") || strictly(c, "j") || strictly(&spec.Campaign{Candidates: c.Candidates}, "a") {
		t.Error("strict for the wrong ones")
	}
	for engine, want := range map[string]int{"vllm": 1, "SGLang": 1, "llama.cpp": 5, "text-generation-inference": 7, "ollama": 6, "something": 1, "": 1} {
		if got := Untellable(engine, spec.MatteringPins()); len(got) != want {
			t.Errorf("%s: %v", engine, got)
		}
	}
}

// TestTellersAreMattering: the table names pins that exist.
func TestTellersAreMattering(t *testing.T) {
	matters := map[string]bool{}
	for _, p := range spec.MatteringPins() {
		matters[p] = true
	}
	for engine, pins := range tellers {
		for _, p := range pins {
			if !matters[p] {
				t.Errorf("%s: %s", engine, p)
			}
		}
	}
}

// TestPagesAreDocumented: docs/pins.md has a row for each pin.
func TestPagesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/pins.md")
	if err != nil {
		t.Fatal(err)
	}
	all := compare(candidate(), llm.Identity{EngineName: "ollama", File: "x", Parent: "x", TokenizerRepo: "a/b", Settings: map[string]string{"a": "1"}}, llm.TokenProbe{Template: hexA})
	for _, f := range all {
		if !strings.Contains(string(page), "`"+f.Name+"`") {
			t.Errorf("%s has no row", f.Name)
		}
	}
}
