package metric

import (
	"cmp"
	"slices"
)

// steadyLeast is how many requests must end in a steady window: of fewer, one
// request's phase decides the rate.
const steadyLeast = 3

// steady is the rate of tokens while every stream was busy, over all trials. A
// trial without such a window leaves the cell without.
func (p *pool) steady() sample {
	if p.o.Concurrency <= 0 {
		return none(OpenLoop)
	}
	tokens, window := 0.0, 0.0
	for i := range p.trials {
		n, ns, why := p.trials[i].steady(p.o.Concurrency)
		if why != "" {
			return none(why)
		}
		tokens += n
		window += seconds(ns)
	}
	return per(tokens, window, ZeroDuration)
}

// steady counts the tokens that arrived in the steady window, and its length.
func (t *Trial) steady(level int) (tokens float64, ns int64, why string) {
	from, to, why := t.Steady(level)
	if why == NoSteadyWindow {
		return 0, 0, why
	}
	tokens, unknown := t.Arrived(from, to)
	return tokens, to - from, cmp.Or(unknown, why)
}

// Steady is the stretch of the cell's clock, in ns since its start, from the first
// to the last moment at which level requests were in flight. It does not count
// when fewer than 3 requests ended in it.
func (t *Trial) Steady(level int) (from, to int64, why string) {
	if from, to = t.full(level); from >= to {
		return 0, 0, NoSteadyWindow
	}
	ended := 0
	for i := range t.Requests {
		if end := t.Requests[i].Dispatched + t.Requests[i].End; end > from && end <= to {
			ended++
		}
	}
	if ended < steadyLeast {
		return from, to, FewCompletions
	}
	return from, to, ""
}

// Arrived counts the output tokens that arrived between two moments of the cell's
// clock, the first outside and the last inside. It returns a reason code where that
// cannot be told.
func (t *Trial) Arrived(from, to int64) (tokens float64, why string) {
	for i := range t.Requests {
		if t.Requests[i].OutputTokens == nil {
			return 0, NoUsage
		}
		why := t.Requests[i].arrivals(func(at int64, n float64) {
			if at > from && at <= to {
				tokens += n
			}
		})
		if why != "" {
			return 0, why
		}
	}
	return tokens, ""
}

// full is the time from the first to the last moment at which level requests
// were in flight; from = to = 0 when that never was. A request that ends at the
// moment at which another is sent has left before it.
func (t *Trial) full(level int) (from, to int64) {
	starts, ends := make([]int64, len(t.Requests)), make([]int64, len(t.Requests))
	for i := range t.Requests {
		starts[i] = t.Requests[i].Dispatched
		ends[i] = t.Requests[i].Dispatched + t.Requests[i].End
	}
	slices.Sort(starts)
	slices.Sort(ends)
	inFlight, i, reached := 0, 0, false
	for _, end := range ends {
		for ; i < len(starts) && starts[i] < end; i++ {
			if inFlight++; inFlight >= level && !reached {
				from, reached = starts[i], true
			}
		}
		if inFlight >= level {
			to = end
		}
		inFlight--
	}
	return from, to
}
