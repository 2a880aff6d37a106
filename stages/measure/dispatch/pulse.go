package dispatch

import (
	"slices"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/stages/metric"
)

// The pulse of a cell: how often it looks, from which lag on the client is
// taken not to have run at all, and how many lags it keeps.
const (
	pulseEvery  = 5 * time.Millisecond
	pulseFrozen = 20 * time.Millisecond
	pulseKeeps  = 1 << 16 // 5 minutes; of a longer cell every second, fourth, ... tick is kept
)

// Pulse watches, while a cell runs, how late a timer of this process wakes. It
// costs two hundred wake-ups a second.
type Pulse struct {
	stop chan struct{}
	done sync.WaitGroup
	lags []int64
	sum  metric.Pulse
}

// StartPulse begins to watch.
func StartPulse() *Pulse {
	p := &Pulse{stop: make(chan struct{}), lags: make([]int64, 0, 1024)}
	p.done.Go(p.run)
	return p
}

// run sleeps from one planned instant to the next. The plan is absolute, so a
// late tick does not put off the ones behind it; those that were missed
// altogether are left out, as their lag is part of the one that was late.
func (p *Pulse) run() {
	t := time.NewTimer(pulseEvery)
	defer t.Stop()
	due, every := time.Now().Add(pulseEvery), 1
	for {
		select {
		case <-p.stop:
			return
		case <-t.C:
		}
		now := time.Now()
		every = p.take(max(now.Sub(due), 0), every)
		for !due.After(now) {
			due = due.Add(pulseEvery)
		}
		t.Reset(time.Until(due))
	}
}

// take notes a lag and returns how many ticks stand for one that is kept.
func (p *Pulse) take(lag time.Duration, every int) int {
	p.sum.LagMax = max(p.sum.LagMax, int64(lag))
	if lag > pulseFrozen {
		p.sum.Frozen += int64(lag)
	}
	if p.sum.Ticks++; p.sum.Ticks%every == 0 {
		p.lags = append(p.lags, int64(lag))
	}
	if len(p.lags) < pulseKeeps {
		return every
	}
	for i := range len(p.lags) / 2 {
		p.lags[i] = p.lags[2*i]
	}
	p.lags = p.lags[:len(p.lags)/2]
	return 2 * every
}

// Stop ends the watch and sums it up.
func (p *Pulse) Stop() metric.Pulse {
	close(p.stop)
	p.done.Wait()
	if len(p.lags) == 0 {
		return p.sum
	}
	slices.Sort(p.lags)
	lags := make([]float64, len(p.lags))
	for i, ns := range p.lags {
		lags[i] = float64(ns)
	}
	p.sum.LagP50, p.sum.LagP99 = int64(metric.NearestRank(lags, metric.P50)), int64(metric.NearestRank(lags, metric.P99))
	return p.sum
}
