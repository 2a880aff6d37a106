package energy

import (
	"bytes"
	"math"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// A rig is a machine whose energy is known: it makes the trace that a meter would.

const startWall = int64(1_790_000_000_000_000_000)

// steps is a power that changes at moments: W from each on, up to the next.
type steps []struct{ at, w float64 }

// joules since 0.
func (p steps) joules(t float64) (j float64) {
	for i, s := range p {
		end := math.Inf(1)
		if i+1 < len(p) {
			end = p[i+1].at
		}
		if t > s.at {
			j += s.w * (min(t, end) - s.at)
		}
	}
	return j
}

func (p steps) between(from, to float64) float64 { return p.joules(to) - p.joules(from) }

func (p steps) watts(t float64) (w float64) {
	for _, s := range p {
		if t >= s.at {
			w = s.w
		}
	}
	return w
}

// published is a counter of p in unit that changes every period, in s. It starts at
// base.
func published(p steps, period, unit float64, base int64) func(float64) (int64, string) {
	return func(t float64) (int64, string) {
		ticks := math.Floor(t/period + 1e-9)
		return base + int64(math.Round(p.joules(ticks*period)/unit)), ""
	}
}

type chart struct {
	trace.Channel
	at func(s float64) (int64, string)
}

type rig struct {
	hz, phase, seconds float64
	devices            []trace.Device
	charts             []chart
	states             []trace.Noted[trace.State]
	driver             string
	missing            []trace.Missing
	mangle             func(*trace.Header)
}

func gpu(id string) trace.Device { return trace.Device{ID: id, Kind: trace.GPU, Name: "NVIDIA H200"} }
func cpu(id string) trace.Device { return trace.Device{ID: id, Kind: trace.CPU} }

// counts adds an energy counter.
func (r rig) counts(device string, d trace.Domain, unit, source string, at func(float64) (int64, string)) rig {
	r.charts = append(r.charts[:len(r.charts):len(r.charts)], chart{trace.Channel{Device: device, Domain: d, Quantity: trace.Energy, Unit: unit, Source: source}, at})
	return r
}

func (r rig) reads(device string, d trace.Domain, q trace.Quantity, unit, source string, at func(float64) (int64, string)) rig {
	r.charts = append(r.charts[:len(r.charts):len(r.charts)], chart{trace.Channel{Device: device, Domain: d, Quantity: q, Unit: unit, Source: source}, at})
	return r
}

func (r rig) state(t float64, s trace.State) rig {
	r.states = append(r.states[:len(r.states):len(r.states)], trace.Noted[trace.State]{T: int64(t * 1e9), V: s})
	return r
}

const nvmlEnergy = "nvmlDeviceGetTotalEnergyConsumption"

// nv is one GPU whose counter changes every 100 ms, looked at 20 times a second.
func nv(seconds float64, p steps) rig {
	r := rig{hz: 20, phase: 0.013, seconds: seconds, devices: []trace.Device{gpu("GPU-1")}}
	return r.counts("GPU-1", trace.NVGPU, "mJ", nvmlEnergy, published(p, 0.1, 1e-3, 5_000_000))
}

// bytes is the recording.
func (r rig) bytes(t testing.TB) []byte {
	t.Helper()
	h := trace.Header{Meter: "rig", Made: "sample", Hz: r.hz, WallNS: startWall, Driver: r.driver, Devices: r.devices, Missing: r.missing}
	for _, c := range r.charts {
		h.Channels = append(h.Channels, c.Channel)
	}
	if r.mangle != nil {
		r.mangle(&h)
	}
	var b bytes.Buffer
	w, err := trace.NewWriter(&b, h)
	must(t, err)
	next := 0
	for i := 0; ; i++ {
		at := r.phase + float64(i)/r.hz
		if at > r.seconds {
			break
		}
		ns := int64(math.Round(at * 1e9))
		for ; next < len(r.states) && r.states[next].T <= ns; next++ {
			must(t, w.State(r.states[next].T, r.states[next].V))
		}
		if i%int(max(r.hz, 1)) == 0 {
			must(t, w.Sync(ns, startWall+ns))
		}
		for c, ch := range r.charts {
			v, code := ch.at(at)
			must(t, w.Sample(c, ns, v, code))
		}
	}
	must(t, w.End(int64(r.seconds*1e9), trace.End{Why: "asked"}))
	return b.Bytes()
}

func (r rig) trace(t testing.TB) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(r.bytes(t)))
	must(t, err)
	return tr
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asked is a request on the trace's clock, in s, of a trial that began with the trace.
func asked(from, first, to float64, prompt, output int64) metric.Request {
	ns := func(s float64) int64 { return int64(math.Round(s * 1e9)) }
	return metric.Request{
		Planned: -1, Dispatched: ns(from), Written: 1, FirstOutput: ns(first - from), FirstVisible: ns(first - from), LastOutput: ns(to - from), End: ns(to - from),
		PromptTokens: &prompt, OutputTokens: &output, Eligible: true,
	}
}

// beside puts requests beside a trace.
func beside(tr *trace.Trace, rs ...metric.Request) Trial {
	wall := int64(0)
	for _, r := range rs {
		wall = max(wall, r.Dispatched+r.End)
	}
	return Trial{Trace: tr, Requests: rs, StartUnixNS: startWall, WallNS: wall, Local: true}
}

func idleAt(from, to float64) *Span {
	return &Span{startWall + int64(from*1e9), startWall + int64(to*1e9)}
}

// one is the energy at concurrency 1 of bases.
func one(bases ...string) Options {
	return Options{Name: "c=1", Streams: 1, Bases: bases, Protocol: metric.CapacityV3}
}

// want holds a value against a number, or a reason code.
func want(t testing.TB, what string, got metric.Value, v float64, reason string) {
	t.Helper()
	switch {
	case reason != "" && (got.Value != nil || got.Reason != reason):
		t.Errorf("%s: %s, want null with %s", what, text(got), reason)
	case reason == "" && got.Value == nil:
		t.Errorf("%s: %s, want %.12g", what, text(got), v)
	case reason == "" && math.Abs(*got.Value-v) > 1e-7*max(math.Abs(v), 1):
		t.Errorf("%s: %s, want %.12g", what, text(got), v)
	}
}
