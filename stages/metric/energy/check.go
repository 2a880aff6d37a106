package energy

import (
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

const (
	crossMost   = 0.05 // a counter and the integral of the power beside it
	crossWindow = 50   // periods that a window must be long for that: a shorter one's ends decide
	limitMost   = 1.2  // of the enforced power limit
	limitLeast  = 0.01 // of it: no GPU that is on draws so little
	idleLeast   = 0.2  // of the idle machine's power
)

// quantisation says in percent how far off the energy of the stretches may be, and
// the reason code when that is more than is allowed.
//
// Each end of a stretch lies somewhere within a period whose energy is known and
// whose course is not; with a straight line through it, half a period of the mean
// power is what the two ends are off by together, as long as the power within a
// period moves by no more than its mean. Ends of many stretches are off in either
// direction and average out, but nothing promises that they do, so that the bounds
// add up: n stretches are off by n half periods, of all their time. A gap between two
// looks is a period of that length for the stretch that it lies in, and a clock that
// is off by x moves both ends.
func (r *run) quantisation(rd *reading, spans []span) (pct float64, why string) {
	wall := float64(total(spans))
	if wall <= 0 {
		return 0, metric.ZeroDuration
	}
	period, reach := float64(r.period(rd)), 0.0
	for _, s := range spans {
		longest := int64(0)
		for _, c := range rd.channels {
			longest = max(longest, r.curve(c).reach(s))
		}
		reach += float64(longest)
	}
	most := r.coarsest()
	published := 50 * period * float64(len(spans)) / wall
	clocks := 200 * float64(r.off) * float64(len(spans)) / wall
	pct = 50*reach/wall + clocks
	switch {
	case clocks > most:
		return pct, metric.ClockOffsetTooLarge
	case published+clocks > most:
		return pct, metric.PublicationCoarse
	case pct > most:
		return pct, metric.SamplingGap
	}
	return pct, ""
}

func (r *run) coarsest() float64 {
	if r.o.Coarsest > 0 {
		return r.o.Coarsest
	}
	return DefaultCoarsest
}

// crossed holds every counter of a base against the integral of the instantaneous
// power of the same device and domain, over a stretch that is long enough for it.
func (r *run) crossed(rd *reading, s span) string {
	for _, c := range rd.channels {
		of := r.tr.Channels[c]
		if of.Quantity != trace.Energy {
			continue
		}
		p := slices.IndexFunc(r.tr.Channels, func(o trace.Channel) bool {
			return o.Device == of.Device && o.Domain == of.Domain && o.Quantity == trace.Power && measures(o)
		})
		if p >= 0 && r.apart(c, p, s) {
			return metric.CrossCheck
		}
	}
	return ""
}

func (r *run) apart(counter, power int, s span) bool {
	reach := max(r.curve(counter).reach(s), r.curve(power).reach(s))
	if s.ns()/crossWindow < reach {
		return false
	}
	spans := []span{s}
	j, w := r.joules(counter, spans), r.joules(power, spans)
	if j.why != "" || w.why != "" {
		return false
	}
	return math.Abs(w.v-j.v) > crossMost*j.v
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
