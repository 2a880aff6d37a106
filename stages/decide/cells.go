package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// cells evaluates a guard on a capacity workload, one result per concurrency.
func (j *judge) cells(candidate string, g spec.Guard, blank evidence.GuardResult) []evidence.GuardResult {
	which := g.Concurrency
	if len(which) == 0 {
		which = j.policy.Workloads[g.On].Concurrency
	}
	which = slices.Clone(which)
	slices.Sort(which)
	var out []evidence.GuardResult
	for _, n := range slices.Compact(which) {
		res := blank
		res.Cell = fmt.Sprintf("c=%d", n)
		mine, base := cellOf(j.record, candidate, g.On, n), cellOf(j.record, j.policy.Baseline, g.On, n)
		r := j.rules[res.Guard]
		var blocks []string
		for _, side := range []struct {
			path, name string
			cell       *metric.Cell
		}{{"candidate", candidate, mine}, {"baseline", j.policy.Baseline, base}} {
			if side.cell == nil || !r.names(side.path) {
				continue
			}
			if side.cell.ClientBound {
				blocks = append(blocks, fmt.Sprintf("%s: %s on %s", clientBound, sentences[clientBound], side.name))
			}
			if side.cell.Failed > 0 && r.measures(side.path) {
				blocks = append(blocks, fmt.Sprintf("%s: %d of %d requests of %s failed, so the numbers describe the survivors", survivorsOf, side.cell.Failed, side.cell.Attempted, side.name))
			}
			res.Warnings = append(res.Warnings, r.descriptive(side.path, side.cell)...)
		}
		r.apply(&res, capacityFacts(n, mine, base), blocks)
		out = append(out, res)
	}
	return out
}

// counts are the fields of a cell that speak of its requests, failed ones
// included.
var counts = map[string]bool{
	"concurrency": true, "trials": true, "attempted": true, "completed": true, "failed": true, "wall_s": true,
	"client_overhead": true, "client_bound": true,
}

// measures reports whether the rule names a number of that side that only the
// requests that completed can give.
func (r rule) measures(side string) bool {
	for _, p := range r.Paths() {
		if of, name, _ := strings.Cut(p, "."); of == side && !counts[name] {
			return true
		}
	}
	return false
}

// descriptive notes the tail percentiles that a rule names and that rest on
// too few requests to speak of more than themselves.
func (r rule) descriptive(side string, c *metric.Cell) []string {
	var out []string
	for id, d := range dists(c) {
		if path := side + "." + id + ".p99"; d.Label == metric.DescriptiveOnly && r.names(path) {
			out = append(out, fmt.Sprintf("%s: %s describes %d requests only", metric.DescriptiveOnly, path, d.N))
		}
	}
	slices.Sort(out)
	return out
}
