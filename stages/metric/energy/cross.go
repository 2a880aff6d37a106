package energy

import (
	"cmp"
	"fmt"
	"math"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// crossHalves is how often a stretch is halved that cannot be checked as a whole.
const crossHalves = 6

// crossed holds every counter of a base against the integral of the instantaneous
// power of the same device and domain, over a stretch that is long enough for it. Where
// there is such a power and that cannot be done, it is a doubt.
func (r *run) crossed(rd *reading, s span) string {
	key := checked{rd.base, s}
	why, done := r.checks[key]
	if !done {
		why = r.cross(rd, s)
		r.checks[key] = why
	}
	return why
}

// checked is what was held against its power: every request asks for its cell's.
type checked struct {
	base string
	span
}

func (r *run) cross(rd *reading, s span) string {
	for _, c := range rd.channels {
		p := r.powerBeside(c)
		if r.tr.Channels[c].Quantity != trace.Energy || p < 0 || r.unmoved(c) {
			continue
		}
		apart, why := r.disagree(c, p, s, crossHalves)
		if apart {
			return metric.CrossCheck
		}
		if why != "" {
			r.say(fmt.Sprintf("the counter of %s of %s could not be held against all of its power %s: %s", r.tr.Channels[c].Domain, r.tr.Channels[c].Device, r.stretch(s), why))
		}
	}
	return ""
}

// stretch names one that counters are checked over.
func (r *run) stretch(s span) string {
	if s == r.cell {
		return "during the cell"
	}
	return "while the machine was idle"
}

// powerBeside is the channel of the instantaneous power of a counter's device and
// domain, one that was read where there are several; -1 = there is none.
func (r *run) powerBeside(counter int) int {
	of, found := r.tr.Channels[counter], -1
	for i, c := range r.tr.Channels {
		if c.Device != of.Device || c.Domain != of.Domain || c.Quantity != trace.Power || !measures(c) {
			continue
		}
		if wasRead(r.tr.Samples[i]) {
			return i
		}
		found = i
	}
	return found
}

// disagree reports whether a counter and a power are apart over the stretch, or, where
// that cannot be told of all of it, over a part that is long enough: a look that failed
// must not let the rest pass. why is the reason code of the first part that was not held
// against the other.
func (r *run) disagree(counter, power int, s span, halves int) (yes bool, why string) {
	yes, why = r.apart(counter, power, s)
	half := s.ns() / 2
	if why == "" || halves == 0 || half/crossWindow < max(r.curve(counter).period, r.curve(power).period) {
		return yes, why
	}
	a, whyA := r.disagree(counter, power, span{s.from, s.from + half}, halves-1)
	b, whyB := r.disagree(counter, power, span{s.from + half, s.to}, halves-1)
	return a || b, cmp.Or(whyA, whyB)
}

// apart reports whether a counter and a power say something else, or why that cannot
// be told: a reason code.
func (r *run) apart(counter, power int, s span) (yes bool, why string) {
	spans := []span{s}
	j, w := r.joules(counter, spans), r.joules(power, spans)
	if why = cmp.Or(j.why, w.why); why != "" {
		return false, why
	}
	a, b := r.curve(counter), r.curve(power)
	switch most := s.ns() / crossWindow; {
	case most < max(a.period, b.period):
		return false, metric.PublicationCoarse
	case most < max(a.reach(s), b.reach(s)):
		return false, metric.SamplingGap
	}
	return math.Abs(w.v-j.v) > crossMost*j.v, ""
}
