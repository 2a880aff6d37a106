package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// summary is one sentence about a candidate.
func summary(d evidence.CandidateDecision) string {
	if len(d.Guards) == 0 {
		return "no guard applies to it, and nothing passes without one"
	}
	if d.Verdict == evidence.Pass {
		return fmt.Sprintf("all guards hold (%d evaluations)", len(d.Guards))
	}
	var parts []string
	for _, g := range d.Guards {
		if g.Verdict == d.Verdict {
			parts = append(parts, fmt.Sprintf("%s: %s", placeOf(g), g.Reason))
		}
	}
	more := ""
	if len(parts) > 3 {
		more = fmt.Sprintf("; and %d more", len(parts)-3)
		parts = parts[:3]
	}
	return strings.Join(parts, "; ") + more
}

func placeOf(g evidence.GuardResult) string { return place(g.Guard, g.Stratum, g.Cell) }

// next says what to do about one candidate, in sentences.
func next(p Policy, r *evidence.Record, d evidence.CandidateDecision) []string {
	switch {
	case d.Verdict == evidence.Pass:
		return []string{promote(p, d)}
	case d.Verdict == evidence.Fail && len(d.Guards) == 0 && neverUp(r, d.Candidate):
		return []string{fmt.Sprintf("%s is rejected: %s; read why: `cupel show %s:%s`", d.Candidate, d.Why, evidence.PinStep(d.Candidate), evidence.OutStart)}
	case d.Verdict == evidence.Fail && len(d.Guards) == 0:
		return []string{fmt.Sprintf("%s is rejected: %s; read the check: `cupel show %s`", d.Candidate, d.Why, evidence.PreflightStep(d.Candidate))}
	case d.Verdict == evidence.Fail:
		return []string{rejected(p, d)}
	case len(d.Guards) == 0:
		return []string{fmt.Sprintf("%s: %s; add a guard that covers it", d.Candidate, d.Why)}
	}
	var out []string
	for _, g := range d.Guards {
		if s := unsettled(d.Candidate, g); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// neverUp reports whether a candidate's server did not come up.
func neverUp(r *evidence.Record, candidate string) bool {
	start := r.Candidates[candidate].Start
	return start != nil && start.Failure != ""
}

func promote(p Policy, d evidence.CandidateDecision) string {
	required := 0
	if p.Decide.Approvals != nil {
		required = p.Decide.Approvals.Required
	}
	switch required {
	case 0:
		return fmt.Sprintf("%s can be promoted: every guard holds and no approval is required", d.Candidate)
	}
	return fmt.Sprintf("%s passes every guard and needs %d approval(s): `cupel approve FILE --candidate %s --key KEY`", d.Candidate, required, d.Candidate)
}

func rejected(p Policy, d evidence.CandidateDecision) string {
	var guards []string
	where := map[string][]string{}
	quality := false
	for _, g := range d.Guards {
		if g.Verdict != evidence.Fail {
			continue
		}
		if where[g.Guard] == nil {
			guards = append(guards, g.Guard)
		}
		where[g.Guard] = append(where[g.Guard], cmp.Or(g.Stratum, g.Cell, "overall"))
		quality = quality || p.Workloads[g.On].Kind == "quality"
	}
	for i, g := range guards {
		guards[i] = fmt.Sprintf("%s (%s)", g, strings.Join(where[g], ", "))
	}
	s := fmt.Sprintf("%s is rejected by %s", d.Candidate, strings.Join(guards, " and "))
	if !quality {
		return s
	}
	show := fmt.Sprintf("cupel show --failures %d --candidate %s", cmp.Or(p.Decide.ReviewFailures, 20), d.Candidate)
	if d.Worst != "" {
		show += " --stratum " + quoted(d.Worst)
	}
	return s + "; read failing items: `" + show + "`"
}

// unsettled says what would settle one guard that neither holds nor fails.
func unsettled(candidate string, g evidence.GuardResult) string {
	switch {
	case g.Verdict == evidence.Error:
		return fmt.Sprintf("%s, %s: the rule could not be evaluated (%s); correct it and run `cupel check`", candidate, placeOf(g), g.Reason)
	case g.Verdict != evidence.Undetermined:
		return ""
	case g.NeedItems > g.Items:
		where := "workload " + g.On
		if g.Stratum != "" {
			where = "stratum " + g.Stratum + " of workload " + g.On
		}
		return fmt.Sprintf("%s, %s: add about %s items to %s (it has %s of about %s)", candidate, placeOf(g),
			metric.Thousands(g.NeedItems-g.Items), where, metric.Thousands(g.Items), metric.Thousands(g.NeedItems))
	}
	return fmt.Sprintf("%s, %s: %s%s", candidate, placeOf(g), g.Reason, remedy(g.Reason))
}

// remedies say what can be done about a cell on which no rule decides.
var remedies = []struct{ code, todo string }{
	{"client-bound", "measure again with this machine quiet, or from a faster one: `cupel run --refresh 'measure/*'`; `cupel overhead` says what the client adds"},
	{"warm-cache", "restart the server or empty its cache, and measure again"},
	{"off-rate", "lower the rate, or send from a faster machine"},
}

// meterRemedies say what can be done about an energy that has no value.
var meterRemedies = []struct{ code, todo string }{
	{"no-meter", "run it where cupel-meter reads the machine that serves it, or add its recordings under traces"},
	{"publication-too-coarse", "give the workload a longer window"},
	{"foreign-process", "stop what else computes on the GPU, and measure again"},
	{"thermal", "let the machine cool, or cool it better, and measure again"},
	{"idle-cv", "see that nothing else runs on the machine, and measure again"},
}

func remedy(reason string) string {
	for _, r := range remedies {
		if strings.HasPrefix(reason, r.code) {
			return "; " + r.todo
		}
	}
	for _, r := range meterRemedies {
		if at := strings.Index(reason, " is absent: "+r.code); at >= 0 && (strings.Contains(reason[:at], ".energy.") || strings.Contains(reason[:at], ".asiai.")) {
			return "; " + r.todo
		}
	}
	return ""
}

func quoted(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/"

// worstStratum is the stratum that a person should look at first: the one with
// the worst verdict, then with the lowest limit or estimate.
func (j *judge) worstStratum(d evidence.CandidateDecision) string {
	type entry struct {
		name   string
		rank   int
		lowest float64
	}
	var all []entry
	seen := map[string]bool{}
	for _, g := range d.Guards {
		c := j.comparison(d.Candidate, g.On)
		if c == nil {
			continue
		}
		if g.Stratum != "" {
			all = append(all, entry{g.Stratum, -order[g.Verdict], lowest(c, g.Stratum)})
		} else if !seen[g.On] {
			seen[g.On] = true
			for name := range c.Stats.Strata {
				all = append(all, entry{name, 0, lowest(c, name)})
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.lowest, b.lowest), cmp.Compare(a.name, b.name))
	}).name
}

// lowest is the lower limit of a stratum, or its difference; a stratum without
// either sorts before all others.
func lowest(c *evidence.Comparison, stratum string) float64 {
	s := c.Stats.Strata[stratum]
	switch {
	case s.Lo != nil:
		return *s.Lo
	case s.Delta != nil:
		return *s.Delta
	}
	return -2
}
