package publish

import (
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/stats"
)

// forestRow is the plot of one stratum; positions in percent of the width.
// What is absent is nil.
type forestRow struct {
	Zero     *float64
	Band     *span // noise floor
	Bar      *span // interval
	Point    *float64
	Margins  []float64
	CutLeft  bool // the interval goes on beyond the axis
	CutRight bool
	PointOut bool // the point itself lies beyond the axis
}

// span is a part of the width.
type span struct{ From, Width float64 }

// End is where it ends.
func (s span) End() float64 { return math.Round(100*(s.From+s.Width)) / 100 }

// drawn is what a row of a forest plot shows, in score units.
type drawn struct {
	row     stats.Summary
	noise   *stats.Summary
	margins []bound
}

func (d drawn) values() []float64 {
	var out []float64
	for _, p := range []*float64{d.row.Delta, d.row.Lo, d.row.Hi} {
		if p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// extent is how far from 0 the row goes.
func (d drawn) extent() float64 {
	out := 0.0
	for _, x := range d.values() {
		out = math.Max(out, math.Abs(x))
	}
	return out
}

// far is how many times the reach of the intervals a margin may lie away and
// still be drawn.
const far = 20

// forestAxis is one axis for all rows. A few rows of two or three items would
// squeeze all others into a point; the axis then ends before theirs do, and
// arrows say that they go on.
func forestAxis(rows []drawn, s scale) axis {
	limit := reachOf(rows)
	values := []float64{0}
	reach := 0.0
	for _, d := range rows {
		for _, x := range d.values() {
			x = math.Min(math.Max(x, -limit), limit)
			values, reach = append(values, x), math.Max(reach, math.Abs(x))
		}
	}
	for _, d := range rows {
		for _, m := range d.margins {
			if reach == 0 || math.Abs(m.At) <= far*reach {
				values = append(values, m.At)
			}
		}
		if n := d.noise; n != nil && n.Lo != nil && n.Hi != nil && math.Max(-*n.Lo, *n.Hi) <= 3*reach {
			values = append(values, *n.Lo, *n.Hi)
		}
	}
	factor := 1.0
	if s.percent {
		factor = 100
	}
	return newAxis(values, factor, true)
}

// wide is how many times the median extent a row may have and still be drawn
// in full.
const wide = 6

// reachOf is how far from 0 an axis may go: as far as the widest row that is
// not wide.
func reachOf(rows []drawn) float64 {
	var extents []float64
	for _, d := range rows {
		if x := d.extent(); x > 0 {
			extents = append(extents, x)
		}
	}
	if len(extents) < 3 {
		return math.Inf(1)
	}
	slices.Sort(extents)
	limit := wide * extents[len(extents)/2]
	for len(extents) > 0 && extents[len(extents)-1] > limit {
		extents = extents[:len(extents)-1]
	}
	return extents[len(extents)-1]
}

func (a axis) row(d drawn) forestRow {
	var out forestRow
	if a.inside(0) {
		out.Zero = at(a, 0)
	}
	if n := d.noise; n != nil && n.Lo != nil && n.Hi != nil {
		out.Band = a.span(*n.Lo, *n.Hi)
	}
	for _, m := range d.margins {
		if x := a.at(m.At); a.inside(m.At) && !slices.Contains(out.Margins, x) {
			out.Margins = append(out.Margins, x)
		}
	}
	if d.row.Delta != nil {
		out.Point, out.PointOut = at(a, *d.row.Delta), !a.inside(*d.row.Delta)
	}
	if d.row.Lo != nil && d.row.Hi != nil {
		out.Bar = a.span(*d.row.Lo, *d.row.Hi)
		out.CutLeft, out.CutRight = *d.row.Lo < a.Min && !a.inside(*d.row.Lo), *d.row.Hi > a.Max && !a.inside(*d.row.Hi)
	}
	return out
}

func at(a axis, x float64) *float64 {
	p := a.at(x)
	return &p
}

func (a axis) span(lo, hi float64) *span {
	from := a.at(lo)
	return &span{From: from, Width: math.Round(100*(a.at(hi)-from)) / 100}
}
