package energy

import (
	"github.com/cupel-dev/cupel/stages/metric"
)

const (
	crossMost   = 0.05 // a counter and the integral of the power beside it
	crossWindow = 50   // periods that a window must be long for that: a shorter one's ends decide
	limitMost   = 1.2  // of the enforced power limit
	limitLeast  = 0.01 // of it: no GPU that is on draws so little
	idleLeast   = 0.2  // of the idle machine's power
)

// quantisation says in percent how far off the j J of the stretches may be, and the
// reason code when that is more than is allowed: that of the largest cause.
//
// It is the larger of two bounds. One is a time at the mean power, of the slowest
// channel: half a period for each stretch, half of what a gap is longer than that, and
// twice the error of the clocks. The other is in J, of what the power did around the
// ends: see bound. Ends of many stretches are off in either direction only where the
// power does not go the same way at all of them, as it does between prefill and decode;
// so the bounds add up.
func (r *run) quantisation(rd *reading, spans []span, j float64) (pct float64, why string) {
	wall := float64(total(spans))
	if wall <= 0 {
		return 0, metric.ZeroDuration
	}
	slowest, all := bound{}, bound{}
	for _, c := range rd.channels {
		if r.unmoved(c) {
			continue
		}
		of := bound{}
		for _, s := range spans {
			of.add(r.curve(c).bound(s, r.off))
		}
		all.add(of)
		if of.ns+of.gapNS >= slowest.ns+slowest.gapNS {
			slowest = of
		}
	}
	by := causes{100 * slowest.ns / wall, 100 * slowest.gapNS / wall, 100 * slowest.clockNS / wall}
	if drawn := (causes{100 * all.j / j, 100 * all.gapJ / j, 100 * all.clockJ / j}); j > 0 && drawn.pct() > by.pct() {
		by = drawn
	}
	if by.pct() > r.coarsest() {
		return by.pct(), by.why()
	}
	return by.pct(), ""
}

func (r *run) coarsest() float64 {
	if r.o.Coarsest > 0 {
		return r.o.Coarsest
	}
	return DefaultCoarsest
}

// implausible reports whether the mean power over the stretches cannot be true.
func (r *run) implausible(rd *reading, spans []span, w float64) bool {
	if !(w > 0) {
		return true
	}
	if idle := r.idle(rd); idle.w.why == "" && w < idleLeast*idle.w.v {
		return true
	}
	s := seconds(total(spans))
	for _, c := range rd.channels {
		of := r.tr.Channels[c]
		mean := r.joules(c, spans).v / s
		if mean > ceilingOf(of.Domain) || !(mean > 0) && !r.unmoved(c) {
			return true
		}
		limit, known := r.limits[of.Device]
		if known && limited(of.Domain) && (mean > limitMost*limit || mean < limitLeast*limit) {
			return true
		}
	}
	return false
}
