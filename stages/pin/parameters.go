package pin

import (
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// What an engine applies on its own to what a request leaves out, and what else
// tells one of its configurations from another.

// modelDefaults are the engines that apply the model's generation_config.json to
// what a request leaves out: top_k, min_p and, also at temperature 0, a
// repetition penalty.
var modelDefaults = map[string]string{
	"vllm":   "no page told: vLLM applies the model's generation_config.json (top_k, min_p, repetition_penalty) to what requests leave out, unless it was started with --generation-config vllm; VLLM_SERVER_DEV_MODE=1 shows it",
	"sglang": "no page told: SGLang applies the model's generation_config.json (top_k, min_p, repetition_penalty) to what requests leave out, unless it was started with --sampling-defaults openai",
}

// rest lists parameters and settings.
func (o observation) rest() []evidence.PinField {
	fields := parameters(o.id)
	if fields == nil && (len(o.id.Parameters) > 0 || modelDefaults[o.id.EngineName] != "") {
		f := o.field("parameters", "", joined(o.id.Parameters), "parameters", same(exact))
		if f.Observed == "" {
			f.Note = modelDefaults[o.id.EngineName]
		}
		fields = append(fields, f)
	}
	for i := range fields {
		if fields[i].Observed != "" && fields[i].Note == "" { // a note tells of another source
			fields[i].By = o.id.By["parameters"]
		}
	}
	if len(o.id.Settings) > 0 {
		fields = append(fields, o.field("settings", "", joined(o.id.Settings), "settings", same(exact)))
	}
	return fields
}

// joined writes name=value in the order of the names, LF in values as commas.
func joined(values map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+"="+strings.ReplaceAll(values[name], "\n", ","))
	}
	return strings.Join(parts, " ")
}
