package publish

import (
	"math"

	"github.com/cupel-dev/cupel/stages/metric"
)

// ecdfChart is the empirical distribution of one metric in one cell: the share
// of requests, in percent of the height, that took at most so long. X is
// logarithmic, in percent of the width.
type ecdfChart struct {
	Cell, What string
	Height     int
	Series     []series
	XTicks     []tick
	YTicks     []yTick
	Lines      []chartLine
}

const (
	ecdfHeight = 150
	maxECDF    = 8 // cells of a workload that are drawn; the others are in the table
)

// ecdfView are the distributions of one cell.
type ecdfView struct {
	Cell   string
	Charts []ecdfChart
}

var distributions = []struct {
	what string
	of   func(*metric.Cell) *metric.Dist
}{
	{"TTFT", ttft},
	{"time per output token", tpot},
	{"end to end", func(c *metric.Cell) *metric.Dist { return &c.E2E }},
}

// ecdfs draws every cell for which some candidate has a distribution, the last
// ones where there are many: they carry the highest load.
func ecdfs(groups []loadGroup, all []series) (out []ecdfView) {
	for _, g := range groups[max(0, len(groups)-maxECDF):] {
		v := ecdfView{Cell: g.Cell}
		for _, d := range distributions {
			if ch, ok := ecdfOf(g, d.what, d.of, all); ok {
				v.Charts = append(v.Charts, ch)
			}
		}
		if v.Charts != nil {
			out = append(out, v)
		}
	}
	return out
}

func ecdfOf(g loadGroup, what string, of func(*metric.Cell) *metric.Dist, all []series) (ecdfChart, bool) {
	ch := ecdfChart{Cell: g.Cell, What: what, Height: ecdfHeight}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range all {
		r := rowOfSeries(g, s.Name)
		if r == nil || len(of(r.cell).Quantiles) < 2 {
			continue
		}
		ch.Series = append(ch.Series, s)
		q := of(r.cell).Quantiles
		lo, hi = math.Min(lo, positive(q)), math.Max(hi, q[len(q)-1])
	}
	if ch.Series == nil || !(lo > 0) || !(hi > 0) {
		return ch, false
	}
	x := newLogAxis(lo, hi)
	ch.XTicks = x.Ticks
	for _, share := range []int{0, 25, 50, 75, 100} {
		ch.YTicks = append(ch.YTicks, yTick{ecdfPixel(float64(share)), quantity(float64(share)) + " %"})
	}
	for _, s := range ch.Series {
		ch.trace(s, of(rowOfSeries(g, s.Name).cell).Quantiles, x)
	}
	return ch, true
}

// positive is the smallest value above 0, which a logarithm needs.
func positive(sorted []float64) float64 {
	for _, x := range sorted {
		if x > 0 {
			return x
		}
	}
	return math.Inf(1)
}

// trace joins the quantiles of one candidate.
func (ch *ecdfChart) trace(s series, q []float64, x logAxis) {
	for i := 1; i < len(q); i++ {
		a, b := float64(i-1), float64(i)
		ch.Lines = append(ch.Lines, chartLine{s.Style,
			x.at(q[i-1]), ecdfPixel(100 * a / float64(len(q)-1)), x.at(q[i]), ecdfPixel(100 * b / float64(len(q)-1))})
	}
}

func ecdfPixel(percent float64) float64 {
	return math.Round(10*(ecdfHeight-ecdfHeight*percent/100)) / 10
}

// logAxis maps values above 0 to a position in percent of the width.
type logAxis struct {
	lo, hi float64 // logarithms of the ends
	Ticks  []tick
}

// newLogAxis ends at the values, a little further out, and has ticks at 1, 2 and
// 5 times powers of ten, or at the powers alone over a wide range.
func newLogAxis(lo, hi float64) logAxis {
	a := logAxis{lo: math.Log10(lo), hi: math.Log10(hi)}
	pad := math.Max(0.02, 0.03*(a.hi-a.lo))
	a.lo, a.hi = a.lo-pad, a.hi+pad
	steps := []float64{1, 2, 5}
	switch width := a.hi - a.lo; {
	case width > 3:
		steps = []float64{1}
	case width < 0.5:
		steps = []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}
	}
	for e := math.Floor(a.lo); e <= a.hi; e++ {
		for _, f := range steps {
			if x := f * math.Pow(10, e); math.Log10(x) >= a.lo && math.Log10(x) <= a.hi {
				a.Ticks = append(a.Ticks, tick{At: a.at(x), Label: quantity(x)})
			}
		}
	}
	return a
}

func (a logAxis) at(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	share := (math.Log10(x) - a.lo) / (a.hi - a.lo)
	return math.Round(10000*math.Min(1, math.Max(0, share))) / 100
}
