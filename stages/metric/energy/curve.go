package energy

import (
	"slices"
	"sort"

	"github.com/cupel-dev/cupel/stages/metric"
)

// span is a stretch of the trace's clock, ns.
type span struct{ from, to int64 }

func (s span) ns() int64            { return s.to - s.from }
func (s span) overlaps(o span) bool { return s.from < o.to && o.from < s.to }

// curve is the energy that one channel counted, as a monotone function of the
// trace's clock. Between two knots it is a straight line, or a parabola where the
// channel is a power.
//
// A knot of a counter is a change of it, at the moment at which it is taken to have
// been published: see placed. A counter that changes at every look changes more often
// than that, and its value is that of the moment of the look.
type curve struct {
	t []int64   // of the knots, ascending
	e []float64 // J at them, since the first
	w []float64 // W at them, of a power; nil of a counter

	moved  []float64 // J at the knots of a power: what the steps so far may be off by
	unseen []float64 // likewise, of those in which nobody looked

	breaks []broken // between which two knots nothing can be said
	still  []span   // longer than stillFor periods without a change
	gaps   []span   // between two looks, longer than gapFor periods
	period int64    // ns between two changes, mean
	lags   bool     // a knot is a look, and the value is of up to a period before
	looks  int
	why    string // reason code: there is no curve at all
}

// broken is a stretch over which the counter does not tell.
type broken struct {
	span
	why string
}

const (
	// stillFor is for how many periods a counter may stand still: one that does not
	// change for longer is not published any more, or does not count.
	stillFor = 5
	// gapFor is how many periods may lie between two looks before that is worth
	// remembering.
	gapFor = 2
)

// joules between the ends of a window, or the reason why that is not known.
func (c *curve) joules(s span) num {
	if c.why != "" {
		return none(c.why)
	}
	if why := c.refuses(s); why != "" {
		return none(why)
	}
	return have(max(c.at(s.to)-c.at(s.from), 0))
}

// refuses is why the curve says nothing of a window.
func (c *curve) refuses(s span) string {
	n := len(c.t)
	i, j := c.before(s.from), c.after(s.to)
	around := s
	if i >= 0 {
		around.from = c.t[i]
	}
	if j < n {
		around.to = c.t[j]
	}
	for _, b := range c.breaks {
		if b.overlaps(around) {
			return b.why
		}
	}
	for _, q := range c.still {
		if q.overlaps(s) {
			return metric.CounterFrozen
		}
	}
	if i < 0 || j >= n || s.from > s.to {
		return metric.NotBracketed
	}
	return ""
}

// before is the last knot at or before t, -1 = there is none.
func (c *curve) before(t int64) int {
	return sort.Search(len(c.t), func(i int) bool { return c.t[i] > t }) - 1
}

// after is the first knot at or after t, len(c.t) = there is none.
func (c *curve) after(t int64) int {
	i, _ := slices.BinarySearch(c.t, t)
	return i
}

// at is the energy at a moment between the first and the last knot.
func (c *curve) at(t int64) float64 {
	i := c.before(t)
	if i == len(c.t)-1 || c.t[i] == t {
		return c.e[i]
	}
	dt, whole := seconds(t-c.t[i]), seconds(c.t[i+1]-c.t[i])
	if c.w == nil {
		return c.e[i] + (c.e[i+1]-c.e[i])*(dt/whole)
	}
	return c.e[i] + dt*(c.w[i]+(c.w[i+1]-c.w[i])*(dt/whole)/2)
}

// reach is how long the ends of a window are uncertain: a period, or the longest
// time in the window in which nobody looked.
func (c *curve) reach(s span) int64 {
	longest := c.period
	for _, g := range c.gaps {
		if g.overlaps(s) {
			longest = max(longest, g.ns())
		}
	}
	return longest
}
