package publish

import (
	"github.com/cupel-dev/cupel/stages/metric"
)

const (
	acrossLoad    = "requests in flight, or a second (cells, not to scale)"
	acrossLengths = "prompt tokens asked for (not to scale)"
)

func goodput(c *metric.Cell) metric.Value { return c.Goodput }

// medianTTFT is a distribution's middle as a value.
func medianTTFT(c *metric.Cell) metric.Value {
	return metric.Value{Value: c.TTFT.P50, Unit: c.TTFT.Unit, Reason: c.TTFT.Reason}
}

// prefillRate is the middle of the effective prefill rate.
func prefillRate(c *metric.Cell) metric.Value {
	return metric.Value{Value: c.EffectivePrefill.P50, Unit: c.EffectivePrefill.Unit, Reason: c.EffectivePrefill.Reason}
}

var (
	overThroughput = curve{"Throughput by cell, output tok/s", "tok/s", acrossLoad, throughput, throughputSpread}
	overGoodput    = curve{"Goodput by cell, requests/s that met the SLO", "req/s", acrossLoad, goodput, noSpread}
	overLadder     = curve{"TTFT p50 by prompt length, ms", "ms", acrossLengths, medianTTFT, noSpread}
	overPrefill    = curve{"Effective prefill p50 by prompt length, tok/s", "tok/s", acrossLengths, prefillRate, noSpread}
	overNeedles    = curve{"Needles found by prompt length, share", "", acrossLengths, passRate, noSpread}
)

// curvesOf are what is drawn over the cells of each kind of workload.
var curvesOf = map[string][]curve{
	"":             {overThroughput, overGoodput},
	"capacity":     {overThroughput, overGoodput},
	"open-loop":    {overThroughput, overGoodput},
	"decode":       {overThroughput},
	"replicas":     {overThroughput},
	"energy":       {overThroughput},
	"prefix-burst": {overThroughput},
	"ladder":       {overLadder, overPrefill, overNeedles},
}

// lineCharts are the curves of a workload that has several cells. One that
// nobody asked for, such as goodput without an SLO, is left out.
func lineCharts(kind string, groups []loadGroup, all []series) (out []lineChart) {
	if len(groups) < 2 {
		return nil
	}
	for _, c := range curvesOf[kind] {
		if asked(c, groups) {
			out = append(out, chartOf(c, groups, all))
		}
	}
	return out
}

func asked(c curve, groups []loadGroup) bool {
	for _, g := range groups {
		for _, r := range g.Rows {
			if v := c.of(r.cell); v.Value != nil || !unasked[v.Reason] {
				return true
			}
		}
	}
	return false
}

// contextChart is the share of right answers over context lengths.
func (m pageMaker) contextChart(wl string, all []series) *lineChart {
	var groups []loadGroup
	at := map[int]int{}
	for _, s := range all {
		c := m.rec.Candidates[s.Name].Load[wl].Curve
		if c == nil {
			continue
		}
		for _, p := range c.Points {
			i, ok := at[p.Tokens]
			if !ok {
				i = len(groups)
				at[p.Tokens] = i
				groups = append(groups, loadGroup{Cell: thousands(p.Tokens)})
			}
			cell := metric.Cell{PassRate: metric.Null(metric.NoRequests, "share")}
			if p.Attempted > 0 {
				share := float64(p.Passed) / float64(p.Attempted)
				cell.PassRate = metric.Value{Value: &share, Unit: "share"}
			}
			groups[i].Rows = append(groups[i].Rows, loadRow{Candidate: s.Name, cell: &cell})
		}
	}
	if len(groups) < 2 {
		return nil
	}
	ch := chartOf(curve{"Right answers by context length, share", "", "context tokens (not to scale)", passRate, noSpread}, groups, all)
	return &ch
}
