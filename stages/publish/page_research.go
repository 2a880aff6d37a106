package publish

import (
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// researchView is what was read before measuring.
type researchView struct {
	ObservedOn, Shortlist string
	Sources               []sourceRow
	Claims                []claimRow
}

type sourceRow struct {
	ID, Kind, URL, Publisher, Published, Age, Role, Reason, Snapshot string
}

// claimRow is a claim beside one measured value, or beside none.
type claimRow struct {
	Candidate, Metric, Source, Role, Claimed, Where, Measured, Delta, Note string
}

// priorRow is a guard that reads a prior.
type priorRow struct {
	Guard, On, Where, Outcome, Explain, Reason string
	Warnings                                   []string
}

func (m pageMaker) research() *researchView {
	r := m.rec.Research
	if r == nil {
		return nil
	}
	v := &researchView{ObservedOn: r.ObservedOn, Shortlist: strings.Join(r.Shortlist, ", ")}
	for _, s := range r.Sources {
		v.Sources = append(v.Sources, sourceRow{
			ID: s.ID, Kind: s.Kind, URL: s.URL, Publisher: s.Publisher, Published: s.PublishedOn, Age: ageOf(s),
			Role: s.Role, Reason: s.Reason, Snapshot: shortDigest(s.Snapshot),
		})
		for _, c := range s.Claims {
			v.Claims = append(v.Claims, claimRows(s.ID, c)...)
		}
	}
	return v
}

func ageOf(s evidence.ResearchSource) string {
	if s.AgeDays == nil {
		return s.Age
	}
	return s.Age + ", " + plural(*s.AgeDays, "day", "days")
}

func shortDigest(d *step.Digest) string {
	if d == nil {
		return "none"
	}
	return d.Short()
}

// claimRows is one row for each value that was measured of the claim.
func claimRows(source string, c evidence.Prior) []claimRow {
	row := claimRow{Candidate: c.Candidate, Metric: c.Metric, Source: source, Role: c.Role, Claimed: withUnit(&c.Value, c.Unit), Measured: none, Delta: none}
	if len(c.Measured) == 0 {
		row.Note = because(c.Unmeasured)
		return []claimRow{row}
	}
	var out []claimRow
	for _, m := range c.Measured {
		r := row
		r.Where = strings.TrimSpace(m.Workload + " " + m.Cell)
		if m.Workload == "" {
			r.Where = "pin"
		}
		r.Measured = withUnit(m.Value, m.Unit)
		if m.DeltaPct != nil {
			r.Delta = signed(*m.DeltaPct, 1) + " %"
		}
		r.Note = claimNote(c, m)
		out = append(out, r)
	}
	return out
}

func claimNote(c evidence.Prior, m evidence.ClaimMeasured) string {
	var notes []string
	if m.Metric != c.Metric {
		notes = append(notes, "held against "+m.Metric)
	}
	if m.Declared {
		notes = append(notes, "declared, not observed")
	}
	if m.Doubt != "" {
		notes = append(notes, "in doubt: "+m.Doubt)
	}
	if m.Reason != "" {
		notes = append(notes, because(m.Reason))
	}
	return strings.Join(notes, "; ")
}

func withUnit(x *float64, unit string) string {
	if x == nil {
		return none
	}
	return strings.TrimSpace(quantity(*x) + " " + unit)
}

// Outcome says in words what became of a guard that reads a prior. It is no
// verdict.
func Outcome(g evidence.GuardResult) string {
	switch g.Verdict {
	case evidence.Pass:
		return "holds"
	case evidence.Fail:
		return "does not hold"
	}
	return string(g.Verdict)
}

func priorRows(guards []evidence.GuardResult) (out []priorRow) {
	for _, g := range guards {
		r := guardRowOf(g)
		out = append(out, priorRow{Guard: r.Guard, On: r.On, Where: r.Where, Outcome: Outcome(g), Explain: r.Explain, Reason: r.Reason, Warnings: r.Warnings})
	}
	return out
}

// researchCaveats say which sources are no authority for what they claim, and
// what claims were not borne out.
func (m pageMaker) researchCaveats() (out []caveat) {
	if m.rec.Research == nil {
		return nil
	}
	for _, s := range m.rec.Research.Sources {
		if s.Role != evidence.Primary || s.Age != evidence.Current {
			out = append(out, caveat{"source " + s.ID, s.Role + ", " + ageOf(s) + ": " + s.Reason})
		}
		for _, c := range s.Claims {
			for _, why := range c.Uncertain {
				out = append(out, caveat{place("source "+s.ID, c.Candidate, c.Metric), "not borne out by " + why})
			}
		}
	}
	return out
}
