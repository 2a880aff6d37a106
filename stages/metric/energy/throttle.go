package energy

import (
	"slices"
	"sort"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// thermalMost is the share of a window for which clocks may have been held down for
// heat or by the power brake.
const thermalMost = 0.005

var (
	heat = []trace.Quantity{trace.ThermalTime, trace.BrakeTime}
	caps = []trace.Quantity{trace.PowerCapTime}
)

// share is for how much of the stretches the clocks of the worst device were held
// down; a counter that fell has forgotten what it counted.
func (r *run) share(spans []span, of []trace.Quantity) num {
	seen, fell := r.seen(spans, of)
	if fell && seen.why == "" {
		return none(metric.CounterBackwards)
	}
	return seen
}

// seen is the share as far as it was seen, by the driver's own counters of time, and
// whether one of them fell, so that it may be more. A bitmask that is looked at now and
// then misses what happens between two looks.
//
// Software and hardware may hold the clocks down at once, and nobody counts when both
// do: the time lies between that of the larger one and the sum. It is taken as the sum,
// and never as more than there was: what is published was certainly not held down.
func (r *run) seen(spans []span, of []trace.Quantity) (share num, fell bool) {
	byDevice := map[string]num{}
	for i, c := range r.tr.Channels {
		if !slices.Contains(of, c.Quantity) || !r.tells(i) {
			continue
		}
		for _, s := range spans {
			rose, back := r.timeIn(i, s)
			byDevice[c.Device], fell = sum([]num{byDevice[c.Device], rose}), fell || back
		}
	}
	if len(byDevice) == 0 {
		return none(metric.NotReported), false
	}
	all := have(seconds(total(spans)))
	shares := make([]num, 0, len(byDevice))
	for _, d := range r.tr.Devices {
		if n, there := byDevice[d.ID]; there {
			n = per(n, all, metric.ZeroDuration)
			n.v = min(n.v, 1)
			shares = append(shares, n)
		}
	}
	return worst(shares), fell
}

// tells reports whether a channel says something of a device that serves the candidate.
func (r *run) tells(channel int) bool {
	c := r.tr.Channels[channel]
	return measures(c) && r.concerns(c.Device) && wasRead(r.tr.Samples[channel])
}

// concerns reports whether a device is one that serves the candidate: of GPUs those
// of the binding, and everything else.
func (r *run) concerns(device string) bool {
	i := slices.IndexFunc(r.tr.Devices, func(d trace.Device) bool { return d.ID == device })
	return i >= 0 && r.tr.Devices[i].Kind != trace.GPU || slices.Contains(r.gpus, device)
}

// timeIn is by how many seconds a counter of time rose in a stretch, on straight lines
// between its readings, and whether it fell between two of them.
func (r *run) timeIn(channel int, s span) (rose num, fell bool) {
	last, there := r.lastBefore(channel, s.from)
	if !there {
		return none(metric.NotBracketed), false
	}
	of := r.tr.Samples[channel]
	unit := trace.Units[r.tr.Channels[channel].Unit]
	for k := sort.Search(len(of), func(k int) bool { return of[k].T > s.from }); k < len(of); k++ {
		next := of[k]
		if next.E != "" {
			continue
		}
		if next.V < last.V {
			fell = true
		} else {
			rose.v += unit * (float64(next.V) - float64(last.V)) * s.part(last.T, next.T)
		}
		if last = next; next.T >= s.to {
			return have(rose.v), fell
		}
	}
	return none(metric.NotBracketed), fell
}

// part is how much of the time from a to b lies in the stretch.
func (s span) part(a, b int64) float64 {
	if a == b {
		return 1
	}
	return float64(min(b, s.to)-max(a, s.from)) / float64(b-a)
}

// lastBefore is the last reading at or before t.
func (r *run) lastBefore(channel int, t int64) (trace.Sample, bool) {
	of := r.tr.Samples[channel]
	i := sort.Search(len(of), func(i int) bool { return of[i].T > t }) - 1
	for i >= 0 && of[i].E != "" {
		i--
	}
	if i < 0 {
		return trace.Sample{}, false
	}
	return of[i], true
}

// readings hands on every reading of a quantity in a stretch, the one in effect at its
// start included, in units of the channel.
func (r *run) readings(q trace.Quantity, s span, do func(c trace.Channel, v float64)) {
	for i, c := range r.tr.Channels {
		if c.Quantity != q || !measures(c) || !r.concerns(c.Device) {
			continue
		}
		if first, there := r.lastBefore(i, s.from); there {
			do(c, float64(first.V))
		}
		of := r.tr.Samples[i]
		for k := sort.Search(len(of), func(k int) bool { return of[k].T > s.from }); k < len(of) && of[k].T <= s.to; k++ {
			if of[k].E == "" {
				do(c, float64(of[k].V))
			}
		}
	}
}

// slowed reports whether the system held its speed below 100 % (macOS).
func (r *run) slowed(s span) bool {
	slow := false
	r.readings(trace.SpeedLimit, s, func(c trace.Channel, v float64) {
		if c.Unit == "milli" {
			v /= 10
		}
		slow = slow || v < 100
	})
	return slow
}

// throttled is the reason code when the clocks were held down for heat in the
// stretches, or when it cannot be told although there are counters of it.
func (r *run) throttled(spans []span) string {
	seen, fell := r.seen(spans, heat)
	switch {
	case seen.why == "" && seen.v > thermalMost, slices.ContainsFunc(spans, r.slowed):
		return metric.Thermal
	case seen.why != "" && seen.why != metric.NotReported:
		return seen.why
	case fell:
		return metric.CounterBackwards
	}
	return ""
}

// load1 is the highest load average in a stretch.
func (r *run) load1(s span) num {
	out := none(metric.NotReported)
	r.readings(trace.Load1, s, func(c trace.Channel, v float64) {
		if v *= trace.Units[c.Unit]; out.why != "" || v > out.v {
			out = have(v)
		}
	})
	return out
}

// startC is the temperature of the hottest GPU when the cell began.
func (r *run) startC(s span) num {
	out := none(metric.NotReported)
	r.readings(trace.Temperature, span{s.from, s.from}, func(c trace.Channel, v float64) {
		if kindOf(c.Domain) == trace.CPU {
			return
		}
		if v *= trace.Units[c.Unit]; out.why != "" || v > out.v {
			out = have(v)
		}
	})
	return out
}
