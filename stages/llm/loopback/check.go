package loopback

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
)

// LeastStreams is how many streams a check uses at least: the events of one
// stream would be too few to judge by.
const LeastStreams = 8

// MaxStreams is how many streams a check uses at most: it is to look at the
// machine, not to exhaust it.
const MaxStreams = 256

// early is how far an event may seem to be read before it was written. A wall
// clock and the monotonic clock beside it are read one after the other, and a
// busy machine may stop the thread in between.
const early = time.Millisecond

// errClock marks stamps that cannot be compared.
var errClock = errors.New("the clock was set meanwhile")

// Check reads the server at url with the probe's concurrency, at most
// [MaxStreams] of it and, where the number of requests is left open, at least
// [LeastStreams], and returns what the client added. With the schedule
// [CheckSchedule] it takes a third of a second.
func Check(ctx context.Context, url string, p Probe) (metric.SelfCheck, error) {
	reduced := p.Concurrency > MaxStreams
	if p.Concurrency > 0 && p.Requests == 0 {
		p.Concurrency = max(p.Concurrency, LeastStreams)
	}
	p.Concurrency = min(p.Concurrency, MaxStreams)
	r, err := Read(ctx, url, p)
	if err != nil {
		return metric.SelfCheck{}, fmt.Errorf("self-check: %w", err)
	}
	c, err := r.SelfCheck()
	if err != nil {
		return metric.SelfCheck{}, fmt.Errorf("self-check: %w", err)
	}
	c.Reduced = reduced
	return c, nil
}

// SelfCheck sums a reading up. A full-speed one has no lags, which is an error.
func (r Reading) SelfCheck() (metric.SelfCheck, error) {
	if len(r.Lags) == 0 || len(r.TTFT) == 0 {
		return metric.SelfCheck{}, errors.New("the server keeps no schedule: there is nothing to compare with")
	}
	lags := make([]float64, len(r.Lags))
	for i, ns := range r.Lags {
		lags[i] = float64(ns)
	}
	slices.Sort(lags)
	c := metric.SelfCheck{
		Concurrency: r.Concurrency, Events: r.Events,
		LagP50:       int64(metric.NearestRank(lags, metric.P50)),
		LagP95:       int64(metric.NearestRank(lags, metric.P95)),
		LagP99:       int64(metric.NearestRank(lags, metric.P99)),
		LagMax:       int64(lags[len(lags)-1]),
		TTFTExcess:   int64(mean(r.TTFT)) - r.Server.FirstMean,
		CPUPerEvent:  -1,
		ServerLagP99: r.Server.LagP99,
	}
	if r.CPU >= 0 {
		c.CPUPerEvent = r.CPU / int64(r.Events)
	}
	return c, nil
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// lagOf is how long after event i was written the client stamped it, with at
// the client's stamp as a wall clock. Both are clocks of this host, one read at
// the write and one carried on from the dispatch; they disagree when the clock
// was set meanwhile. An event is written no sooner after its request's dispatch
// than planned, and before it is read: anything else is an error, not a lag.
func lagOf(r *llm.Response, i int, s Schedule, at int64) (int64, error) {
	text := r.Text[i*s.width():][:stampLen]
	wrote, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("event %d: %q is not a clock: not a loopback server", i+1, text)
	}
	lag, over := at-wrote, wrote-s.planned(r.Times.StartUnixNS, i)
	if lag < -int64(early) || over < -int64(early) {
		return 0, step.WithHint(fmt.Errorf("event %d: written %s after the soonest possible and read %s after that: %w",
			i+1, time.Duration(over), time.Duration(lag), errClock), "run again; see whether the clock is being synchronised in steps")
	}
	return max(lag, 0), nil
}
