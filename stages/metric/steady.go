package metric

import "slices"

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
// The start is outside, the end inside.
func (t *Trial) steady(level int) (tokens float64, ns int64, why string) {
	from, to := t.full(level)
	if from >= to {
		return 0, 0, NoSteadyWindow
	}
	ended := 0
	for i := range t.Requests {
		r := &t.Requests[i]
		if end := r.Dispatched + r.End; end > from && end <= to {
			ended++
		}
		why := r.arrivals(func(at int64, n float64) {
			if at > from && at <= to {
				tokens += n
			}
		})
		if why != "" {
			return 0, 0, why
		}
	}
	if ended < steadyLeast {
		return 0, 0, FewCompletions
	}
	return tokens, to - from, ""
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
