package artifact

import (
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// hashOf is the SHA-256 of a value's canonical JSON, so that it identifies what
// is not to be shown.
func hashOf(n node) Text {
	if !n.has() {
		return unknown[string](notRecorded)
	}
	b, err := jsonv2.Marshal(n.v, jsonv2.Deterministic(true))
	if err != nil {
		return unknown[string]("malformed")
	}
	v := jsontext.Value(b)
	if err := v.Canonicalize(); err != nil {
		return unknown[string]("malformed")
	}
	return is(step.Sum(v).String())
}

// texts are the texts of a list, on one line each.
func texts(n node) []string {
	out := []string{}
	for _, e := range n.list() {
		if t := e.text(); t.has() && len(out) < 1000 {
			out = append(out, *t.Value)
		}
	}
	return out
}
