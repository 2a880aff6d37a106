package publish

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/stats"
)

// qualityView is one quality workload.
type qualityView struct {
	Workload, By string
	Scale        scale
	Unit         string // of differences
	Means        meansTable
	Comparisons  []comparisonView
}

// meansTable has a column per candidate, a row per stratum.
type meansTable struct {
	Unit  string
	Names []string
	Rows  []meansRow
}

type meansRow struct {
	Name  string
	Cells []meanCell
}

type meanCell struct {
	Mean   string
	Count  string // "480 of 500"; "" when every item has a score
	Reason string
}

func (m pageMaker) quality() []qualityView {
	var out []qualityView
	for _, wl := range m.qualityWorkloads() {
		out = append(out, m.workload(wl))
	}
	return out
}

func (m pageMaker) qualityWorkloads() []string {
	seen := map[string]bool{}
	for _, c := range m.rec.Candidates {
		for wl := range c.Scores {
			seen[wl] = true
		}
	}
	for _, c := range m.rec.Comparisons {
		seen[c.Workload] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func (m pageMaker) workload(wl string) qualityView {
	v := qualityView{Workload: wl}
	var comparisons []*evidence.Comparison
	var results []stats.Result
	for i := range m.rec.Comparisons {
		if c := &m.rec.Comparisons[i]; c.Workload == wl {
			comparisons, results = append(comparisons, c), append(results, c.Stats)
			v.By = cmp.Or(v.By, c.Stats.By)
		}
	}
	v.Scale = scaleOf(results...)
	v.Means = m.means(wl, v.Scale)
	v.Unit = v.Scale.unit()
	for i, a := range m.axes(comparisons, v.Scale) {
		c := m.comparison(comparisons[i], v.Scale, a.axis)
		c.OwnAxis = a.own
		v.Comparisons = append(v.Comparisons, c)
	}
	return v
}

type ownedAxis struct {
	axis axis
	own  bool
}

// axes are the axis of each comparison: one for all, so that candidates can be
// compared by eye, but for those whose overall row would lie beyond it.
func (m pageMaker) axes(comparisons []*evidence.Comparison, s scale) []ownedAxis {
	var all, shared []drawn
	rows := make([][]drawn, len(comparisons))
	for i, c := range comparisons {
		for _, name := range rowNames(c) {
			rows[i] = append(rows[i], m.drawn(c, name))
		}
		all = append(all, rows[i]...)
	}
	out := make([]ownedAxis, len(comparisons))
	limit := reachOf(all)
	for i := range rows {
		if out[i].own = rows[i][0].extent() > limit; out[i].own {
			out[i].axis = forestAxis(rows[i], s)
			continue
		}
		shared = append(shared, rows[i]...)
	}
	for i := range out {
		if !out[i].own {
			out[i].axis = forestAxis(shared, s)
		}
	}
	return out
}

// means lists each candidate's own scores, also those of one that could not be
// compared.
func (m pageMaker) means(wl string, s scale) meansTable {
	t := meansTable{Unit: s.scoreUnit()}
	strata := map[string]bool{}
	var all []evidence.ScoreSummary
	for _, name := range m.names {
		sum, ok := m.rec.Candidates[name].Scores[wl]
		if !ok {
			continue
		}
		t.Names, all = append(t.Names, name), append(all, sum)
		for stratum := range sum.Strata {
			strata[stratum] = true
		}
	}
	if len(all) == 0 {
		return t
	}
	row := meansRow{Name: overall}
	for _, sum := range all {
		row.Cells = append(row.Cells, meanOf(sum.Overall, s))
	}
	t.Rows = append(t.Rows, row)
	for _, stratum := range slices.Sorted(maps.Keys(strata)) {
		row := meansRow{Name: stratum}
		for _, sum := range all {
			row.Cells = append(row.Cells, meanOf(sum.Strata[stratum], s))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func meanOf(g evidence.ScoreGroup, s scale) meanCell {
	c := meanCell{Mean: s.score(g.Mean.Value)}
	if g.Mean.Value == nil {
		c.Reason = cmp.Or(g.Mean.Reason, "absent")
	}
	if g.Scored != g.Items {
		c.Count = fmt.Sprintf("%s of %s items", thousands(g.Scored), thousands(g.Items))
	}
	return c
}

// noiseView is what the baseline differs from itself by.
type noiseView struct {
	Workload, Candidate string
	Row                 scoreRow
	Identical           string
	Disagreement        string
	Drift               bool
	Note                string
	Unit                string
}

func (m pageMaker) noise() []noiseView {
	var out []noiseView
	for _, n := range m.rec.Noise {
		s := scaleOf(n.Stats)
		out = append(out, noiseView{
			Workload: n.Workload, Candidate: n.Candidate, Drift: n.Drift, Note: n.Note, Unit: s.unit(),
			Row: rowOf("", n.Stats.Overall, s), Identical: identical(n.Agreement), Disagreement: disagreement(n.Stats.Overall),
		})
	}
	return out
}
