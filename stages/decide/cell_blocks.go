package decide

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
)

// side is one of the two whose cells a rule may name.
type side struct {
	path, name string // candidate or baseline; its name in the campaign
	cell       *metric.Cell
}

// blocks say what keeps the numbers of a cell from deciding anything.
func (r rule) blocks(s side) (out []string) {
	c := s.cell
	for _, m := range c.Marks() {
		if r.concerns(m, s) {
			out = append(out, fmt.Sprintf("%s: %s (%s)", m.Code, m.Sentence, s.name))
		}
	}
	if c.Failed > 0 && r.measures(s.path) {
		out = append(out, fmt.Sprintf("%s: %d of %d requests of %s failed, so the numbers describe the survivors", survivorsOf, c.Failed, c.Attempted, s.name))
	}
	for _, id := range slices.Sorted(maps.Keys(dists(c))) {
		if d := dists(c)[id]; perRequest(id) && r.names(s.path+"."+id) && d.N > 0 && float64(d.N) < mostOf*float64(c.Completed) {
			out = append(out, fmt.Sprintf("%s: %s.%s is known of %d of %d requests of %s only", partial, s.path, id, d.N, c.Completed, s.name))
		}
	}
	return out
}

// mostOf is the share of the completed requests that a percentile must rest on:
// the rest were left out for what they are, such as too short.
const mostOf = 0.95

// perRequest reports whether a distribution has one value per request, and not
// one per gap or per request that was sent.
func perRequest(id string) bool {
	return id != "itl_ms" && id != "event_gap_ms" && id != "schedule_lag_ms"
}

// concerns reports whether a mark of a side's cell touches what the rule names
// of it. A candidate's lower bound is looked at by [rule.turnedByMore].
func (r rule) concerns(m metric.Mark, s side) bool {
	switch m {
	case metric.GapsUncertain:
		return r.names(s.path+".itl_ms") || r.names(s.path+".event_gap_ms")
	case metric.ClientBound:
		return r.hurried(s.path)
	case metric.LowerBound:
		return s.path == "baseline" && (r.names("baseline.max_rate") || r.names("baseline.max_concurrency"))
	}
	return true
}

// unhurried are the numbers of a cell that a slow client leaves as they are. What
// a search found was judged probe by probe, by the bounds of its SLO: a probe in
// which the client was the bottleneck did not hold. Tokens the engine counts.
var unhurried = map[string]bool{
	"max_rate": true, "max_concurrency": true,
	"prompt_tokens": true, "output_tokens": true, "reasoning_tokens": true, "prompt_accuracy": true,
	"thermal_share": true, "power_cap_share": true, "start_c": true,
}

// hurried reports whether the rule names a number of that side which depends on
// how fast the client was.
func (r rule) hurried(path string) bool {
	for _, p := range r.Paths() {
		of, name, _ := strings.Cut(p, ".")
		name, _, _ = strings.Cut(name, ".")
		if of == path && !unhurried[name] {
			return true
		}
	}
	return false
}

// beyond is more than any engine serves.
const beyond = 1e12

// turnedByMore reports whether the rule would come out otherwise if the
// candidate's capacity, known from below only, were far larger: "at least" fails
// for a search that ended too early, and "at most" holds for one.
func (r rule) turnedByMore(name string, candidate, baseline *metric.Cell) bool {
	if candidate == nil || !candidate.LowerBound || !r.names("candidate.max_rate") && !r.names("candidate.max_concurrency") {
		return false
	}
	more := *candidate
	for _, v := range []*metric.Value{&more.MaxRate, &more.MaxConcurrency} {
		if v.Value != nil {
			*v = metric.Of(beyond, v.Unit)
		}
	}
	now, later := capacityFacts(name, candidate, baseline), capacityFacts(name, &more, baseline)
	a, _ := r.Classify(now.vars, now.why)
	b, _ := r.Classify(later.vars, later.why)
	return a != b
}

// counts are the fields of a cell that speak of its requests, failed ones
// included.
var counts = map[string]bool{
	"concurrency": true, "trials": true, "attempted": true, "completed": true, "failed": true, "unsent": true, "wall_s": true,
	"started_unix_s": true, "client_overhead": true, "client_lag_p99_ms": true, "client_bound": true, "warm_cache": true,
	"off_rate": true, "usage_off": true, "off_length": true, "wrong_state": true, "gaps_uncertain": true, "lower_bound": true,
	"offered_rate": true, "achieved_rate": true, "in_flight_mean": true, "little_ratio": true,
	"thermal_share": true, "power_cap_share": true, "start_c": true,
}

// shortfalls are lowered by failed requests, which is right for a candidate and
// would lower the bar for it if they were the baseline's.
var shortfalls = map[string]bool{
	"goodput": true, "slo_attained": true, "pass_rate": true, "effective_context_tokens": true, "max_rate": true, "max_concurrency": true,
}

// measures reports whether the rule names a number of that side that failed
// requests distort.
func (r rule) measures(path string) bool {
	for _, p := range r.Paths() {
		of, name, _ := strings.Cut(p, ".")
		name, _, _ = strings.Cut(name, ".")
		if of == path && !counts[name] && !(path == "candidate" && shortfalls[name]) {
			return true
		}
	}
	return false
}

// lasting are the times that grow with the length of an answer.
var lasting = []string{"e2e_ms", "generation_ms", "visible_generation_ms", "e2e_from_schedule_ms"}

// workTolerance is how far apart the mean output tokens of two cells may lie
// for the times of whole answers to be compared.
const workTolerance = 0.02

// unequalWork says why a rule that compares how long answers take cannot: one
// side's are longer, so the other looks faster for having done less.
func (r rule) unequalWork(sides []side) []string {
	a, b := sides[0].cell, sides[1].cell
	if a == nil || b == nil || !slices.ContainsFunc(lasting, func(id string) bool {
		return r.names(sides[0].path+"."+id) && r.names(sides[1].path+"."+id)
	}) {
		return nil
	}
	x, y := a.OutputTokens.Mean, b.OutputTokens.Mean
	if x == nil || y == nil || math.Abs(*x-*y) <= workTolerance*math.Max(*x, *y) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s: %.1f output tokens a request on %s, %.1f on %s", unequalWork, sentences[unequalWork], *x, sides[0].name, *y, sides[1].name)}
}
