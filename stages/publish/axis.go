package publish

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// axis maps values to a position in percent of the width of a plot.
type axis struct {
	Min, Max float64
	Ticks    []tick
}

type tick struct {
	At    float64 // percent of the width
	Label string
	Zero  bool
}

// inset keeps marks at either end inside the plot, in percent.
const inset = 1.5

// newAxis covers the values with round ticks. label is the factor by which
// values are multiplied for the labels, 100 for percentage points.
func newAxis(values []float64, label float64, sign bool) axis {
	lo, hi := 0.0, 0.0
	if len(values) > 0 {
		lo, hi = slices.Min(values), slices.Max(values)
	}
	if lo == 0 && hi == 0 && !sign {
		hi = 1 // times and rates have no other side of 0
	}
	if !(hi-lo > 1e-9*math.Max(math.Abs(lo), math.Abs(hi))) || hi-lo < 1e-12 {
		pad := math.Max(0.01, math.Abs(hi)/10)
		lo, hi = lo-pad, hi+pad
	}
	step := roundStep((hi - lo) / 5)
	a := axis{Min: math.Floor(lo/step+1e-9) * step, Max: math.Ceil(hi/step-1e-9) * step}
	n := int(math.Round((a.Max - a.Min) / step))
	for i := range n + 1 {
		x := a.Min + float64(i)*step
		if math.Abs(x) < step/1e6 {
			x = 0
		}
		a.Ticks = append(a.Ticks, tick{At: a.at(x), Label: tickLabel(x*label, step*label, sign), Zero: x == 0})
	}
	return a
}

// roundStep is the next of 1, 2, 2.5, 5 times a power of ten.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 2.5, 5} {
		if x <= f*power*(1+1e-9) {
			return f * power
		}
	}
	return 10 * power
}

func tickLabel(x, step float64, sign bool) string {
	if math.Abs(x) >= 1e6 || step < 1e-4 {
		return strings.ReplaceAll(strconv.FormatFloat(x, 'g', 3, 64), "-", minus)
	}
	decimals := 0
	for d := step; decimals < 6 && math.Abs(d-math.Round(d)) > 1e-6; d *= 10 {
		decimals++
	}
	switch {
	case sign:
		return signed(x, decimals)
	case decimals == 0:
		return grouped(fixed(x, 0))
	}
	return fixed(x, decimals)
}

// at is the position of x in percent, rounded so that the same report has the
// same bytes on every machine.
func (a axis) at(x float64) float64 {
	share := (x - a.Min) / (a.Max - a.Min)
	share = math.Min(math.Max(share, 0), 1)
	return math.Round(100*(inset+share*(100-2*inset))) / 100
}

// inside reports whether x lies on the axis; ticks are multiples of a step and
// may miss an end by a rounding error.
func (a axis) inside(x float64) bool {
	slack := 1e-9 * (a.Max - a.Min)
	return a.Min-slack <= x && x <= a.Max+slack
}
