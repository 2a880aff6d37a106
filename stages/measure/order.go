package measure

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
)

// turn names one cell of one candidate.
type turn struct {
	work, cell string
	trial      int
	cand       string
}

// slot is when a turn comes: rank orders all cells of a plan, position those
// of one workload, from 1.
type slot struct{ rank, position int }

// sequential reports whether the candidates are measured one after the other.
func (by Planner) sequential(w spec.Workload) bool {
	return orderOf(w) == "sequential" || by.apart(w) != ""
}

// apart says why the candidates are measured one after the other although the
// campaign does not ask for it. The order is no part of a cell's key.
func (by Planner) apart(w spec.Workload) string {
	if orderOf(w) != "" {
		return ""
	}
	return by.Apart
}

func orderOf(w spec.Workload) string { return settings(w, &spec.Capacity{}).order }

// Interleaved lists the serving workloads of which the campaign says that the
// candidates take turns, sorted.
func Interleaved(c *spec.Campaign) (out []string) {
	for _, work := range slices.Sorted(maps.Keys(c.Measure)) {
		if w := c.Measure[work]; w.Serving() && orderOf(w) == "interleaved" {
			out = append(out, work)
		}
	}
	return out
}

// ranks orders all cells of a campaign, workload by workload. Candidates take
// turns within each trial of each point, so that what changes with the time of
// day or the heat of a machine does not fall on one of them alone; their order
// is drawn anew each time, so that none always comes first.
func (by Planner) ranks(c *spec.Campaign) map[turn]slot {
	out, rank := map[turn]slot{}, 0
	for _, work := range slices.Sorted(maps.Keys(c.Measure)) {
		w := c.Measure[work]
		if !w.Serving() || w.Imported != nil {
			continue
		}
		for i, t := range by.turns(c, work, w) {
			rank++
			out[t] = slot{rank, i + 1}
		}
	}
	return out
}

// turns lists the cells of one workload in the order in which they are to run.
func (by Planner) turns(c *spec.Campaign, work string, w spec.Workload) (out []turn) {
	names := slices.Sorted(maps.Keys(c.Candidates))
	points, repeats := w.Points(c.Measure), w.Repeats(c.Measure)
	if by.sequential(w) {
		for _, cand := range names {
			for _, at := range points {
				for t := 1; t <= repeats; t++ {
					out = append(out, turn{work, at.Cell, t, cand})
				}
			}
		}
		return out
	}
	seed := settings(sent(w, c.Measure), c.Measure[of(w)].Capacity).seed
	for _, at := range points {
		for t := 1; t <= repeats; t++ {
			for _, cand := range shuffled(names, seed, at.Cell, t) {
				out = append(out, turn{work, at.Cell, t, cand})
			}
		}
	}
	return out
}

// of is the capacity workload that a replicas workload stands on, "" for others.
func of(w spec.Workload) string {
	if w.Replicas == nil {
		return ""
	}
	return w.Replicas.Of
}

func shuffled(names []string, seed int64, cell string, trial int) []string {
	h := fnv.New64a()
	h.Write([]byte(cell)) // never fails
	rng := rand.New(rand.NewPCG(uint64(seed), h.Sum64()+uint64(trial)))
	names = slices.Clone(names)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}
