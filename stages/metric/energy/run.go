package energy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// run is one trial with its trace, as all bases and windows look at it.
type run struct {
	o    *Options
	t    *Trial
	tr   *trace.Trace
	gpus []string // that serve the candidate
	rest []string // GPUs that nobody named and no base is of
	why  string   // reason code: nothing of the trial has energy

	clock      *clock
	shift, off int64 // the trace's clock minus the cell's, and how far off that may be
	cell       span  // on the trace's clock
	cellWhy    string
	limits     map[string]float64 // W by device
	curves     map[int]*curve
	idles      map[string]idle // by base
	checks     map[checked]string
	doubts     []string
}

func newRun(o *Options, t *Trial) *run {
	r := &run{o: o, t: t, tr: t.Trace, curves: map[int]*curve{}, idles: map[string]idle{}, checks: map[checked]string{}}
	if r.why = missing(t); r.why != "" {
		return r
	}
	if r.gpus, r.rest, r.why = servers(o, t); r.why != "" {
		return r
	}
	r.clock = newClock(r.tr)
	if r.shift, r.off, r.why = t.shift(r.clock); r.why != "" {
		return r
	}
	spans, why := t.spans(Whole, o.Streams)
	if r.cellWhy = why; why != "" {
		return r
	}
	r.cell = r.onTrace(spans)[0]
	r.limits = limits(r.tr, r.gpus, r.cell)
	r.why = disturbed(r.tr, r.gpus, r.cell, max(o.Processes, 1))
	r.doubt()
	return r
}

// missing is why there is no trace.
func missing(t *Trial) string {
	switch {
	case t.Trace == nil && isCode(t.None):
		return t.None
	case t.Trace == nil:
		return metric.NoMeter
	case t.Trace.None == nil:
		return ""
	case isCode(t.Trace.None.Reason):
		return t.Trace.None.Reason
	}
	return metric.NoMeter
}

// isCode reports whether s looks like a reason code: a trace may come from anywhere.
func isCode(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// onTrace moves stretches of the cell's clock to the trace's.
func (r *run) onTrace(spans []span) []span {
	out := make([]span, len(spans))
	for i, s := range spans {
		out[i] = span{s.from + r.shift, s.to + r.shift}
	}
	return out
}

// curve of a channel, made once.
func (r *run) curve(channel int) *curve {
	c, there := r.curves[channel]
	if !there {
		of := r.tr.Channels[channel]
		if of.Quantity == trace.Power {
			c = powerCurve(r.tr.Samples[channel], of, ceilingOf(of.Domain))
			c.doubt(r.most(of))
		} else {
			c = counterCurve(r.tr.Samples[channel], of, r.most(of), writes(r.tr, channel))
		}
		r.curves[channel] = c
	}
	return c
}

// most is the power in W above which no channel's device draws: a little more than its
// enforced limit where that is known, else what no device has drawn yet.
func (r *run) most(of trace.Channel) float64 {
	most := ceilingOf(of.Domain)
	if limit, known := r.limits[of.Device]; known && limited(of.Domain) {
		most = min(most, limitMost*limit)
	}
	return most
}

// limited reports whether a device's enforced limit is one of a domain.
func limited(d trace.Domain) bool { return d == trace.NVGPU || d == trace.HwmonGPU }

// unmoved reports whether a rail that a base may do without never moved: nothing
// that serves a language model uses the neural engine, and it counts nothing then.
func (r *run) unmoved(channel int) bool {
	return optional(r.tr.Channels[channel].Domain) && r.curve(channel).why == metric.CounterFrozen
}

// joules of one channel over stretches.
func (r *run) joules(channel int, spans []span) num {
	if r.unmoved(channel) {
		return num{}
	}
	c, j := r.curve(channel), num{}
	for _, s := range spans {
		if j = sum([]num{j, c.joules(s)}); j.why != "" {
			return j
		}
	}
	return j
}

// all is the energy of all channels of a base over stretches.
func (r *run) all(rd *reading, spans []span) num {
	if rd.why != "" {
		return none(rd.why)
	}
	ns := make([]num, len(rd.channels))
	for i, c := range rd.channels {
		ns[i] = r.joules(c, spans)
	}
	return sum(ns)
}

// period of a base's slowest counter, ns.
func (r *run) period(rd *reading) (ns int64) {
	for _, c := range rd.channels {
		ns = max(ns, r.curve(c).period)
	}
	return ns
}

// doubt notes what could not be looked at.
func (r *run) doubt() {
	for _, gpu := range r.gpus {
		states := during(r.tr, gpu, r.cell)
		if !slices.ContainsFunc(states, func(s trace.State) bool { return s.Processes != nil || s.PIDs != nil }) {
			r.say("whether other processes computed on " + gpu + " could not be read")
		}
	}
	r.doubtClocks()
	for _, gpu := range r.rest {
		r.say("the GPUs that serve were not named, and " + gpu + " is of another vendor than the bases: it does not count")
	}
	if r.tr.End == nil {
		r.say("the recording was cut")
	}
	for i, c := range r.tr.Channels {
		if c.Domain == trace.AppleANE && c.Quantity == trace.Energy && r.unmoved(i) {
			r.say(fmt.Sprintf("%s of %s never moved and counts as unused", c.Domain, c.Device))
		}
	}
}

// doubtClocks notes what is not known of how long clocks were held down.
func (r *run) doubtClocks() {
	for _, gpu := range r.gpus {
		if !r.toldHeat(gpu) {
			r.say("whether " + gpu + " was slowed down by heat could not be read")
		}
	}
	for _, by := range []struct {
		what string
		of   []trace.Quantity
	}{{"for heat or by the power brake", heat}, {"by the power cap", caps}} {
		if seen, fell := r.seen([]span{r.cell}, by.of); fell && seen.why == "" {
			r.say(fmt.Sprintf("a counter of the time for which clocks were held down %s fell during the cell: it was at least %.2g %% of the cell", by.what, 100*seen.v))
		}
	}
}

// toldHeat reports whether a counter of a device says for how long it was slowed down.
func (r *run) toldHeat(device string) bool {
	for i, c := range r.tr.Channels {
		if c.Device == device && slices.Contains(heat, c.Quantity) && r.tells(i) {
			return true
		}
	}
	return false
}

func (r *run) say(s string) {
	if !slices.Contains(r.doubts, s) {
		r.doubts = append(r.doubts, s)
	}
}
