package pin

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// What an endpoint does and no page of it says.

// countedBy are the ways to count, as pages.
var countedBy = map[string]string{"tokenize": "POST /tokenize", "usage": "usage of two requests"}

// probeField is the number of tokens that the endpoint makes of a fixed text,
// and how it was counted.
func probeField(want int, p llm.TokenProbe) evidence.PinField {
	declared, observed := "", ""
	if want != 0 {
		declared = fmt.Sprintf("%d tokens", want)
	}
	by := ""
	if p.Unknown == "" && p.Tokens != 0 {
		observed, by = fmt.Sprintf("%d tokens (%s)", p.Tokens, p.By), countedBy[p.By]
	}
	f := field("tokenizer.probe", declared, observed, func(string, string) bool { return want == p.Tokens })
	f.Note, f.By = p.Unknown, by
	return f
}

// Ollama penalises repeated tokens unless the model says otherwise, also at
// temperature 0, and its OpenAI-compatible API has no field for it. No page of
// it tells the numbers: they are those of api.DefaultOptions in 0.17.4, which
// its llama.cpp runner applies and the runner of its newer engine does not.
const (
	repeatPenalty = "1.1"
	repeatLastN   = "64"
	unsetPenalty  = "the model sets none, so this is Ollama's default by its source (api.DefaultOptions of 0.17.4), which its llama.cpp path applies also at temperature 0"
)

// parameters are what Ollama applies on its own: what the model sets, and the
// penalty in force where it sets none.
func parameters(id llm.Identity) []evidence.PinField {
	if id.EngineName != "ollama" {
		return nil
	}
	set := cmp.Or(joined(id.Parameters), "none")
	last, ok := id.Parameters["repeat_last_n"]
	if !ok {
		last = repeatLastN
	}
	penalty, note := id.Parameters["repeat_penalty"], ""
	if penalty == "" {
		penalty, note = repeatPenalty, unsetPenalty
	}
	if x, err := strconv.ParseFloat(penalty, 64); err == nil && x == 1 {
		penalty += " (off)"
	} else {
		penalty += fmt.Sprintf(" over the last %s tokens", last)
	}
	in := field("parameters.repeat_penalty", "", penalty, exact)
	in.Note = note
	return []evidence.PinField{field("parameters", "", set, exact), in}
}
