package energy

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// good is a trial of which everything is known: 20 s of 400 W after 13 s of 100 W.
func good(t testing.TB, change ...func(*rig)) Trial {
	t.Helper()
	no, procs := false, 1
	r := nv(40, loaded).
		reads("GPU-1", trace.NVGPU, trace.Temperature, "C", "temperature", constant(41)).
		reads("GPU-1", trace.NVGPU, trace.ThermalTime, "ns", "field 269", constant(5)).
		reads("GPU-1", trace.NVGPU, trace.PowerCapTime, "ns", "field 74", constant(5)).
		state(0, trace.State{Device: "GPU-1", MIG: &no, Processes: &procs, PIDs: []int{7}, LimitMW: new(int64(700_000)), Driver: "575.1"})
	r.devices = append(r.devices, trace.Device{ID: "host", Kind: trace.Machine})
	r = r.reads("host", trace.System, trace.Load1, "milli", "/proc/loadavg", constant(300))
	for _, c := range change {
		c(&r)
	}
	tl := beside(r.trace(t), twoTurns(17)...)
	tl.Idle = idleAt(2, 14)
	return tl
}

func counting(at func(float64) (int64, string)) func(*rig) {
	return func(r *rig) { r.charts[0].at = at }
}

func noting(at float64, s trace.State) func(*rig) {
	return func(r *rig) { s.Device = "GPU-1"; *r = r.state(at, s) }
}

// except is the usual counter but for what change says from a to b.
func except(a, b float64, change func(t float64, v int64) (int64, string)) func(float64) (int64, string) {
	of := published(loaded, 0.1, 1e-3, 5_000_000)
	return func(t float64) (int64, string) {
		v, code := of(t)
		if t >= a && t < b {
			return change(t, v)
		}
		return v, code
	}
}

// alsoPower reads instantaneous power beside the counter, in mW while loaded; the idle
// machine's agrees.
func alsoPower(mw int64) func(*rig) {
	return func(r *rig) {
		*r = r.reads("GPU-1", trace.NVGPU, trace.Power, "mW", "field 186", func(t float64) (int64, string) {
			if t < 15 {
				return 100_000, ""
			}
			return mw, ""
		})
	}
}

func unread(float64, int64) (int64, string) { return 0, "nvml-error" }

// The good trial is measured, so that each of the changes below is what refuses it.
func TestGood(t *testing.T) {
	c := NewCell(one("nv.gpu"), []Trial{good(t)})
	want(t, "J", c.Bases[0].Windows[Whole].J, 8000, "")
	want(t, "idle", c.Bases[0].LoadedIdleW, 100, "")
	want(t, "M11", c.Asiai.IdleSoCWatts, 100, "")
	want(t, "thermal", c.ThermalShare, 0, "")
	want(t, "cap", c.PowerCapShare, 0, "")
	want(t, "start", c.StartC, 41, "")
	want(t, "limit", c.PowerLimitW, 700, "")
	want(t, "period", c.Bases[0].PublicationMS, 100, "")
	if c.Doubts != nil {
		t.Errorf("doubts: %q", c.Doubts)
	}
	sound(t, &c)
}

