package decide

import (
	"fmt"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// strata evaluates a guard on a quality workload.
func (j *judge) strata(candidate string, g spec.Guard, blank evidence.GuardResult) []evidence.GuardResult {
	c := j.comparison(candidate, g.On)
	if c == nil {
		if g.Strata != "all" && g.Strata != "each" {
			blank.Stratum = g.Strata
		}
		blank.Verdict = evidence.Undetermined
		blank.Reason = fmt.Sprintf("there is no comparison of %s with %s on %s", candidate, j.policy.Baseline, g.On)
		if why := j.refused(j.policy.Baseline); why != "" {
			blank.Reason += fmt.Sprintf("; %s was %s", j.policy.Baseline, why)
		}
		return []evidence.GuardResult{blank}
	}
	floor := j.floor(c)
	var out []evidence.GuardResult
	for _, stratum := range expand(g.Strata, known(c)) {
		res := blank
		res.Stratum = stratum
		out = append(out, j.stratum(c, floor, res))
	}
	return out
}

func (j *judge) comparison(candidate, workload string) *evidence.Comparison {
	for i := range j.record.Comparisons {
		if c := &j.record.Comparisons[i]; c.Workload == workload && c.Candidate == candidate && c.Baseline == j.policy.Baseline {
			return c
		}
	}
	return nil
}

// floor finds the baseline's noise floor on the workload of c.
func (j *judge) floor(c *evidence.Comparison) *evidence.NoiseFloor {
	if c.Noise != nil && c.Noise.Candidate == c.Baseline {
		return c.Noise
	}
	for i := range j.record.Noise {
		if f := &j.record.Noise[i]; f.Workload == c.Workload && f.Candidate == c.Baseline {
			return f
		}
	}
	return nil
}

// known lists the strata of either side, also those without a paired item: a
// stratum that one side lost must not drop out of strata: all.
func known(c *evidence.Comparison) map[string]bool {
	out := map[string]bool{}
	for name := range c.Stats.Strata {
		out[name] = true
	}
	for _, side := range []evidence.ScoreSummary{c.BaselineScores, c.CandidateScores} {
		for name := range side.Strata {
			out[name] = true
		}
	}
	return out
}

func (j *judge) stratum(c *evidence.Comparison, floor *evidence.NoiseFloor, res evidence.GuardResult) evidence.GuardResult {
	costs := [2]metric.Cost{j.cost(c.Candidate, c.Workload), j.cost(c.Baseline, c.Workload)}
	f, s, ok := qualityFacts(c, floor, res.Stratum, costs)
	if !ok {
		res.Verdict = evidence.Undetermined
		res.Reason = fmt.Sprintf("no items of stratum %s could be paired", res.Stratum)
		return res
	}
	r := j.rules[res.Guard]
	res.Items = s.N
	j.putPriors(r, &f, &res, c.Candidate)
	blocks, notes := doubts(r, c, floor, s, res.Stratum)
	blocks = append(blocks, j.otherTokensThan(r, c.Candidate)...)
	res.Warnings = append(res.Warnings, notes...)
	f.span = r.span(s)
	open := r.apply(&res, f, blocks)
	if !open || len(blocks) > 0 || s.N == 0 || len(r.intervals()) != 1 {
		return res
	}
	res.NeedItems = itemsToDecide(r, f, s)
	switch {
	case res.NeedItems > 0:
		res.Reason += fmt.Sprintf("; about %s items would decide it, there are %s", metric.Thousands(res.NeedItems), metric.Thousands(s.N))
	case f.span != "": // an interval that does not exist yet has said what it needs
		res.Reason += "; more items of the same kind would not decide it"
	}
	return res
}

// cost is what a candidate's answers took. A record from before there were
// costs has none.
func (j *judge) cost(candidate, workload string) metric.Cost {
	if c, ok := j.record.Candidates[candidate].Costs[workload]; ok {
		return c
	}
	return metric.NewCost(metric.CostInput{Busy: metric.Null(metric.NoRequests, "s")})
}

// span writes the one interval that the rule names: " [-0.03, 0.01] (tango)".
func (r rule) span(s stats.Summary) string {
	names := r.intervals()
	if len(names) != 1 {
		return ""
	}
	iv := s.Interval()
	if names[0] != "" {
		iv, _ = named(names[0], s.Intervals)
	}
	if !iv.Defined {
		return ""
	}
	return fmt.Sprintf(" [%s, %s] (%s)", guard.FormatNumber(iv.Lo), guard.FormatNumber(iv.Hi), iv.Method)
}

// itemsToDecide is the number of items at which the one interval that the rule
// names would decide it, in the proportions seen; 0 when none would.
func itemsToDecide(r rule, f facts, s stats.Summary) int {
	set := func(q *Quality, l Limits) { q.Lo, q.Hi = l.Lo, l.Hi }
	if name := r.intervals()[0]; name != "" {
		var iv stats.Interval
		iv, set = named(name, s.Intervals)
		s.Choice, s.Method, s.Reason = name, iv.Method, iv.Reason
		s.Lo, s.Hi = iv.Bounds()
	}
	need, ok := s.ItemsToDecide(r.decidedWith(f, set))
	if !ok || need <= s.N {
		return 0
	}
	return need
}

// named returns an interval by the name that rules use, and how to replace it.
func named(name string, all stats.Intervals) (stats.Interval, func(*Quality, Limits)) {
	switch name {
	case "boot":
		return all.Bootstrap, func(q *Quality, l Limits) { q.Boot = l }
	case "tango":
		return all.Tango, func(q *Quality, l Limits) { q.Tango = l }
	case "t":
		return all.T, func(q *Quality, l Limits) { q.T = l }
	}
	return all.BCa, func(q *Quality, l Limits) { q.BCa = l }
}
