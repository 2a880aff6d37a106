package measure

import (
	"fmt"
	"slices"
	"time"

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
			u.Cell, u.Trial = o.Name, of[0].head.Trial
			out.Unions = append(out.Unions, u)
		} else {
			doubts = append(doubts, fmt.Sprintf("trial %d has no union: %v", of[0].head.Trial, err))
		}
	}
	all := o
	all.Concurrency *= p.Replicas // streams that are to be busy
	c := noted([]metric.Cell{metric.NewCell(all, trials)}, blocks)[0]
	c.Doubts = append(c.Doubts, doubts...)
	c.Concurrency = o.Concurrency // as the campaign names the cell
	for i := range c.PerTrial {
		c.PerTrial[i].Concurrency = o.Concurrency
		for _, b := range blocks[i*p.Replicas : (i+1)*p.Replicas] {
			mark(o, b, &c, &c.PerTrial[i])
		}
	}
	out.Cells = append(out.Cells, c)
	return nil
}

// clockDomain: the replicas of a cell are clocked by the one client.
const clockDomain = "client"

func unionOf(replicas []measured) (metric.Union, error) {
	var runs []metric.ReplicaRun
	for _, b := range replicas {
		tokens, err := tokensOfAll(b.trial.Requests)
		if err != nil {
			return metric.Union{}, fmt.Errorf("replica %d: %w", b.head.Replica, err)
		}
		start, finish := b.head.StartUnixNS, b.head.StartUnixNS+b.head.WallNS
		runs = append(runs, metric.ReplicaRun{
			StartNS: &start, FinishNS: &finish, StartSec: time.Unix(0, start).Unix(), FinishSec: time.Unix(0, finish).Unix(),
			WallMS: float64(b.head.WallNS) / 1e6, ClockDomain: clockDomain, Tokens: tokens,
		})
	}
	return metric.NewUnion(runs)
}

// tokensOfAll adds up output tokens. A sum over those that completed would be a
// throughput of less work than was asked for.
func tokensOfAll(requests []metric.Request) (sum int64, err error) {
	for i := range requests {
		r := &requests[i]
		if why := r.Outcome(); why != "" {
			return 0, fmt.Errorf("request %d ended as %s", i, why)
		}
		if r.OutputTokens == nil {
			return 0, fmt.Errorf("the engine did not count the output tokens of request %d", i)
		}
		sum += *r.OutputTokens
	}
	return sum, nil
}

// together makes one trial of replicas that ran at the same time: on the clock
// of the first to start, over the union of their windows. What one engine says
// of itself may be lost in what all of them say: see mark.
func together(replicas []measured) metric.Trial {
	first, last := replicas[0].head.StartUnixNS, int64(0)
	for _, b := range replicas {
		first = min(first, b.head.StartUnixNS)
	}
	t := metric.Trial{StartUnixNS: first, Server: servers(replicas), SelfCheck: replicas[0].trial.SelfCheck, CPUNS: replicas[0].trial.CPUNS}
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

// mark sets what one replica by itself is marked with, by its engine's metrics
// or its answers, on the cells that it is a part of.
func mark(o metric.CellOptions, b measured, cells ...*metric.Cell) {
	one := metric.NewCell(o, []metric.Trial{b.trial})
	for _, c := range cells {
		c.WarmCache, c.UsageOff = c.WarmCache || one.WarmCache, c.UsageOff || one.UsageOff
		if one.WarmCache {
			c.Doubts = append(c.Doubts, b.says(fmt.Sprintf("warm-cache: %.3g %% of its prompt tokens came from a cache", 100*largest(one.CachedShare, one.ServerPrefixHits))))
		}
		if one.UsageOff {
			c.Doubts = append(c.Doubts, b.says(fmt.Sprintf("usage-off: the client counted %.4g of the output tokens that its engine's own metrics did", largest(one.UsageRatio))))
		}
	}
}

func largest(of ...metric.Value) (most float64) {
	for _, v := range of {
		if v.Value != nil {
			most = max(most, *v.Value)
		}
	}
	return most
}
