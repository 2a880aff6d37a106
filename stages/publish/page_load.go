package publish

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
)

// loadView is one capacity workload.
type loadView struct {
	Workload, Protocol string
	Groups             []loadGroup
	Reasons            []reasonRow // codes that occur in the table, explained once
	Throughput         lineChart
	TTFT               barChart
}

// reasonRow explains a code that stands in a table.
type reasonRow struct{ Code, Sentence string }

// loadGroup is one concurrency, one row per candidate.
type loadGroup struct {
	Concurrency int
	Rows        []loadRow
}

type loadRow struct {
	Candidate                           string
	Requests                            string
	TTFT50, TTFT95, TPOT50, E2E95, Rate number
	Throughput                          number
	Stability                           string
	Notes                               []string
	cell                                *metric.Cell
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
	at := map[int]bool{}
	for _, name := range m.names {
		l := m.rec.Candidates[name].Load[wl]
		if l.Protocol != "" {
			v.Protocol = l.Protocol
		}
		for _, c := range l.Cells {
			at[c.Concurrency] = true
		}
	}
	for _, n := range slices.Sorted(maps.Keys(at)) {
		g := loadGroup{Concurrency: n}
		for _, name := range m.names {
			if c := m.cell(name, wl, n); c != nil {
				g.Rows = append(g.Rows, loadRowOf(name, c))
			}
		}
		v.Groups = append(v.Groups, g)
	}
	v.Reasons = reasonsOf(v.Groups)
	series := m.series(wl)
	v.Throughput = throughputChart(v.Groups, series)
	v.TTFT = ttftChart(v.Groups, series)
	return v
}

func (m pageMaker) cell(name, wl string, concurrency int) *metric.Cell {
	cells := m.rec.Candidates[name].Load[wl].Cells
	for i := range cells {
		if cells[i].Concurrency == concurrency {
			return &cells[i]
		}
	}
	return nil
}

func loadRowOf(name string, c *metric.Cell) loadRow {
	r := loadRow{
		Candidate: name,
		Requests:  fmt.Sprintf("%s of %s", thousands(c.Completed), thousands(c.Attempted)),
		TTFT50:    numberOf(c.TTFT.P50, c.TTFT.Reason), TTFT95: numberOf(c.TTFT.P95, c.TTFT.Reason),
		TPOT50: numberOf(c.TPOT.P50, c.TPOT.Reason), E2E95: numberOf(c.E2E.P95, c.E2E.Reason),
		Throughput: valueOf(c.ThroughputTokS), Rate: valueOf(c.RequestRate),
		Stability: c.Stability, cell: c,
	}
	if c.ClientBound {
		r.Notes = append(r.Notes, "client-bound")
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
			for _, n := range []number{r.TTFT50, r.TTFT95, r.TPOT50, r.E2E95, r.Rate, r.Throughput} {
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
