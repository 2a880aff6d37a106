package publish

import (
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// card is what became of one candidate.
type card struct {
	Name   string
	Mark   mark
	Label  string // challenger | no-promotion | rejected
	Labels string // evidence labels: functional, capacity, quality
	Why    string
	Worst  string // stratum to look at first
	Guards []guardRow
	Priors []priorRow
	Counts string // "3 pass, 1 fail"
	Checks []checkRow
}

// guardRow is one guard over one stratum or cell.
type guardRow struct {
	Guard, On, Where string
	Mark             mark
	Rule             string // "" when Explain repeats it
	Explain          string
	Reason           string
	Items            string
	Warnings         []string
}

// checkRow is a preflight check that was not passed.
type checkRow struct{ Name, Reason string }

func (m pageMaker) cards() []card {
	var out []card
	for _, c := range m.dec.Candidates {
		v := card{
			Name: c.Candidate, Mark: markOf(c.Verdict), Label: c.Label, Why: c.Why, Worst: c.Worst,
			Labels: strings.Join(m.rec.Labels[c.Candidate], ", "),
		}
		for _, g := range c.Guards {
			v.Guards = append(v.Guards, guardRowOf(g))
		}
		v.Priors = priorRows(c.Priors)
		v.Counts = counts(c.Guards)
		v.Checks = failedChecks(m.rec.Candidates[c.Candidate].Preflight)
		out = append(out, v)
	}
	return out
}

func guardRowOf(g evidence.GuardResult) guardRow {
	r := guardRow{
		Guard: g.Guard, On: g.On, Where: "overall", Mark: markOf(g.Verdict),
		Rule: g.Rule, Explain: g.Explain, Reason: g.Reason, Items: none, Warnings: g.Warnings,
	}
	switch {
	case g.Stratum != "":
		r.Where = g.Stratum
	case g.Cell != "":
		r.Where = g.Cell
	}
	if r.Explain == "" {
		r.Explain = g.Rule
	}
	if strings.HasPrefix(r.Explain, g.Rule) {
		r.Rule = ""
	}
	if g.Items > 0 {
		r.Items = thousands(g.Items)
	}
	if g.NeedItems > g.Items {
		r.Items += " of about " + thousands(g.NeedItems)
	}
	return r
}

func failedChecks(p *evidence.PreflightDoc) []checkRow {
	if p == nil || p.Passed {
		return nil
	}
	var out []checkRow
	for _, c := range p.Checks {
		if !c.Passed {
			out = append(out, checkRow{c.Name, c.Reason})
		}
	}
	return out
}

func counts(guards []evidence.GuardResult) string {
	n := map[evidence.Verdict]int{}
	for _, g := range guards {
		n[g.Verdict]++
	}
	var parts []string
	for _, v := range []evidence.Verdict{evidence.Fail, evidence.Error, evidence.Undetermined, evidence.Pass} {
		if n[v] > 0 {
			parts = append(parts, thousands(n[v])+" "+markOf(v).Word)
		}
	}
	if len(parts) == 0 {
		return "no guard was evaluated"
	}
	return strings.Join(parts, ", ")
}
