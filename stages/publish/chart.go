package publish

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
)

// series is a candidate as it is drawn: colour and shape, the same in every
// chart of a page.
type series struct {
	Name  string
	Style int // 0 is the baseline; also the index of the colour and of the shape
}

const styles = 6

// series lists the candidates with load, the baseline first. A candidate keeps
// its style whether or not others were measured.
func (m pageMaker) series(wl string) []series {
	var out []series
	for i, name := range m.names {
		if _, ok := m.rec.Candidates[name].Load[wl]; ok {
			out = append(out, series{name, m.styleOf(i)})
		}
	}
	return out
}

// styleOf is the style of the i-th name.
func (m pageMaker) styleOf(i int) int {
	if m.names[i] != m.rec.Baseline {
		return 1 + (i-1+styles-1)%(styles-1)
	}
	return i % styles
}

// lineChart is a number over the cells. X is in percent, Y in pixels of a plot
// that is Height high; cells stand at equal distances.
type lineChart struct {
	Title   string
	Across  string // what the cells are
	Height  int
	Series  []series
	XTicks  []tick
	YTicks  []yTick
	Lines   []chartLine
	Points  []chartPoint
	Missing []string // "awq at c=8, c=16: incomplete-cell (…)"
}

type yTick struct {
	Y     float64
	Label string
}

type chartLine struct {
	Style          int
	X1, Y1, X2, Y2 float64
}

type chartPoint struct {
	Style   int
	X, Y    float64
	Low     float64 // pixel of one standard deviation below, equal to Y without spread
	High    float64
	Tooltip string
}

const plotHeight = 220

// curve says what a chart over the cells of a workload shows.
type curve struct {
	Title, Unit, Across string
	of                  func(*metric.Cell) metric.Value
	spread              func(*metric.Cell) float64 // one standard deviation, 0 = none
}

// chartOf draws a curve; cells without a value are named below it.
func chartOf(c curve, groups []loadGroup, all []series) lineChart {
	ch := lineChart{Height: plotHeight, Series: all, Title: c.Title, Across: c.Across}
	values := []float64{0}
	for _, g := range groups {
		for _, r := range g.Rows {
			if v := c.of(r.cell).Value; v != nil {
				values = append(values, *v+c.spread(r.cell))
			}
		}
	}
	y := newAxis(values, 1, false)
	for _, t := range y.Ticks {
		ch.YTicks = append(ch.YTicks, yTick{pixel(t.At), t.Label})
	}
	for i, g := range groups {
		label := tickOf(g.Cell)
		if len(groups) > 10 && i%2 == 1 {
			label = ""
		}
		ch.XTicks = append(ch.XTicks, tick{At: column(i, len(groups)), Label: label})
	}
	for _, s := range all {
		ch.draw(c, s, groups, y)
	}
	return ch
}

// draw adds one candidate. A cell without a value breaks its line.
func (ch *lineChart) draw(c curve, s series, groups []loadGroup, y axis) {
	var last *chartPoint
	missing := map[string][]string{}
	for i, g := range groups {
		r := rowOfSeries(g, s.Name)
		if r == nil {
			last = nil
			continue
		}
		v := c.of(r.cell)
		if v.Value == nil {
			missing[v.Reason] = append(missing[v.Reason], g.Cell)
			last = nil
			continue
		}
		x, sd := *v.Value, c.spread(r.cell)
		p := chartPoint{Style: s.Style, X: column(i, len(groups)), Y: pixel(y.at(x)),
			Low: pixel(y.at(math.Max(0, x-sd))), High: pixel(y.at(x + sd)),
			Tooltip: s.Name + " at " + g.Cell + ": " + valueOf(v).Text + " " + c.Unit}
		if last != nil {
			ch.Lines = append(ch.Lines, chartLine{s.Style, last.X, last.Y, p.X, p.Y})
		}
		ch.Points = append(ch.Points, p)
		last = &p
	}
	for _, code := range slices.Sorted(maps.Keys(missing)) {
		ch.Missing = append(ch.Missing, s.Name+" at "+strings.Join(missing[code], ", ")+": "+because(code))
	}
}

// tickOf is the number of a cell's name: 4 of c=4.
func tickOf(cell string) string {
	if _, n, ok := strings.Cut(cell, "="); ok {
		return n
	}
	return cell
}

func rowOfSeries(g loadGroup, name string) *loadRow {
	i := slices.IndexFunc(g.Rows, func(r loadRow) bool { return r.Candidate == name })
	if i < 0 {
		return nil
	}
	return &g.Rows[i]
}

func throughputSpread(c *metric.Cell) float64 {
	if sd := c.ThroughputSD.Value; sd != nil {
		return *sd
	}
	return 0
}

func noSpread(*metric.Cell) float64 { return 0 }

// pixel turns a position along an axis into one from the top of the plot.
func pixel(percent float64) float64 {
	return math.Round(10*(plotHeight-plotHeight*percent/100)) / 10
}

// column is where the i-th of n categories stands, in percent.
func column(i, n int) float64 {
	if n == 1 {
		return 50
	}
	return math.Round(100*(4+92*float64(i)/float64(n-1))) / 100
}

// barChart is TTFT per cell: a bar to p95 with the part to p50 full.
type barChart struct {
	Axis   axis
	Any    bool // some bar has a length
	Groups []barGroup
}

type barGroup struct {
	Cell string
	Bars []bar
}

type bar struct {
	Series   series
	P50, P95 *float64 // width in percent
	Text     string
	Reason   string
}

func ttftChart(groups []loadGroup, all []series) barChart {
	values := []float64{0}
	for _, g := range groups {
		for _, r := range g.Rows {
			for _, p := range []*float64{r.cell.TTFT.P50, r.cell.TTFT.P95} {
				if p != nil {
					values = append(values, *p)
				}
			}
		}
	}
	ch := barChart{Axis: newAxis(values, 1, false), Any: len(values) > 1}
	zero := ch.Axis.at(0)
	for _, g := range groups {
		out := barGroup{Cell: g.Cell}
		for _, s := range all {
			r := rowOfSeries(g, s.Name)
			if r == nil {
				continue
			}
			b := bar{Series: s, Text: r.TTFT50.Text + " / " + r.TTFT95.Text, Reason: r.TTFT50.Reason}
			b.P50, b.P95 = width(ch.Axis, zero, r.cell.TTFT.P50), width(ch.Axis, zero, r.cell.TTFT.P95)
			out.Bars = append(out.Bars, b)
		}
		ch.Groups = append(ch.Groups, out)
	}
	return ch
}

func width(a axis, zero float64, x *float64) *float64 {
	if x == nil {
		return nil
	}
	w := math.Round(100*(a.at(*x)-zero)) / 100
	return &w
}
