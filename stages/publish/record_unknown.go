package publish

import (
	"cmp"

	"github.com/cupel-dev/cupel/stages/evidence"
)

func (b *builder) unknownPins() {
	for name, c := range b.rec.Candidates {
		if c.Pin == nil {
			why := "the candidate was not observed"
			if c.Stopped != "" {
				why = name + " was stopped: " + c.Stopped
			}
			b.unknown("candidates."+name+".pin", why)
			continue
		}
		for _, f := range c.Pin.Fields {
			if f.State == "unknown" {
				b.unknown("candidates."+name+"."+f.Name, cmp.Or(f.Note, "neither declared nor observed"))
			}
		}
	}
}

// unknownResults names what was to be measured and is not there.
func (b *builder) unknownResults() {
	for _, s := range b.gone {
		switch s.What {
		case "start":
			b.unknown("candidates."+s.Candidate+".start", "cupel has never started it")
		case "preflight":
			b.unknown("candidates."+s.Candidate+".preflight", "the candidate was not checked")
		case "summary":
			b.unknown("candidates."+s.Candidate+".scores."+s.Workload, b.whyGone(s.Candidate))
		case "metrics":
			b.unknown("candidates."+s.Candidate+".load."+s.Workload, b.whyGone(s.Candidate))
		case "comparison":
			b.unknown("comparisons."+s.Candidate+"."+s.Workload, b.whyGone(s.Candidate, b.p.Baseline))
		case "noise":
			b.unknown("noise."+s.Workload, b.whyGone(s.Candidate))
		}
	}
}

// whyGone finds the candidate that was not measured.
func (b *builder) whyGone(candidates ...string) string {
	for _, name := range candidates {
		switch c := b.rec.Candidates[name]; {
		case c.Stopped != "":
			return name + " was stopped: " + c.Stopped
		case c.Preflight == nil:
			return name + " was not checked, so it was not measured"
		}
	}
	return "its step has no output"
}

func (b *builder) unknown(field, why string) {
	b.rec.Unknown = append(b.rec.Unknown, evidence.Unknown{Field: field, Reason: why})
}
