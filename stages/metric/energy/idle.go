package energy

import (
	"cmp"
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
)

// Of the look at the idle machine.
const (
	idleLeastNS = 10e9 // and
	idlePeriods = 20   // of the slowest counter,
	idleSpare   = 0.02 // less: who waited for them knew the period a little less well
	idleStepNS  = 1e9  // a sample, or two periods
	idleMostCV  = 10.0 // percent

	turnLoad1   = 2.0 // M11
	turnSamples = 5
	turnStepNS  = 2e9
	turnLeastNS = 1e9 // M9
)

// idle is the power of the loaded machine with nothing in flight.
type idle struct {
	w       num
	cv      num // percent
	samples []float64
}

func noIdle(why string) idle { return idle{w: none(why), cv: none(why)} }

// idle of a base. The look is cut into equal samples of two periods, and of a second
// at least; shorter ones would take the counter's steps for the machine's.
func (r *run) idle(rd *reading) idle {
	if i, there := r.idles[rd.base]; there {
		return i
	}
	i := r.look(rd)
	r.idles[rd.base] = i
	return i
}

func (r *run) look(rd *reading) idle {
	look, why := r.idleSpan(rd)
	if why != "" {
		return noIdle(why)
	}
	period := r.period(rd)
	if look.ns() < idleLeastNS || float64(look.ns()) < (1-idleSpare)*idlePeriods*float64(period) {
		return noIdle(metric.IdleTooShort)
	}
	n := look.ns() / max(idleStepNS, 2*period)
	return r.sampled(rd, look, int(n), look.ns()/n)
}

// idleSpan is the look at the idle machine on the trace's clock, or why there is none.
func (r *run) idleSpan(rd *reading) (span, string) {
	switch {
	case r.why != "":
		return span{}, r.why
	case rd.why != "":
		return span{}, rd.why
	case r.t.Idle == nil:
		return span{}, metric.NoIdle
	case !sane(r.t.Idle.Start) || !sane(r.t.Idle.End) || r.t.Idle.End <= r.t.Idle.Start:
		return span{}, metric.InconsistentTime
	}
	from, off, why := r.t.placed(r.clock, r.t.Idle.Start)
	if why != "" {
		return span{}, why
	}
	look := span{from, from + r.t.Idle.End - r.t.Idle.Start}
	if 200*float64(off) > r.coarsest()*float64(look.ns()) {
		return span{}, metric.ClockOffsetTooLarge
	}
	return look, disturbed(r.tr, r.gpus, look, max(r.o.Processes, 1))
}

// sampled is the median power of n samples from the look's start on.
func (r *run) sampled(rd *reading, look span, n int, step int64) idle {
	out := idle{}
	if why := cmp.Or(r.throttled([]span{look}), r.crossed(rd, look)); why != "" {
		return noIdle(why)
	}
	for k := range int64(n) {
		j := r.all(rd, []span{{look.from + k*step, look.from + (k+1)*step}})
		if j.why != "" {
			return noIdle(j.why)
		}
		out.samples = append(out.samples, j.v/seconds(step))
	}
	out.judge()
	return out
}

// pooledIdle is that of all samples of all trials: idle machines that differ from one
// trial to the next vary as much as one that does so within a look.
func pooledIdle(idles []idle, differ string) idle {
	all := idle{}
	for _, one := range idles {
		all.samples = append(all.samples, one.samples...)
		all.w, all.cv = sum([]num{all.w, one.w}), sum([]num{all.cv, one.cv})
	}
	switch {
	case len(idles) == 0:
		return noIdle(metric.NoRequests)
	case all.cv.why != "":
		return noIdle(all.cv.why)
	case differ != "":
		return noIdle(differ)
	}
	refused := all.w
	if all.judge(); refused.why != "" {
		all.w = refused
	}
	return all
}

// spread is by how many watts the idle machine may have drawn more than the median: the
// largest sample did. The standard error of the samples would be less, and wrong: an
// idle machine drifts, so that they do not scatter about one power, and how much it
// would have drawn while it worked is a guess that the largest sample bounds.
func (i *idle) spread() float64 {
	if i.w.why != "" || len(i.samples) == 0 {
		return 0
	}
	return slices.Max(i.samples) - i.w.v
}

// judge is the median of the samples, unless they differ too much.
func (i *idle) judge() {
	mean, squares := 0.0, 0.0
	for _, s := range i.samples {
		mean += s / float64(len(i.samples))
	}
	for _, s := range i.samples {
		squares += (s - mean) * (s - mean)
	}
	if !(mean > 0) {
		i.w, i.cv = none(metric.Implausible), none(metric.Implausible)
		return
	}
	i.cv = have(100 * math.Sqrt(squares/float64(len(i.samples)-1)) / mean)
	if i.cv.why == "" && i.cv.v > idleMostCV {
		i.w = none(metric.IdleCV)
		return
	}
	i.w = have(median(slices.Sorted(slices.Values(i.samples))))
}
