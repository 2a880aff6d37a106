package measure

import (
	"fmt"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// union adds up the replicas of each trial over the union of their wall times.
func (p *metricsParams) union(blocks []measured, o metric.CellOptions, out *evidence.LoadMetrics) error {
	var trials []metric.Trial
	var doubts []string
	for of := range slices.Chunk(blocks, p.Replicas) {
		for i, b := range of {
			if b.head.Replica != i+1 {
				return fmt.Errorf("block %d is of replica %d", i, b.head.Replica)
			}
		}
		trials = append(trials, together(of))
		if u, err := unionOf(of); err == nil {
			out.Unions = append(out.Unions, u)
		} else {
			doubts = append(doubts, fmt.Sprintf("trial %d has no union: %v", of[0].head.Trial, err))
		}
	}
	each := o.Concurrency
	o.Concurrency *= p.Replicas // streams that are to be busy
	c := noted([]metric.Cell{metric.NewCell(o, trials)}, blocks)[0]
	c.Doubts = append(c.Doubts, doubts...)
	c.Concurrency = each // as the campaign names the cell
	for i := range c.PerTrial {
		c.PerTrial[i].Concurrency = each
	}
	out.Cells = append(out.Cells, c)
	return nil
}

// clockDomain: the replicas of a cell are clocked by the one client.
const clockDomain = "client"

func unionOf(replicas []measured) (metric.Union, error) {
	var runs []metric.ReplicaRun
	for _, b := range replicas {
		start, finish := b.head.StartUnixNS, b.head.StartUnixNS+b.head.WallNS
		run := metric.ReplicaRun{
			StartNS: &start, FinishNS: &finish, StartSec: floorSecond(start), FinishSec: floorSecond(finish),
			WallMS: float64(b.head.WallNS) / 1e6, ClockDomain: clockDomain,
		}
		for _, r := range b.trial.Requests {
			if r.OutputTokens != nil {
				run.Tokens += *r.OutputTokens
			}
		}
		runs = append(runs, run)
	}
	return metric.NewUnion(runs)
}

func floorSecond(ns int64) int64 {
	s := ns / 1e9
	if ns%1e9 < 0 {
		s--
	}
	return s
}

// together makes one trial of replicas that ran at the same time: on the clock
// of the first to start, over the union of their windows.
func together(replicas []measured) metric.Trial {
	first, last := replicas[0].head.StartUnixNS, int64(0)
	for _, b := range replicas {
		first = min(first, b.head.StartUnixNS)
	}
	t := metric.Trial{SelfCheck: replicas[0].trial.SelfCheck, CPUNS: replicas[0].trial.CPUNS}
	for _, b := range replicas {
		late := b.head.StartUnixNS - first
		last = max(last, late+b.head.WallNS)
		for _, r := range b.trial.Requests {
			r.Dispatched += late
			t.Requests = append(t.Requests, r)
		}
		t.MaxInFlight += b.trial.MaxInFlight
		t.InFlightNS += b.trial.InFlightNS
		t.CPUNS = max(t.CPUNS, b.trial.CPUNS) // of one and the same process
	}
	t.WallNS = last
	return t
}
