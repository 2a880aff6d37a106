package energy

import (
	"cmp"

	"github.com/cupel-dev/cupel/stages/metric"
)

// part is one trial's share of one window of one base.
type part struct {
	j    num
	q    num // percent; there also when it is the reason of j
	ns   num // duration
	net  num // J
	over counts
}

func refused(why string) part {
	n := none(why)
	return part{j: n, q: n, ns: n, net: n, over: counts{n, n, n, n}}
}

// part of a window, refused or measured.
func (r *run) part(rd *reading, w Window) part {
	if why := cmp.Or(r.why, rd.why); why != "" {
		return refused(why)
	}
	spans, why := r.t.spans(w, r.o.Streams)
	if why != "" {
		return refused(why)
	}
	p := part{ns: have(float64(total(spans))), over: r.t.counted(w, spans)}
	p.j, p.q = r.measured(rd, r.onTrace(spans))
	if why := r.throttled([]span{r.cell}); p.j.why == "" && why != "" {
		p.j = none(why)
	}
	s, idle := seconds(total(spans)), r.idle(rd)
	p.net = above(p.j, times(idle.w, have(s)), p.q.v/100*p.j.v+idle.spread()*s)
	return p
}

// above is what was drawn beyond the idle machine. It is positive, and by more than
// both may be off by together, in J.
func above(j, idle num, off float64) num {
	net := minus(j, idle)
	if net.why == "" && !(net.v > max(off, rounding*j.v)) {
		return none(metric.NotAboveIdle)
	}
	return net
}

// rounding of a difference, relative to what is subtracted from.
const rounding = 1e-9

// measured is the energy of stretches of the trace's clock with every check, and its
// quantisation.
func (r *run) measured(rd *reading, spans []span) (j, q num) {
	if j = r.all(rd, spans); j.why != "" {
		return j, none(j.why)
	}
	pct, why := r.quantisation(rd, spans, j.v)
	q = have(pct)
	for _, next := range []func() string{
		func() string { return r.throttled(spans) },
		func() string { return r.crossed(rd, r.cell) },
		func() string {
			if r.implausible(rd, spans, j.v/seconds(total(spans))) {
				return metric.Implausible
			}
			return ""
		},
	} {
		if why == "" {
			why = next()
		}
	}
	if why != "" {
		return none(why), q
	}
	return j, q
}
