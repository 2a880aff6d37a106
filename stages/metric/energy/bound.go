package energy

import "github.com/cupel-dev/cupel/stages/metric"

const (
	// longStep is how many periods a step must be long to be held for more than one.
	longStep = 1.5
	// stepsBeside is how many steps on either side of an end tell how far the power
	// may have moved in it: the one beside it may hold a part of the same edge, the
	// next one does not.
	stepsBeside = 2
)

// bound is how far the energy of stretches may be off, by its causes: as a time at the
// mean power, and in J.
type bound struct {
	ns, gapNS, clockNS float64
	j, gapJ, clockJ    float64
}

func (b *bound) add(o bound) {
	b.ns, b.gapNS, b.clockNS = b.ns+o.ns, b.gapNS+o.gapNS, b.clockNS+o.clockNS
	b.j, b.gapJ, b.clockJ = b.j+o.j, b.gapJ+o.gapJ, b.clockJ+o.clockJ
}

// bound of a stretch, whose ends are off by no more than off ns of the clock.
//
// Each end lies somewhere within a step whose energy is known and whose course is not.
// A straight line through a step of P s is off by at most P (a - m)(m - b) / (a - b) J
// where the power is between a and b and its mean is m, and so by at most P (a - b) / 4.
// a and b are those of the steps around the end: what moves faster is not seen in them,
// and for that the time counts, half a period of the mean power for both ends.
//
// A counter that is read where it stands lags by up to a period, at either end by its
// own: they are off by a period more.
func (c *curve) bound(s span, off int64) bound {
	from, to := c.end(s.from, off), c.end(s.to, off)
	period, high := float64(c.period), max(from.high, to.high)
	b := bound{ns: period / 2, clockNS: 2 * float64(off), clockJ: seconds(off) * (from.high + to.high)}
	b.gapNS = (max(float64(c.reach(s)), (from.ns+to.ns)/2) - period) / 2
	if c.w != nil {
		b.j, b.gapJ = c.upTo(c.moved, s.to)-c.upTo(c.moved, s.from), c.upTo(c.unseen, s.to)-c.upTo(c.unseen, s.from)
		return b
	}
	b.j = period / 1e9 * (from.swing() + to.swing()) / 4
	b.gapJ = ((from.ns-period)*from.swing() + (to.ns-period)*to.swing()) / 1e9 / 4
	if c.lags {
		b.ns += period
		b.j += period / 1e9 * high
	}
	return b
}

// end is what is around one end of a stretch.
type end struct {
	ns        float64 // a period, or the step that it lies in where that is longer
	high, low float64 // W, of the steps around
}

func (e end) swing() float64 { return e.high - e.low }

// end of a stretch at t, or up to off ns beside it.
func (c *curve) end(t, off int64) end {
	e := end{ns: float64(c.period)}
	n := len(c.t)
	if n < 2 {
		return e
	}
	if i := c.before(t); i >= 0 && i+1 < n && c.t[i] < t {
		if step := float64(c.t[i+1] - c.t[i]); step > longStep*e.ns {
			e.ns = step
		}
	}
	off = min(off, c.t[n-1]-c.t[0])
	first := min(max(c.before(t-off)-stepsBeside, 0), n-2)
	last := min(c.before(t+off)+stepsBeside, n-2)
	for k := first; k <= max(first, last); k++ {
		w := (c.e[k+1] - c.e[k]) / seconds(c.t[k+1]-c.t[k])
		if k == first {
			e.high, e.low = w, w
		}
		e.high, e.low = max(e.high, w), min(e.low, w)
	}
	return e
}

// upTo is a sum over the steps up to a moment.
func (c *curve) upTo(sums []float64, t int64) float64 {
	i := c.before(t)
	switch {
	case i < 0 || len(sums) == 0:
		return 0
	case i >= len(sums)-1:
		return sums[len(sums)-1]
	}
	return sums[i] + (sums[i+1]-sums[i])*(seconds(t-c.t[i])/seconds(c.t[i+1]-c.t[i]))
}

// causes of what an energy may be off by, in percent of it.
type causes struct{ published, gaps, clocks float64 }

func (c causes) pct() float64 { return c.published + c.gaps + c.clocks }

// why is the reason code of the largest.
func (c causes) why() string {
	switch {
	case c.clocks >= max(c.published, c.gaps):
		return metric.ClockOffsetTooLarge
	case c.gaps > c.published:
		return metric.SamplingGap
	}
	return metric.PublicationCoarse
}
