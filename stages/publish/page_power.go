package publish

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// powerPlot is the recording of one cell: power over time, with what happened. Its
// paths are in a box of plotWidth by Height that is stretched to the page.
type powerPlot struct {
	Series series
	Base   string
	Height int
	XTicks []tick
	YTicks []yTick
	Line   string // path

	Idle, Cell, Steady *span  // parts of the width, nil = there was none
	Thermal, Capped    string // paths of strokes, "" = none
	About              string // in a sentence, for those who do not see it
}

const (
	powerHeight = 170
	powerWidth  = 1000
	strokes     = 9 // pixels that a mark reaches into the plot
)

// powerPlots are the recordings of every cell and candidate that has one.
func (m pageMaker) powerPlots(wl string) (out []energyPlots) {
	for _, cell := range m.energyCells(wl) {
		group, most := energyPlots{Cell: cell}, m.mostPower(wl, cell)
		for i, name := range m.names {
			e := m.energyCell(name, wl, cell)
			if e == nil || e.Plot == nil {
				continue
			}
			if p, ok := powerPlotOf(e.Plot, series{name, m.styleOf(i)}, most); ok {
				group.Plots = append(group.Plots, p)
			}
		}
		if group.Plots != nil {
			out = append(out, group)
		}
	}
	return out
}

// mostPower is the top of the axis that the candidates of a cell share.
func (m pageMaker) mostPower(wl, cell string) (most float64) {
	for _, name := range m.names {
		if e := m.energyCell(name, wl, cell); e != nil && canPlot(e.Plot) {
			most = max(most, slices.Max(e.Plot.W))
		}
	}
	return most
}

func canPlot(p *energy.Plot) bool {
	return p != nil && len(p.T) > 1 && len(p.T) == len(p.W) && drawable(p.T) && drawable(p.W)
}

// powerPlotOf draws a recording on an axis up to most watts; ok is false for one
// that cannot be drawn.
func powerPlotOf(p *energy.Plot, s series, most float64) (plot powerPlot, ok bool) {
	if !canPlot(p) {
		return powerPlot{}, false
	}
	out := powerPlot{Series: s, Base: p.Base, Height: powerHeight}
	x, y := newAxis(p.T, 1, false), newAxis(append([]float64{0, most}, p.W...), 1, false)
	out.XTicks = x.Ticks
	for _, t := range y.Ticks {
		out.YTicks = append(out.YTicks, yTick{powerPixel(t.At), t.Label})
	}
	out.Line = staircase(p, x, y)
	out.Idle, out.Cell, out.Steady = spanOf(p.Idle, x), spanOf(p.Cell, x), spanOf(p.Steady, x)
	out.Thermal, out.Capped = strokesAt(p.Thermal, x, 0, strokes), strokesAt(p.Capped, x, powerHeight, powerHeight-strokes)
	out.About = aboutPower(p, s.Name)
	return out, true
}

func drawable(values []float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(v) > 1e12 {
			return false
		}
	}
	return true
}

// staircase is the mean power of each step: across at its height, then up or down
// to the next.
func staircase(p *energy.Plot, x, y axis) string {
	var b strings.Builder
	for i := 1; i < len(p.T); i++ {
		from, to, height := across(x, p.T[i-1]), across(x, p.T[i]), powerPixel(y.at(p.W[i]))
		if i == 1 {
			fmt.Fprintf(&b, "M%g %g", from, height)
		} else {
			fmt.Fprintf(&b, "V%g", height)
		}
		fmt.Fprintf(&b, "H%g", to)
	}
	return b.String()
}

func across(x axis, t float64) float64 { return math.Round(100*x.at(t)*powerWidth/100) / 100 }

// strokesAt draws a short stroke at each moment.
func strokesAt(moments []float64, x axis, from, to float64) string {
	var b strings.Builder
	for _, t := range moments {
		if x.inside(t) {
			fmt.Fprintf(&b, "M%g %gV%g", across(x, t), from, to)
		}
	}
	return b.String()
}

func spanOf(s *[2]float64, x axis) *span {
	if s == nil || !drawable(s[:]) || s[1] < s[0] {
		return nil
	}
	from, to := x.at(s[0]), x.at(s[1])
	return &span{From: from, Width: math.Round(100*(to-from)) / 100}
}

func powerPixel(percent float64) float64 {
	return math.Round(10*(powerHeight-powerHeight*percent/100)) / 10
}

func aboutPower(p *energy.Plot, name string) string {
	s := fmt.Sprintf("Power of %s over time, %s, at most %s W", name, p.Base, quantity(slices.Max(p.W)))
	for _, part := range []struct {
		what string
		at   *[2]float64
	}{{"idle", p.Idle}, {"the cell", p.Cell}, {"every stream busy", p.Steady}} {
		if part.at != nil {
			s += fmt.Sprintf("; %s from %s to %s s", part.what, quantity(part.at[0]), quantity(part.at[1]))
		}
	}
	if len(p.Thermal) > 0 {
		s += "; heat or a power brake held a clock down"
	}
	if len(p.Capped) > 0 {
		s += "; the power cap held a clock down"
	}
	return s + "."
}
