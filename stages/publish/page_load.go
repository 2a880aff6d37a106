package publish

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
)

// loadView is one serving workload.
type loadView struct {
	Workload, Kind, Protocol string
	Heads                    []string // of the numbers of a row
	Groups                   []loadGroup
	Extras                   []extraTable
	Reasons                  []reasonRow // codes that occur in the table, explained once
	Curves                   []lineChart // over several cells
	TTFT                     barChart
	ECDF                     []ecdfView
}

// reasonRow explains a code that stands in a table.
type reasonRow struct{ Code, Sentence string }

// loadGroup is one cell, one row per candidate.
type loadGroup struct {
	Cell string
	Rows []loadRow
}

type loadRow struct {
	Candidate      string
	Requests       string
	Numbers        []number // by loadView.Heads
	TTFT50, TTFT95 number
	Throughput     number
	Stability      string
	Notes          []string
	cell           *metric.Cell
}

func (m pageMaker) load() []loadView {
	seen := map[string]bool{}
	for _, c := range m.rec.Candidates {
		for wl := range c.Load {
			seen[wl] = true
		}
	}
	var out []loadView
	for _, wl := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, m.loadOf(wl))
	}
	return out
}

func (m pageMaker) loadOf(wl string) loadView {
	v := loadView{Workload: wl}
	var cells []string
	for _, name := range m.names {
		l := m.rec.Candidates[name].Load[wl]
		if l.Protocol != "" {
			v.Protocol, v.Kind = l.Protocol, l.Kind
		}
		for _, c := range l.Cells {
			if !slices.Contains(cells, c.Name) {
				cells = append(cells, c.Name)
			}
		}
	}
	cols := columnsOf(v.Kind)
	for _, c := range cols {
		v.Heads = append(v.Heads, c.Head)
	}
	for _, cell := range cells {
		g := loadGroup{Cell: cell}
		for _, name := range m.names {
			if c := m.cell(name, wl, cell); c != nil {
				g.Rows = append(g.Rows, loadRowOf(name, c, cols))
			}
		}
		v.Groups = append(v.Groups, g)
	}
	v.dropEmpty()
	v.Reasons = reasonsOf(v.Groups)
	v.Extras = m.extras(wl)
	series := m.series(wl)
	v.Curves = lineCharts(v.Kind, v.Groups, series)
	if ch := m.contextChart(wl, series); ch != nil {
		v.Curves = append(v.Curves, *ch)
	}
	v.TTFT = ttftChart(v.Groups, series)
	v.ECDF = ecdfs(v.Groups, series)
	return v
}

// unasked are the reasons for a null that the campaign itself gives: nobody
// asked for the number.
var unasked = map[string]bool{"absent": true, metric.NoSLO: true, metric.OtherWorkload: true, metric.ClosedLoop: true}

// dropEmpty takes columns away that nobody asked for, such as goodput when no
// SLO is stated.
func (v *loadView) dropEmpty() {
	for i := len(v.Heads) - 1; i >= 0; i-- {
		if v.asked(i) {
			continue
		}
		v.Heads = slices.Delete(v.Heads, i, i+1)
		for _, g := range v.Groups {
			for j := range g.Rows {
				g.Rows[j].Numbers = slices.Delete(g.Rows[j].Numbers, i, i+1)
			}
		}
	}
}

func (v *loadView) asked(column int) bool {
	for _, g := range v.Groups {
		for _, r := range g.Rows {
			if !unasked[r.Numbers[column].Reason] {
				return true
			}
		}
	}
	return false
}

func (m pageMaker) cell(name, wl, cell string) *metric.Cell {
	cells := m.rec.Candidates[name].Load[wl].Cells
	for i := range cells {
		if cells[i].Name == cell {
			return &cells[i]
		}
	}
	return nil
}

func loadRowOf(name string, c *metric.Cell, cols []loadColumn) loadRow {
	r := loadRow{
		Candidate: name,
		Requests:  fmt.Sprintf("%s of %s", thousands(c.Completed), thousands(c.Attempted)),
		TTFT50:    numberOf(c.TTFT.P50, c.TTFT.Reason), TTFT95: numberOf(c.TTFT.P95, c.TTFT.Reason),
		Throughput: valueOf(c.ThroughputTokS),
		Stability:  c.Stability, cell: c,
	}
	for _, col := range cols {
		r.Numbers = append(r.Numbers, col.of(c))
	}
	for _, m := range c.Marks() {
		r.Notes = append(r.Notes, m.Code)
	}
	if c.TTFT.Label != "" {
		r.Notes = append(r.Notes, c.TTFT.Label)
	}
	if c.Failed > 0 {
		r.Notes = append(r.Notes, failures(c.Failures, c.Failed))
	}
	return r
}

// failures lists classes with their counts: 3 failed (cut-stream 2, timeout 1).
func failures(classes map[string]int, total int) string {
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		parts = append(parts, fmt.Sprintf("%s %s", class, thousands(classes[class])))
	}
	s := thousands(total) + " failed"
	if len(parts) > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	return s
}

func reasonsOf(groups []loadGroup) []reasonRow {
	codes := map[string]bool{}
	for _, g := range groups {
		for _, r := range g.Rows {
			for _, n := range r.Numbers {
				if n.Reason != "" {
					codes[n.Reason] = true
				}
			}
			if r.cell.TTFT.Label != "" {
				codes[r.cell.TTFT.Label] = true
			}
		}
	}
	var out []reasonRow
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if s := sentences[code]; s != "" {
			out = append(out, reasonRow{code, s})
		}
	}
	return out
}
