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
// down, by the driver's own counters of time. A bitmask that is looked at now and
// then misses what happens between two looks.
func (r *run) share(spans []span, of []trace.Quantity) num {
	byDevice := map[string]num{}
	for i, c := range r.tr.Channels {
		if !slices.Contains(of, c.Quantity) || !measures(c) || !r.concerns(c.Device) || !wasRead(r.tr.Samples[i]) {
			continue
		}
		byDevice[c.Device] = sum([]num{byDevice[c.Device], r.timeIn(i, spans)})
	}
	if len(byDevice) == 0 {
		return none(metric.NotReported)
	}
	all := have(seconds(total(spans)))
	shares := make([]num, 0, len(byDevice))
	for _, d := range r.tr.Devices {
		if n, there := byDevice[d.ID]; there {
			shares = append(shares, per(n, all, metric.ZeroDuration))
		}
	}
	return worst(shares)
}

// concerns reports whether a device is one that serves the candidate: of GPUs those
// of the binding, and everything else.
func (r *run) concerns(device string) bool {
	i := slices.IndexFunc(r.tr.Devices, func(d trace.Device) bool { return d.ID == device })
	return i >= 0 && r.tr.Devices[i].Kind != trace.GPU || slices.Contains(r.gpus, device)
}

// timeIn is by how many seconds a counter of time went on in the stretches.
func (r *run) timeIn(channel int, spans []span) num {
	out := num{}
	for _, s := range spans {
		went := minus(r.valueAt(channel, s.to), r.valueAt(channel, s.from))
		if went.v < 0 {
			return none(metric.CounterBackwards)
		}
		out = sum([]num{out, went})
	}
	return out
}

// valueAt is a channel's number in the unit of its quantity, on the line between the
// reading before t and the one after.
func (r *run) valueAt(channel int, t int64) num {
	before, there := r.lastBefore(channel, t)
	if !there {
		return none(metric.NotBracketed)
	}
	of := r.tr.Samples[channel]
	i := sort.Search(len(of), func(i int) bool { return of[i].T >= t })
	for i < len(of) && of[i].E != "" {
		i++
	}
	if i == len(of) {
		return none(metric.NotBracketed)
	}
	unit, v := trace.Units[r.tr.Channels[channel].Unit], float64(before.V)
	if after := of[i]; after.T > before.T {
		v += (float64(after.V) - v) * float64(t-before.T) / float64(after.T-before.T)
	}
	return have(v * unit)
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
	held := r.share(spans, heat)
	switch {
	case held.why != "" && held.why != metric.NotReported:
		return held.why
	case held.why == "" && held.v > thermalMost, slices.ContainsFunc(spans, r.slowed):
		return metric.Thermal
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
