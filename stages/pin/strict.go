package pin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// strict are the fields that make a pin known, by the name under which it
// matters: one of them is enough.
var strict = map[string][]string{
	"model":          {"model.revision", "model.digest"},
	"engine.version": {"engine.version", "engine.image"},
	"engine.name":    {"engine.name", "engine.image"},
}

// Unpinned lists the pins that matter and are neither declared nor observed.
func Unpinned(doc evidence.PinDoc) (out []string) {
	known := map[string]bool{}
	for _, f := range doc.Fields {
		known[f.Name] = f.Declared != "" || f.Observed != ""
	}
	for _, name := range spec.MatteringPins() {
		if !anyOf(known, strict[name], name) {
			out = append(out, name)
		}
	}
	return out
}

func anyOf(known map[string]bool, names []string, otherwise string) bool {
	for _, n := range names {
		if known[n] {
			return true
		}
	}
	return names == nil && known[otherwise]
}

// refuse is the error of a candidate whose pins must be known and are not.
func refuse(where string, doc evidence.PinDoc) error {
	missing := Unpinned(doc)
	if missing == nil {
		return nil
	}
	err := fmt.Errorf("pins are strict, and of %s nobody declares and no page of the endpoint tells %s", where, strings.Join(missing, ", "))
	return step.WithHint(step.Mark(step.ErrOutside, err), "declare them in candidates."+where+", make the engine tell them (docs/pins.md), or remove pins: strict")
}

// tellers lists, by engine, the pins that matter and that its pages can tell, if
// only when it is started to do so. "" is any other engine.
var tellers = map[string][]string{
	"":                 mostTold,
	"vllm":             mostTold,
	"sglang":           mostTold,
	"llamacpp":         {"model", "engine.name", "engine.version", "quantization.weights", "context.served", "admission.maxSeqs"},
	"tgi":              {"model", "engine.name", "engine.version", "context.served"},
	"ollama":           {"model", "engine.name", "engine.version", "quantization.weights", "context.served"},
	"cupel-tinyengine": {"model", "engine.name", "engine.version", "quantization.weights", "context.served"},
}

// mostTold are the pins that some engine tells.
var mostTold = []string{
	"model", "engine.name", "engine.version", "quantization.weights", "quantization.kv", "parallelism", "context.served", "speculative", "cache.prefix", "admission.maxSeqs",
}

// Untellable returns those of the pins that no page of the declared engine
// tells: a run would never know them. Of an engine that is not declared, or not
// known, only those that no engine tells.
func Untellable(engine string, pins []string) (out []string) {
	told := tellers[""]
	for name, list := range tellers {
		if engine != "" && name != "" && engines(engine, name) {
			told = list
		}
	}
	for _, p := range pins {
		if !slices.Contains(told, p) {
			out = append(out, p)
		}
	}
	return out
}
