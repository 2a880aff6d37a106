package energy

import (
	"cmp"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
)

// asTrial is the trial as the metrics of a load see it.
func (t *Trial) asTrial() metric.Trial {
	return metric.Trial{Requests: t.Requests, WallNS: t.WallNS, Planned: t.Planned, Unsent: t.Unsent}
}

// undivided is why the trial has nothing per token.
func (t *Trial) undivided() string { return metric.Undivided([]metric.Trial{t.asTrial()}) }

// incomplete is why the windows of single requests are not those of all of them.
func (t *Trial) incomplete() string {
	if why := t.undivided(); why != metric.NoUsage {
		return why
	}
	return ""
}

// whole is from the first dispatch to the last end, ns of the cell's clock. A request
// that never ended lasted until the pool did.
func (t *Trial) whole() (from, to int64) {
	for i := range t.Requests {
		r := &t.Requests[i]
		end := r.Dispatched + r.End
		if r.End < 0 {
			end = max(t.WallNS, r.Dispatched)
		}
		if i == 0 {
			from, to = r.Dispatched, end
		}
		from, to = min(from, r.Dispatched), max(to, end)
	}
	return from, to
}

// spans are the stretches of a window, on the cell's clock and in order of time.
func (t *Trial) spans(w Window, streams int) ([]span, string) {
	if len(t.Requests) == 0 {
		return nil, metric.NoRequests
	}
	if !t.timely() {
		return nil, metric.InconsistentTime
	}
	switch w {
	case Whole:
		from, to := t.whole()
		return positive([]span{{from, to}})
	case Steady:
		return t.steady(streams)
	}
	return t.single(w)
}

// longestNS bounds the times of a cell, so that sums of a few are numbers: 31 years.
const longestNS = 1e18

// timely reports whether the times are such that sums of them are numbers.
func (t *Trial) timely() bool {
	for i := range t.Requests {
		r := &t.Requests[i]
		for _, ns := range []int64{r.Dispatched, r.End, r.FirstOutput} {
			if ns < -1 || ns > longestNS {
				return false
			}
		}
	}
	return t.WallNS <= longestNS
}

func (t *Trial) steady(streams int) ([]span, string) {
	if streams <= 0 {
		return nil, metric.OpenLoop
	}
	if why := t.incomplete(); why != "" {
		return nil, why
	}
	m := t.asTrial()
	from, to, why := m.Steady(streams)
	if why != "" {
		return nil, why
	}
	return positive([]span{{from, to}})
}

// single are the windows of the requests, which must follow one another.
func (t *Trial) single(w Window) ([]span, string) {
	if why := t.incomplete(); why != "" {
		return nil, why
	}
	turns := t.turns()
	for i := 1; i < len(turns); i++ {
		if turns[i].Dispatched < turns[i-1].Dispatched+turns[i-1].End {
			return nil, metric.Overlapping
		}
	}
	spans := make([]span, len(turns))
	for i, r := range turns {
		if w != Request && r.Unstreamed {
			return nil, metric.NotStreamed
		}
		if w != Request && r.FirstOutput < 0 {
			return nil, metric.NoOutput
		}
		spans[i] = r.span(w)
	}
	return positive(spans)
}

// turns are the requests in order of their dispatch.
func (t *Trial) turns() []turn {
	out := make([]turn, len(t.Requests))
	for i := range t.Requests {
		out[i] = turn{&t.Requests[i]}
	}
	slices.SortStableFunc(out, func(a, b turn) int { return cmp.Compare(a.Dispatched, b.Dispatched) })
	return out
}

type turn struct{ *metric.Request }

func (r turn) span(w Window) span {
	s := span{r.Dispatched, r.Dispatched + r.End}
	switch w {
	case Prefill:
		s.to = r.Dispatched + r.FirstOutput
	case Decode:
		s.from = r.Dispatched + r.FirstOutput
	}
	return s
}

func positive(spans []span) ([]span, string) {
	for _, s := range spans {
		if s.ns() <= 0 {
			return nil, metric.ZeroDuration
		}
	}
	return spans, ""
}

func total(spans []span) (ns int64) {
	for _, s := range spans {
		ns += s.ns()
	}
	return ns
}

// counts are what a window's joules are divided by.
type counts struct{ requests, output, intervals, all num }

// counted are the denominators of a window. They are the engine's own, and there are
// none when a request did not complete.
func (t *Trial) counted(w Window, spans []span) counts {
	if why := t.undivided(); why != "" {
		n := none(why)
		if why == metric.NoUsage {
			return counts{have(float64(len(t.Requests))), n, n, n}.only(w)
		}
		return counts{n, n, n, n}
	}
	if w == Steady {
		m := t.asTrial()
		n, why := m.Arrived(spans[0].from, spans[0].to)
		out := num{v: n, why: why}
		return counts{none(metric.PartialRequests), out, none(metric.DecodeOnly), none(metric.PartialRequests)}
	}
	c := counts{requests: have(float64(len(t.Requests)))}
	for i := range t.Requests {
		c.add(&t.Requests[i])
	}
	return c.only(w)
}

func (c *counts) add(r *metric.Request) {
	n := float64(*r.OutputTokens)
	c.output = sum([]num{c.output, have(n)})
	if n < 1 {
		c.intervals = none(metric.NoOutput)
	}
	c.intervals = sum([]num{c.intervals, have(n - 1)})
	if r.PromptTokens == nil || *r.PromptTokens < 0 {
		c.all = none(metric.NoUsage)
		return
	}
	c.all = sum([]num{c.all, have(n + float64(*r.PromptTokens))})
}

// only leaves the intervals between tokens to the window that they are in.
func (c counts) only(w Window) counts {
	if w == Steady {
		c.requests, c.all = none(metric.PartialRequests), none(metric.PartialRequests)
	}
	if w != Decode {
		c.intervals = none(metric.DecodeOnly)
	}
	return c
}
