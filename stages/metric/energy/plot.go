package energy

import (
	"slices"

	"github.com/cupel-dev/cupel/stages/trace"
)

// plotPoints bounds what is drawn.
const plotPoints = 600

// plot thins the power of a base out. It ends where a counter of it broke.
func (r *run) plot(base string) *Plot {
	rd := r.reading(base)
	if rd.why != "" {
		return nil
	}
	all, ok := r.drawn(rd)
	if !ok {
		return nil
	}
	steps := min(int64(plotPoints-1), max(all.ns()/max(r.period(rd), 1), 1))
	p := &Plot{Base: base, T: []float64{seconds(all.from)}, W: []float64{0}}
	at := func(k int64) int64 { return all.from + int64(float64(all.ns())*float64(k)/float64(steps)) }
	for k := int64(1); k <= steps; k++ {
		s := span{at(k - 1), at(k)}
		j := r.all(rd, []span{s})
		if s.ns() <= 0 || j.why != "" {
			break
		}
		p.T, p.W = append(p.T, seconds(s.to)), append(p.W, j.v/seconds(s.ns()))
	}
	if len(p.T) < 2 {
		return nil
	}
	p.W[0] = p.W[1]
	r.mark(p)
	return p
}

// drawn is the stretch in which every channel of the base has a curve.
func (r *run) drawn(rd *reading) (s span, ok bool) {
	for i, c := range rd.channels {
		of := r.curve(c)
		if r.unmoved(c) {
			continue
		}
		if of.why != "" || len(of.t) < 2 {
			return s, false
		}
		first, last := of.t[0], of.t[len(of.t)-1]
		if i == 0 || !ok {
			s = span{first, last}
		}
		s, ok = span{max(s.from, first), min(s.to, last)}, true
	}
	return s, ok && s.ns() > 0
}

// mark adds the windows, and when clocks were held down.
func (r *run) mark(p *Plot) {
	p.Thermal, p.Capped = r.moves(heat), r.moves(caps)
	if r.why != "" && !r.told() {
		return
	}
	pair := func(s span) *[2]float64 { return &[2]float64{seconds(s.from), seconds(s.to)} }
	if r.told() {
		p.Cell = pair(r.cell)
	}
	if s, why := r.t.spans(Steady, r.o.Streams); why == "" {
		p.Steady = pair(r.onTrace(s)[0])
	}
	if s, why := r.idleSpan(r.reading(p.Base)); why == "" {
		p.Idle = pair(s)
	}
}

// moves are moments at which a counter of time went on, thinned out.
func (r *run) moves(of []trace.Quantity) (at []float64) {
	var all []int64
	for i, c := range r.tr.Channels {
		if !slices.Contains(of, c.Quantity) || !measures(c) || !r.concerns(c.Device) {
			continue
		}
		last, seen := int64(0), false
		for _, s := range r.tr.Samples[i] {
			if s.E == "" {
				if seen && s.V > last {
					all = append(all, s.T)
				}
				last, seen = s.V, true
			}
		}
	}
	return thinned(all)
}

// thinned keeps at most plotPoints of the moments, in seconds.
func thinned(all []int64) (at []float64) {
	slices.Sort(all)
	all = slices.Compact(all)
	n := min(len(all), plotPoints)
	for k := range n {
		at = append(at, seconds(all[k*len(all)/n]))
	}
	return at
}
