package measure

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure/arrival"
	"github.com/cupel-dev/cupel/stages/metric"
)

// search goes the way of the search again, over what was measured, and pools
// the trials at the answer.
func (p *metricsParams) search(blocks []measured, o metric.CellOptions, out *evidence.LoadMetrics) error {
	probes, err := arrival.NewBisection(*p.Search)
	if err != nil {
		return err
	}
	way := searchWay{Bisection: probes}
	for i, b := range blocks {
		at, trial, done := way.Next()
		if done || b.head.Probe == nil || *b.head.Probe != at {
			return fmt.Errorf("block %d: the search would not have looked there", i)
		}
		probe := look(p.Search, p.Protocol, b.head, b.trial)
		probe.Trial = trial
		out.Probes = append(out.Probes, probe)
		way.tell(probe)
	}
	if _, _, done := way.Next(); !done {
		return fmt.Errorf("the search was not at its end after %d blocks", len(blocks))
	}
	found := way.Result()
	out.Cells = append(out.Cells, p.best(found, blocks, out.Probes, o))
	return nil
}

// best is the cell of what a search found: its probes at the answer.
func (p *metricsParams) best(found arrival.Found, blocks []measured, probes []metric.Probe, o metric.CellOptions) metric.Cell {
	var at []measured
	answer := metric.Null(found.Why, "req/s")
	if found.At != nil && found.Confirmed {
		answer = metric.Of(*found.At, "req/s")
		for i, probe := range probes {
			if probe.At == *found.At && probe.Why != clientBound && probe.Why != offRate {
				at = append(at, blocks[i])
			}
		}
	} else if found.At == nil && limitedByClient(probes) {
		answer = metric.Null(metric.ClientLimited, "req/s")
	}
	overRate := p.Search.Over == "rate"
	if len(at) > 0 {
		o.Concurrency, o.Rate = at[0].head.Concurrency, 0
		if overRate {
			o.Rate = *found.At
		}
	}
	c := noted([]metric.Cell{metric.NewCell(o, trialsOf(at))}, at)[0]
	if overRate {
		c.MaxRate = realRate(answer, at)
	} else {
		answer.Unit = c.MaxConcurrency.Unit
		c.MaxConcurrency = answer
	}
	c.LowerBound = found.AtLeast
	if found.AtLeast {
		c.Doubts = append(c.Doubts, fmt.Sprintf("the upper end of the search, %v, held too: the answer is a lower bound", p.Search.High))
	}
	lowered(&c, probes)
	return c
}

// lowered marks an answer that the client, and not the engine, may have ended:
// a probe failed because of it as often as it was made.
func lowered(c *metric.Cell, probes []metric.Probe) {
	for i, probe := range probes {
		last := i+1 == len(probes) || probes[i+1].At != probe.At || probes[i+1].Trial != probe.Trial
		if last && (probe.Why == clientBound || probe.Why == offRate) {
			c.LowerBound = true
			c.Doubts = append(c.Doubts, fmt.Sprintf("the probe at %.4g failed because of the client (%s): the answer is a lower bound", probe.At, probe.Why))
		}
	}
}

// limitedByClient reports whether the lower end itself failed because of the
// client.
func limitedByClient(probes []metric.Probe) bool {
	if len(probes) == 0 {
		return false
	}
	why := probes[len(probes)-1].Why
	return why == clientBound || why == offRate
}

// realRate is the rate that the trials at the answer really offered: a drawn
// schedule has not exactly as many requests as its rate says.
func realRate(answer metric.Value, at []measured) metric.Value {
	requests, window := 0, int64(0)
	for _, b := range at {
		if a := b.head.Arrivals; a != nil {
			requests, window = requests+a.Planned, window+a.WindowNS
		}
	}
	if answer.Value == nil || window <= 0 {
		return answer
	}
	return metric.Of(float64(requests)/(float64(window)/1e9), answer.Unit)
}