func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		what   string
		rig    func(*rig)
		trial  func(*Trial)
		o      func(*Options)
		reason string // of the cell's J
	}{
		{what: "no trace", trial: func(x *Trial) { x.Trace = nil }, reason: metric.NoMeter},
		{what: "no trace, told why", trial: func(x *Trial) { x.Trace, x.None = nil, "no-permission" }, reason: "no-permission"},
		{what: "a meter that could read nothing", trial: func(x *Trial) {
			x.Trace = &trace.Trace{Header: trace.Header{None: &trace.Missing{Reason: "no-nvml"}}}
		}, reason: "no-nvml"},
		{what: "and says nonsense", trial: func(x *Trial) { x.Trace = &trace.Trace{Header: trace.Header{None: &trace.Missing{Reason: "<b>"}}} }, reason: metric.NoMeter},
		{what: "an unknown base", o: func(o *Options) { o.Bases = []string{"tdp"} }, reason: metric.DomainMissing},
		{what: "MIG instance asked for", trial: func(x *Trial) { x.GPUs = []string{"MIG-1"} }, reason: metric.MIG},
		{what: "another process comes", rig: noting(25, trace.State{PIDs: []int{7, 9}}), reason: metric.ForeignProcess},
		{what: "another process instead", rig: noting(25, trace.State{PIDs: []int{9}}), reason: metric.ForeignProcess},
		{what: "the process goes", rig: noting(25, trace.State{PIDs: []int{}}), reason: ""}, // nil after a round trip: not known
		{what: "and that is counted", rig: noting(25, trace.State{Processes: new(0)}), reason: metric.ForeignProcess},
		{what: "two processes counted", rig: noting(25, trace.State{Processes: new(2)}), reason: metric.ForeignProcess},
		{what: "two that are allowed", rig: noting(0.1, trace.State{Processes: new(2), LimitMW: new(int64(700_000))}), o: func(o *Options) { o.Processes = 2 }},
		{what: "a second one that would be allowed", rig: noting(25, trace.State{Processes: new(2)}), o: func(o *Options) { o.Processes = 2 }, reason: metric.ForeignProcess},
		{what: "and goes again, uncounted who", rig: func(r *rig) {
			r.states[0].V.PIDs = nil
			noting(25, trace.State{Processes: new(2)})(r)
			noting(26, trace.State{Processes: new(1)})(r)
		}, o: func(o *Options) { o.Processes = 2 }, reason: metric.ForeignProcess},
		{what: "one of two that goes", rig: func(r *rig) {
			r.states[0].V.PIDs, r.states[0].V.Processes = nil, new(2)
			noting(25, trace.State{Processes: new(1)})(r)
		}, o: func(o *Options) { o.Processes = 2 }, reason: metric.ForeignProcess},
		{what: "counted and then listed", rig: func(r *rig) {
			r.states[0].V.PIDs = nil
			noting(25, trace.State{PIDs: []int{7}})(r)
		}},
		{what: "after the window", rig: noting(38, trace.State{PIDs: []int{7, 9}, MIG: new(true), LimitMW: new(int64(1)), Driver: "x"})},
		{what: "MIG", rig: noting(25, trace.State{MIG: new(true)}), reason: metric.MIG},
		{what: "limit", rig: noting(25, trace.State{LimitMW: new(int64(500_000))}), reason: metric.PowerLimitChanged},
		{what: "driver", rig: noting(25, trace.State{Driver: "576"}), reason: metric.DriverChanged},
		{what: "driver of the header", rig: func(r *rig) { r.driver = "570" }, reason: metric.DriverChanged},
		{what: "frozen in the middle, and on", rig: counting(except(22, 24, func(float64, int64) (int64, string) { return 9_300_000, "" })), reason: metric.CounterFrozen},
		{what: "frozen before", rig: counting(except(3, 9, func(float64, int64) (int64, string) { return 5_300_000, "" }))},
		{what: "a fall afterwards", rig: counting(except(39, 99, func(_ float64, v int64) (int64, string) { return v - 9_000_000, "" }))},
		{what: "a fall right after", rig: counting(except(37, 99, func(_ float64, v int64) (int64, string) { return v - 9_000_000, "" })), reason: metric.CounterBackwards},
		{what: "unread for a moment", rig: counting(except(22, 22.5, unread))},
		{what: "unread for long", rig: counting(except(22, 28, unread)), reason: metric.SamplingGap},
		{what: "ends too early", rig: func(r *rig) { r.seconds = 36 }, reason: metric.NotBracketed},
		{what: "begins too late", rig: counting(except(0, 17.2, unread)), reason: metric.NotBracketed},
		{what: "a jump", rig: counting(except(30, 99, func(_ float64, v int64) (int64, string) { return v + 900_000_000, "" })), reason: metric.Implausible},
		{what: "a jump of 600 J, 30 W in the mean", rig: counting(except(30, 99, func(_ float64, v int64) (int64, string) { return v + 600_000, "" })), reason: metric.Implausible},
		{what: "a jump at the start", rig: counting(except(16.97, 99, func(_ float64, v int64) (int64, string) { return v + 600_000, "" })), reason: metric.Implausible},
		{what: "a jump at the end", rig: counting(except(37.02, 99, func(_ float64, v int64) (int64, string) { return v + 600_000, "" })), reason: metric.Implausible},
		{what: "a jump long before", rig: counting(except(14.5, 99, func(_ float64, v int64) (int64, string) { return v + 600_000, "" })), trial: func(x *Trial) { x.Idle = nil }},
		{what: "above 1.2 x the limit", rig: noting(0.1, trace.State{LimitMW: new(int64(330_000))}), reason: metric.Implausible},
		{what: "at 1.2 x the limit", rig: noting(0.1, trace.State{LimitMW: new(int64(333_334))})},
		{what: "speed limit", rig: func(r *rig) {
			*r = r.reads("host", trace.System, trace.SpeedLimit, "percent", "thermal", func(t float64) (int64, string) { return 100 - 20*int64(t/30), "" })
		}, reason: metric.Thermal},
		{what: "brake", rig: func(r *rig) {
			*r = r.reads("GPU-1", trace.NVGPU, trace.BrakeTime, "ns", "field 271", ramp(16, 0.0051))
		}, reason: metric.Thermal},
		{what: "almost", rig: func(r *rig) {
			*r = r.reads("GPU-1", trace.NVGPU, trace.BrakeTime, "ns", "field 271", ramp(16, 0.0049))
		}},
		{what: "brake of a GPU that serves another", rig: func(r *rig) {
			r.devices = append(r.devices, gpu("GPU-2"))
			*r = r.reads("GPU-2", trace.NVGPU, trace.BrakeTime, "ns", "field 271", ramp(16, 0.9))
		}, trial: func(x *Trial) { x.GPUs = []string{"GPU-1", "GPU-1"} }},
		{what: "a GPU without a counter", rig: func(r *rig) { r.devices = append(r.devices, gpu("GPU-2")) }, reason: metric.DomainMissing},
		{what: "thermal counter falls", rig: func(r *rig) {
			*r = r.reads("GPU-1", trace.NVGPU, trace.BrakeTime, "ns", "field 271", func(t float64) (int64, string) { return int64(40 - t), "" })
		}, reason: metric.CounterBackwards},
		{what: "idle more than load", rig: counting(published(steps{{0, 600}, {15, 100}}, 0.1, 1e-3, 0)), reason: metric.Implausible},
		{what: "power 4.9 % above the counter", rig: alsoPower(419_600)},
		{what: "power 5.1 % above the counter", rig: alsoPower(420_400), reason: metric.CrossCheck},
		{what: "power 5.1 % below the counter", rig: alsoPower(379_600), reason: metric.CrossCheck},
		{what: "the average apart from the counter", rig: func(r *rig) {
			*r = r.reads("GPU-1", trace.NVGPU, trace.PowerAverage, "mW", "field 185", constant(1))
		}},
		{what: "load a little above a fifth of idle", rig: counting(published(steps{{0, 1990}, {15, 400}}, 0.1, 1e-3, 0)), trial: func(x *Trial) { x.Trace.States = nil }},
		{what: "load a little below a fifth of idle", rig: counting(published(steps{{0, 2010}, {15, 400}}, 0.1, 1e-3, 0)), trial: func(x *Trial) { x.Trace.States = nil }, reason: metric.Implausible},
		{what: "no clock", rig: func(r *rig) { r.mangle = func(h *trace.Header) { h.WallNS = 0 } }, trial: func(x *Trial) { x.Trace.Syncs = nil }, reason: metric.ClockUnknown},
		{what: "clock set", trial: func(x *Trial) { x.Trace.Syncs[20].V += 2e9 }, reason: metric.ClockStepped},
		{what: "start unknown", trial: func(x *Trial) { x.StartUnixNS = 0 }, reason: metric.ClockUnknown},
		{what: "elsewhere", trial: func(x *Trial) { x.Local = false }, reason: metric.ClockUnknown},
		{what: "no requests", trial: func(x *Trial) { x.Requests = nil }, reason: metric.NoRequests},
		{what: "absurd times", trial: func(x *Trial) { x.Requests[0].End = 1 << 62 }, reason: metric.InconsistentTime},
		{what: "coarser than allowed", o: func(o *Options) { o.Coarsest = 0.2 }, reason: metric.PublicationCoarse},
		{what: "not looked at", rig: func(r *rig) { r.charts[0].at = except(24, 25.4, unread) }, o: func(o *Options) { o.Coarsest = 0.3 }, reason: metric.SamplingGap},
	} {
		t.Run(x.what, func(t *testing.T) {
			var change []func(*rig)
			if x.rig != nil {
				change = append(change, x.rig)
			}
			tl, o := good(t, change...), one("nv.gpu")
			if x.trial != nil {
				x.trial(&tl)
			}
			if x.o != nil {
				x.o(&o)
			}
			c := NewCell(o, []Trial{tl})
			if x.reason == "" {
				want(t, "J", c.Bases[0].Windows[Whole].J, 8000, "")
			} else {
				want(t, "J", c.Bases[0].Windows[Whole].J, 0, x.reason)
				if x.what != "an unknown base" {
					want(t, "M6", c.Asiai.PowerWatts, 0, x.reason)
				}
			}
			if x.reason == "" || codes[x.reason] { // others are the meter's own
				sound(t, &c)
			}
		})
	}
}
