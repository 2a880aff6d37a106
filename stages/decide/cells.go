package decide

import (
	"fmt"
	"slices"

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
		sides := []side{{"candidate", candidate, mine}, {"baseline", j.policy.Baseline, base}}
		blocks := append(r.unequalWork(sides), j.otherTokensThan(r, candidate)...)
		for _, s := range sides {
			if s.cell == nil || !r.names(s.path) {
				continue
			}
			blocks = append(blocks, r.blocks(s)...)
			for _, d := range s.cell.Doubts {
				res.Warnings = append(res.Warnings, s.name+": "+d)
			}
			res.Warnings = append(res.Warnings, r.descriptive(s.path, s.cell)...)
		}
		if turned := r.turnedByMore(name, mine, base); turned {
			blocks = append(blocks, fmt.Sprintf("%s: %s (%s)", metric.LowerBound.Code, metric.LowerBound.Sentence, candidate))
		}
		f := capacityFacts(name, mine, base)
		var theirs [2]energySide
		if j.policy.Workloads[g.On].Kind == energyKind {
			theirs = j.energies(g.On, name, candidate)
			f = energyFacts(name, mine, base, theirs[0].energy, theirs[1].energy)
			blocks = append(blocks, r.unequalEnergy(theirs, j.policy.Workloads[g.On].StartBand)...)
			blocks = append(blocks, r.unequalLoad(sides)...)
			res.Warnings = append(res.Warnings, r.energyDoubts(theirs)...)
			res.Warnings = append(res.Warnings, r.unequalAnswers(sides)...)
		}
		j.putPriors(r, &f, &res, candidate)
		blocks = append(blocks, r.withinQuantisation(f, theirs)...)
		r.apply(&res, f, blocks)
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
