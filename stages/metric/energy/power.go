package energy

import (
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// powerCurve integrates instantaneous power by trapezoids. What happened between two
// readings is not known to it: it stands in where there is no counter, with the bound of
// doubt, and beside one, to hold against it.
func powerCurve(samples []trace.Sample, c trace.Channel, ceiling float64) *curve {
	unit := trace.Units[c.Unit]
	out := &curve{w: []float64{}}
	var looks []span
	var changes []int64
	for _, s := range samples {
		if s.E != "" {
			continue
		}
		out.looks++
		n := len(out.t)
		if n > 0 {
			looks = append(looks, span{out.t[n-1], s.T})
			if s.T == out.t[n-1] {
				continue // two readings at one moment: the first counts
			}
		}
		w := float64(s.V) * unit
		if w < 0 || w > ceiling {
			from := s.T
			if n > 0 {
				from = out.t[n-1]
			}
			out.breaks = append(out.breaks, broken{span{from, s.T + 1}, metric.Implausible})
			w = 0
		}
		j := 0.0
		if n > 0 {
			j = out.e[n-1] + seconds(s.T-out.t[n-1])*(w+out.w[n-1])/2
			if w != out.w[n-1] {
				changes = append(changes, s.T)
			}
		}
		out.t, out.e, out.w = append(out.t, s.T), append(out.e, j), append(out.w, w)
	}
	if len(out.t) < 2 {
		out.why = metric.NotBracketed
		return out
	}
	out.period = powerPeriod(out.t, changes)
	out.findGaps(looks)
	return out
}

// powerPeriod is how often a power has news, in ns: at most at every look. A power
// that stays the same shows no news, so that the rarer changes say nothing.
func powerPeriod(looks, changes []int64) int64 {
	period := lookPeriod(looks)
	if len(changes) < 2 {
		return period
	}
	apart := make([]int64, 0, len(changes)-1)
	for i := 1; i < len(changes); i++ {
		apart = append(apart, changes[i]-changes[i-1])
	}
	slices.Sort(apart)
	return max(period, apart[len(apart)/4])
}

// lookPeriod is the median time between looks, in ns: gaps do not make it longer.
func lookPeriod(looks []int64) int64 {
	apart := make([]int64, 0, len(looks)-1)
	for i := 1; i < len(looks); i++ {
		apart = append(apart, looks[i]-looks[i-1])
	}
	slices.Sort(apart)
	return max(apart[len(apart)/2], 1)
}

// unseenFor is how many times the usual time may pass between two readings: one that
// came late or failed, but not two.
const unseenFor = 2.5

// doubt adds up what the steps of a power may be off by. most is in W what its device
// can draw.
//
// Where one reading is a W and the next b, and the power changed once between them, the
// trapezoid is off by at most half of dt (a - b). It may also have gone there and back
// between two readings that are equal, and it is taken to have done that, for half of
// the time, where those beside them say how far it moves: a and b are the extremes from
// a period before to a period after, and of one reading before and one after at least.
// Steps that are off in either direction average out; nothing promises that they do, as
// a load may be in step with the looks, so that the bounds add up.
//
// Of a gap the readings beside it tell nothing: a reading may fail because the device
// is busy. Anything that it can draw is possible in it.
func (c *curve) doubt(most float64) {
	n := len(c.t)
	if c.w == nil || n < 2 {
		return
	}
	least, largest := newExtremes(n), newExtremes(n)
	for i, w := range c.w {
		least.of[0][i], largest.of[0][i] = w, -w
	}
	least.fill()
	largest.fill()
	usual := float64(lookPeriod(c.t))
	c.moved, c.unseen = make([]float64, n), make([]float64, n)
	from, to := 0, 0
	for i := range n - 1 {
		for c.t[from] < c.t[i]-c.period {
			from++
		}
		for to < n && c.t[to] <= c.t[i+1]+c.period {
			to++
		}
		dt, mean := c.t[i+1]-c.t[i], (c.w[i]+c.w[i+1])/2
		c.moved[i+1], c.unseen[i+1] = c.moved[i], c.unseen[i]
		if float64(dt) > unseenFor*usual {
			c.unseen[i+1] += seconds(dt) * max(most-mean, mean)
			continue
		}
		a, b := min(from, max(i-1, 0)), max(to, min(i+3, n))
		c.moved[i+1] += seconds(dt) * (-largest.least(a, b) - least.least(a, b)) / 2
	}
}
