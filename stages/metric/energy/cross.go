package energy

import (
	"cmp"
	"fmt"
	"math"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// crossed holds every counter of a base against the integral of the instantaneous
// power of the same device and domain, over a stretch that is long enough for it. Where
// there is such a power and that cannot be done, it is a doubt.
func (r *run) crossed(rd *reading, s span) string {
	for _, c := range rd.channels {
		p := r.powerBeside(c)
		if r.tr.Channels[c].Quantity != trace.Energy || p < 0 || r.unmoved(c) {
			continue
		}
		apart, why := r.apart(c, p, s)
		if apart {
			return metric.CrossCheck
		}
		if why != "" {
			r.say(fmt.Sprintf("the counter of %s of %s could not be held against its power %s: %s", r.tr.Channels[c].Domain, r.tr.Channels[c].Device, r.stretch(s), why))
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
