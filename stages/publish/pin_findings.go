package publish

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// PinFinding is what the pins of a candidate show that its declaration does not.
type PinFinding struct{ Candidate, Text string }

// oneTokenizer are the kinds of decision that leave the model's text handling
// alone: another tokenizer is a fault there, and not a property of the model.
var oneTokenizer = map[string]bool{"engine-upgrade": true, "quantisation": true, "config": true}

// PinFindings lists, by candidate, where a text has other tokens than on the
// baseline, where it runs on other hardware, and what an engine applies that nobody asked for.
func PinFindings(rec *evidence.Record) []PinFinding {
	var out []PinFinding
	base := rec.Candidates[rec.Baseline].Pin
	for _, name := range slices.Sorted(maps.Keys(rec.Candidates)) {
		pin := rec.Candidates[name].Pin
		if pin == nil {
			continue
		}
		if n := evidence.OtherTokens(base, pin); n != "" {
			text := fmt.Sprintf("%s and %s tokenise the same text differently: %s", rec.Baseline, name, n)
			if oneTokenizer[rec.Kind] {
				text += fmt.Sprintf(", where a decision of kind %s expects one tokenizer", rec.Kind)
			}
			out = append(out, PinFinding{name, text})
		}
		if h := otherHardware(base, pin); h != "" {
			out = append(out, PinFinding{name, fmt.Sprintf("%s and %s run on different hardware: %s", rec.Baseline, name, h)})
		}
		for _, f := range pin.Fields {
			if f.Observed != "" && f.Note != "" && f.State != "equal" {
				out = append(out, PinFinding{name, fmt.Sprintf("%s of %s is %s: %s", f.Name, name, f.Observed, f.Note)})
			}
		}
	}
	return out
}
