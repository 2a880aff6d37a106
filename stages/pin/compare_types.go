package pin

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// numbers are the names of one number format.
var numbers = map[string]string{
	"bf16": "bf16", "bfloat16": "bf16", "torchbfloat16": "bf16",
	"fp16": "fp16", "f16": "fp16", "half": "fp16", "float16": "fp16", "torchfloat16": "fp16",
	"fp32": "fp32", "f32": "fp32", "float": "fp32", "float32": "fp32", "torchfloat32": "fp32",
	"fp8": "fp8", "fp8e4m3": "fp8", // vLLM: fp8 is short for fp8_e4m3
}

func numberFormat(s string) string {
	l := letters(s)
	if n, ok := numbers[l]; ok {
		return n
	}
	return l
}

func numbersAlike(a, b string) bool { return numberFormat(a) == numberFormat(b) }

// containers are ways to store quantised weights that leave open which numbers
// are in them.
var containers = map[string]bool{
	"compressedtensors": true, "modelopt": true, "modeloptfp4": true, "quark": true, "torchao": true, "bitsandbytes": true, "autoround": true, "gguf": true, "inc": true,
}

// weights compares quantisations. vLLM names the kernel too: awq_marlin is awq.
func weights(want, got string) (state, note string) {
	kernel := func(s string) string { return strings.TrimSuffix(numberFormat(s), "marlin") }
	switch {
	case kernel(want) == kernel(got):
		return equal, ""
	case containers[letters(got)]:
		return unknown, got + " does not tell the number format of the weights"
	}
	return differs, ""
}

// cacheTypes compares types of the KV cache. auto means that the engine decides,
// by the model's own type and what the checkpoint says.
func (o observation) cacheTypes(want, got string) (state, note string) {
	switch {
	case numbersAlike(want, got):
		return equal, ""
	case letters(want) == "auto":
		return equal, "auto leaves the type to the engine"
	case letters(got) == "auto" && o.id.Dtype != "" && numbersAlike(want, o.id.Dtype):
		return equal, "auto, and the model's type is " + o.id.Dtype
	case letters(got) == "auto":
		return unknown, "the engine says auto, and not which type that came to"
	}
	return differs, ""
}

// gpus writes the dimensions that are told as declared ones are written.
func gpus(id llm.Identity) string {
	var parts []string
	for _, d := range dimensionsOf(spec.Parallelism{Tensor: id.Tensor, Pipeline: id.Pipeline, Data: id.Data}) {
		if d.n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", d.name, d.n))
		}
	}
	return strings.Join(parts, " ")
}

type dimension struct {
	name string
	n    int
}

func dimensionsOf(p spec.Parallelism) []dimension {
	return []dimension{{"tensor", p.Tensor}, {"pipeline", p.Pipeline}, {"data", p.Data}}
}

// dimensions compares those that are told.
func (o observation) dimensions(c spec.Candidate) likeness {
	return func(string, string) (string, string) {
		var untold []string
		got := dimensionsOf(spec.Parallelism{Tensor: o.id.Tensor, Pipeline: o.id.Pipeline, Data: o.id.Data})
		for i, want := range dimensionsOf(*c.Parallelism) {
			if got[i].n == 0 {
				untold = append(untold, want.name)
			} else if got[i].n != want.n {
				return differs, ""
			}
		}
		if untold != nil {
			return equal, "not told: " + strings.Join(untold, ", ")
		}
		return equal, ""
	}
}

// context prefers what a model sets to what the engine had loaded it with.
func (o observation) context(c spec.Candidate) evidence.PinField {
	want := tokens(contextLimit(c).Served)
	if n := o.probe.Context; o.id.ContextLength == 0 && n != 0 {
		f := field("context.served", want, tokens(n), exact)
		f.By = "GET /api/ps"
		return f
	}
	f := o.field("context.served", want, tokens(o.id.ContextLength), "context_length", same(exact))
	if f.Observed == "" && o.id.EngineName == "ollama" {
		f.Note = "the model sets no num_ctx, and Ollama's default shows only of a loaded model; set PARAMETER num_ctx in the Modelfile"
	}
	return f
}

// proposed writes what is told of speculation as a declared one is written.
func proposed(id llm.Identity) string {
	if id.Speculative == "" {
		return ""
	}
	parts := []string{id.Speculative}
	if id.SpeculativeTokens != 0 {
		parts = append(parts, fmt.Sprintf("tokens=%d", id.SpeculativeTokens))
	}
	if id.SpeculativeDraft != "" {
		parts = append(parts, "draft="+id.SpeculativeDraft)
	}
	return strings.Join(parts, " ")
}

// proposals compares the method, and of the rest what both sides know. A draft
// model from a local path is known by its name alone.
func (o observation) proposals(c spec.Candidate) likeness {
	return func(string, string) (string, string) {
		s := c.Speculative
		switch {
		case !loose(s.Method, o.id.Speculative):
			return differs, ""
		case s.Tokens != 0 && o.id.SpeculativeTokens != 0 && s.Tokens != o.id.SpeculativeTokens:
			return differs, ""
		case s.Draft == nil || s.Draft.Repo == "" || o.id.SpeculativeDraft == "":
			return equal, ""
		}
		state, note := repositories(s.Draft.Repo, o.id.SpeculativeDraft)
		return state, strings.Replace(note, "a name without an organisation, which may be a folder", "only the name of the draft model", 1)
	}
}
