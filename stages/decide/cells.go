package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// cells evaluates a guard on a serving workload, one result per cell.
func (j *judge) cells(candidate string, g spec.Guard, blank evidence.GuardResult) []evidence.GuardResult {
	var out []evidence.GuardResult
	for _, name := range chosen(g, j.policy.Workloads[g.On].Cells) {
		res := blank
		res.Cell = name
		mine, base := cellOf(j.record, candidate, g.On, name), cellOf(j.record, j.policy.Baseline, g.On, name)
		r := j.rules[res.Guard]
		var blocks []string
		for _, side := range []struct {
			path, name string
			cell       *metric.Cell
		}{{"candidate", candidate, mine}, {"baseline", j.policy.Baseline, base}} {
			if side.cell == nil || !r.names(side.path) {
				continue
			}
			for _, doubt := range []struct {
				is   bool
				code string
			}{{side.cell.ClientBound, clientBound}, {side.cell.WarmCache, warmCache}, {side.cell.OffRate, offRate}} {
				if doubt.is {
					blocks = append(blocks, fmt.Sprintf("%s: %s on %s", doubt.code, sentences[doubt.code], side.name))
				}
			}
			for _, d := range side.cell.Doubts {
				res.Warnings = append(res.Warnings, side.name+": "+d)
			}
			if side.cell.Failed > 0 && r.measures(side.path) {
				blocks = append(blocks, fmt.Sprintf("%s: %d of %d requests of %s failed, so the numbers describe the survivors", survivorsOf, side.cell.Failed, side.cell.Attempted, side.name))
			}
			res.Warnings = append(res.Warnings, r.descriptive(side.path, side.cell)...)
		}
		r.apply(&res, capacityFacts(name, mine, base), blocks)
		out = append(out, res)
	}
	return out
}

// chosen are the cells that a guard looks at, in the order of the workload.
func chosen(g spec.Guard, cells []string) []string {
	want := slices.Clone(g.Cells)
	for _, n := range g.Concurrency {
		want = append(want, spec.ConcurrencyCell(n))
	}
	if len(want) == 0 {
		return cells
	}
	var out []string
	for _, c := range cells {
		if slices.Contains(want, c) {
			out = append(out, c)
		}
	}
	return out
}

// counts are the fields of a cell that speak of its requests, failed ones
// included.
var counts = map[string]bool{
	"concurrency": true, "trials": true, "attempted": true, "completed": true, "failed": true, "unsent": true, "wall_s": true,
	"client_overhead": true, "client_lag_p99_ms": true, "client_bound": true, "warm_cache": true, "off_rate": true,
	"offered_rate": true, "achieved_rate": true, "in_flight_mean": true, "little_ratio": true,
	"goodput": true, "slo_attained": true, "pass_rate": true, "effective_context_tokens": true, "max_rate": true, "max_concurrency": true,
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
