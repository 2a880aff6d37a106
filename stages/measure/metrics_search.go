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
	way, err := arrival.NewBisection(*p.Search)
	if err != nil {
		return err
	}
	for i, b := range blocks {
		at, trial, done := way.Next()
		if done || b.head.Probe == nil || *b.head.Probe != at {
			return fmt.Errorf("block %d: the search would not have looked there", i)
		}
		probe := look(p.Search, b.head, b.trial)
		probe.Trial = trial
		out.Probes = append(out.Probes, probe)
		way.Tell(probe.Holds)
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
			if probe.At == *found.At {
				at = append(at, blocks[i])
			}
		}
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
		c.MaxRate = answer
	} else {
		answer.Unit = c.MaxConcurrency.Unit
		c.MaxConcurrency = answer
	}
	if found.AtLeast {
		c.Doubts = append(c.Doubts, fmt.Sprintf("the upper end of the search, %v, held too: the answer is a lower bound", p.Search.High))
	}
	for _, probe := range probes {
		if probe.Why == clientBound || probe.Why == offRate {
			c.Doubts = append(c.Doubts, fmt.Sprintf("the probe at %v failed because of the client (%s): the answer is a lower bound", probe.At, probe.Why))
		}
	}
	return c
}
