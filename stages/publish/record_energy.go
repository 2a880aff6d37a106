package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// unknownEnergy says of which candidates no energy is known, base by base. A value
// that one cell or window lacks has its reason beside it.
func (b *builder) unknownEnergy() {
	if !slices.ContainsFunc(b.p.Sources, func(s source) bool { return s.Output == evidence.OutTrace }) {
		b.unknown("energy", "no meter ran beside the campaign")
		return
	}
	for name, c := range b.rec.Candidates {
		for wl, l := range c.Load {
			if l.Kind != energyKind {
				continue
			}
			field := "candidates." + name + ".energy." + wl
			if len(l.Energy) == 0 {
				b.unknown(field, "no energy was derived")
				continue
			}
			for _, of := range l.Energy[0].Bases {
				if why := whyNoEnergy(l.Energy, of.Base); why != "" {
					b.unknown(field+"."+of.Base, why)
				}
			}
		}
	}
}

// whyNoEnergy says why a base has no energy in any window of any cell, "" when it
// has some.
func whyNoEnergy(cells []energy.Cell, base string) string {
	var codes []string
	for i := range cells {
		for _, of := range cells[i].Bases {
			if of.Base != base {
				continue
			}
			for _, w := range energy.Windows {
				m, ok := of.Windows[w]
				if m.J.Value != nil {
					return ""
				}
				if ok && m.J.Reason != "" && !slices.Contains(codes, m.J.Reason) {
					codes = append(codes, m.J.Reason)
				}
			}
		}
	}
	for i, c := range codes {
		codes[i] = because(c)
	}
	if len(codes) == 0 {
		return "absent"
	}
	return strings.Join(codes, "; ")
}

// meterFiles are the recordings that a campaign names for a candidate, and the pairs
// behind its calibration of a wall meter: energy is derived from the first again, as
// inputs of the metrics step by the same names.
func meterFiles(w spec.Workload, cand, wl string) (out []source) {
	if w.Energy == nil {
		return nil
	}
	add := func(name string, f *spec.File) {
		at := evidence.MetricsStep(cand, wl)
		out = append(out, source{Input: at + ":" + name, What: "raw", Candidate: cand, Workload: wl, Step: at, Output: name, file: f})
	}
	for i, t := range w.Energy.Traces[cand] {
		if t.File != nil {
			add(fmt.Sprintf("recording-%d", i+1), t.File)
		}
	}
	if c := w.Energy.Calibration; c != nil && c.Data != nil {
		add("wall-calibration", c.Data)
	}
	return out
}
