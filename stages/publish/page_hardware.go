package publish

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// deviceFields are shown beside the pins: which very devices the last pin saw.
// They are no pins, as another device of the same kind is as good.
func deviceFields(c evidence.CandidateRecord) []evidence.PinField {
	if c.Hardware == nil || c.Hardware.Report == nil || c.Pin.Hardware == nil {
		return nil
	}
	out := []evidence.PinField{{Name: "hardware seen by", Observed: c.Hardware.Source, State: "observed-only"}}
	if ids := c.Hardware.Report.UUIDs(); len(ids) > 0 {
		out = append(out, evidence.PinField{Name: "devices seen last", Observed: strings.Join(ids, " "), State: "observed-only"})
	}
	return out
}

// otherHardware says in what the hardware of two candidates differs, "" for
// nothing and for hardware that is not known of both.
func otherHardware(a, b *evidence.PinDoc) string {
	if a == nil || b == nil || a.Hardware == nil || b.Hardware == nil {
		return ""
	}
	of := map[string]string{}
	for _, f := range a.Fields {
		of[f.Name] = f.Observed
	}
	var out []string
	for _, f := range b.Fields {
		if strings.HasPrefix(f.Name, "hardware.") && f.Observed != of[f.Name] {
			out = append(out, fmt.Sprintf("%s %s and %s", f.Name, orUnknown(of[f.Name]), orUnknown(f.Observed)))
		}
	}
	return strings.Join(out, ", ")
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
