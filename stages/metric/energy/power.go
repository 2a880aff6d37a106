package energy

import (
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// powerCurve integrates instantaneous power by trapezoids. What happened between two
// readings is not known to it: it stands in where there is no counter, and beside
// one, to hold against it.
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
	period := max((looks[len(looks)-1]-looks[0])/int64(len(looks)-1), 1)
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
