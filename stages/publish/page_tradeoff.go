package publish

import (
	"maps"
	"math"
	"slices"
)

// tradeoffView is cost against quality on one workload: a point for each
// candidate that has both.
type tradeoffView struct {
	Workload, Unit string // of the cost
	Height         int
	Series         []series
	XTicks         []tick
	YTicks         []yTick
	Points         []chartPoint
}

const tradeoffHeight = 200

// tradeoffs draws a workload where at least two candidates have a price and a
// score: one point is no choice.
func (m pageMaker) tradeoffs() (out []tradeoffView) {
	workloads := map[string]bool{}
	for _, c := range m.rec.Candidates {
		for wl := range c.Costs {
			workloads[wl] = true
		}
	}
	for _, wl := range slices.Sorted(maps.Keys(workloads)) {
		if v, ok := m.tradeoff(wl); ok {
			out = append(out, v)
		}
	}
	return out
}

func (m pageMaker) tradeoff(wl string) (tradeoffView, bool) {
	v := tradeoffView{Workload: wl, Height: tradeoffHeight}
	var costs, scores []float64
	for i, name := range m.names {
		c := m.rec.Candidates[name]
		cost, mean := c.Costs[wl].Per1kItems.Value, c.Scores[wl].Overall.Mean.Value
		if cost == nil || mean == nil {
			continue
		}
		v.Series = append(v.Series, series{name, m.styleOf(i)})
		costs, scores = append(costs, *cost), append(scores, *mean)
		if p := c.Costs[wl].Price; p != nil {
			v.Unit = p.Currency
		}
	}
	if len(costs) < 2 {
		return v, false
	}
	x := newAxis(append(costs, 0), 1, false)
	y := newAxis(scores, 1, true)
	v.XTicks = x.Ticks
	for _, t := range y.Ticks {
		v.YTicks = append(v.YTicks, yTick{tradeoffPixel(t.At), quantity(y.Min + t.At/100*(y.Max-y.Min))})
	}
	for i, s := range v.Series {
		v.Points = append(v.Points, chartPoint{Style: s.Style, X: x.at(costs[i]), Y: tradeoffPixel(y.at(scores[i])),
			Tooltip: s.Name + ": " + quantity(costs[i]) + " " + v.Unit + " per 1,000 items, mean score " + quantity(scores[i])})
	}
	return v, true
}

func tradeoffPixel(percent float64) float64 {
	return math.Round(10*(tradeoffHeight-tradeoffHeight*percent/100)) / 10
}
