package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter"
	"github.com/cupel-dev/cupel/stages/trace"
)

// The meter of a candidate is where its binding says, or beside cupel when the
// endpoint is on this machine.
func TestMeterPlace(t *testing.T) {
	t.Setenv("METER_TOKEN", "t0ken")
	t.Setenv("NO_TOKEN", "")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(meterVariable, self)
	for name, c := range map[string]struct {
		b    spec.Binding
		want meterPlace
		code string
		err  error
	}{
		"local":            {b: spec.Binding{URL: "http://127.0.0.1:8000"}, want: meterPlace{path: self}},
		"embedded":         {b: spec.Binding{URL: "embedded:tiny-f16"}, want: meterPlace{path: self, cpu: true}},
		"elsewhere":        {b: spec.Binding{URL: "http://gpu-host:8000"}, code: hardware.NotLocal},
		"through a tunnel": {b: spec.Binding{URL: "http://127.0.0.1:8000", Hardware: spec.NoHardware}, code: hardware.NotLocal},
		"with a file":      {b: spec.Binding{URL: "http://127.0.0.1:8000", Hardware: "host.json"}, code: hardware.NotLocal},
		"none":             {b: spec.Binding{URL: "http://127.0.0.1:8000", Meter: spec.NoMeter}, code: hardware.NoMeter},
		"served":           {b: spec.Binding{URL: "http://gpu-host:8000", Meter: "https://gpu-host:9151", MeterTokenEnv: "METER_TOKEN"}, want: meterPlace{url: "https://gpu-host:9151", token: "t0ken"}},
		"served on a file": {b: spec.Binding{URL: "http://127.0.0.1:8000", Hardware: "host.json", Meter: "http://127.0.0.1:9151"}, want: meterPlace{url: "http://127.0.0.1:9151"}},
		"without a token":  {b: spec.Binding{URL: "http://gpu-host:8000", Meter: "https://gpu-host:9151", MeterTokenEnv: "NO_TOKEN"}, err: errAny},
	} {
		w := &wiring{bindings: map[string]spec.Binding{"fp8": c.b}}
		got, err := w.meterPlaceOf("fp8")
		var none *meterError
		switch {
		case c.err != nil:
			if err == nil || errors.As(err, &none) {
				t.Errorf("%s: %v", name, err)
			}
		case c.code != "":
			if !errors.As(err, &none) || none.code != c.code {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || got != c.want:
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := (&wiring{loaded: &spec.Loaded{Campaign: &spec.Campaign{}}}).meterPlaceOf("fp8"); !errors.Is(err, step.ErrUnreachable) {
		t.Errorf("no binding: %v", err)
	}
	t.Setenv(meterVariable, "off")
	m, err := (&wiring{bindings: map[string]spec.Binding{"fp8": {URL: "http://127.0.0.1:1"}}}).meterOf("fp8")
	if err != nil || m.Record != nil || m.Reason != hardware.NoMeter || m.Detail != "CUPEL_METER is off" {
		t.Errorf("%+v, %v", m, err)
	}
}

var errAny = errors.New("any")

// What a probe says of a machine stays the same for other devices of the same kind,
// and whatever its numbers are.
func TestMeterDoc(t *testing.T) {
	channel := func(device string, d trace.Domain, q trace.Quantity, source string) trace.Probed {
		return trace.Probed{Channel: trace.Channel{Device: device, Domain: d, Quantity: q, Unit: "mJ", Source: source}, Last: new(int64(7))}
	}
	p := func(a, b string) *trace.Probe {
		return &trace.Probe{
			Devices: []trace.Device{{ID: a, Kind: trace.GPU}, {ID: b, Kind: trace.GPU}, {ID: "package-0", Kind: trace.CPU}},
			Channels: []trace.Probed{
				channel("package-0", trace.RAPLPackage, trace.Energy, "intel-rapl:0/energy_uj"),
				channel(a, trace.NVGPU, trace.Energy, "counter"), channel(a, trace.NVGPU, trace.Power, "field 186"),
				channel(b, trace.NVGPU, trace.Energy, "field 191"), channel(b, trace.NVGPU, trace.Power, "field 186"),
			},
		}
	}
	want := evidence.MeterDoc{Reads: []evidence.MeterReads{
		{Domain: trace.NVGPU, Quantity: trace.Energy, Kind: trace.GPU, Devices: 2, Sources: []string{"counter", "field 191"}},
		{Domain: trace.NVGPU, Quantity: trace.Power, Kind: trace.GPU, Devices: 2, Sources: []string{"field 186"}},
		{Domain: trace.RAPLPackage, Quantity: trace.Energy, Kind: trace.CPU, Devices: 1, Sources: []string{"intel-rapl:0/energy_uj"}},
	}}
	for _, ids := range [][2]string{{"GPU-1", "GPU-2"}, {"GPU-8", "GPU-9"}} {
		if d := cmp.Diff(want, meterDoc(p(ids[0], ids[1]))); d != "" {
			t.Error(d)
		}
	}
	if doc := meterDoc(&trace.Probe{None: &trace.Missing{Reason: "no-nvml"}}); doc.Reason != "no-nvml" || doc.Reads != nil {
		t.Errorf("%+v", doc)
	}
	if doc := meterDoc(&trace.Probe{}); doc.Reason != hardware.NotReadable {
		t.Errorf("%+v", doc)
	}
}

// A meter that a binding names and that does not answer is an error; one that answers
// with something else is no meter.
func TestMeterElsewhere(t *testing.T) {
	say, status := "", http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, say)
	}))
	at := meterElsewhere(meterPlace{url: srv.URL, token: "t0ken"}, "fp8")
	say = `{"schema":"cupel/meter-probe/v1","meter":"m","hz":0,"duration_ns":0,"clock":{"synchronised":false},"devices":[{"id":"GPU-1","kind":"gpu","index":0}],` +
		`"channels":[{"device":"GPU-1","domain":"nvml.gpu","quantity":"energy","unit":"mJ","source":"a","period":{"ticks":0,"looks":0},"last":null}],"bases":[]}`
	if p, err := at.list(t.Context()); err != nil || len(p.Channels) != 1 {
		t.Errorf("%v", err)
	}
	say = "hello"
	var failed *meterError
	if _, err := at.list(t.Context()); !errors.As(err, &failed) || failed.code != hardware.MeterFailed {
		t.Errorf("%v", err)
	}
	status = http.StatusUnauthorized
	if _, err := at.list(t.Context()); !errors.Is(err, step.ErrOutside) || errors.Is(err, step.ErrUnreachable) || strings.Contains(err.Error(), "t0ken") {
		t.Errorf("%v", err)
	}
	stop := make(chan struct{})
	if err := at.record(t.Context(), meter.Want{}, stop, io.Discard); err == nil || err.Error() != "the meter of fp8: 401 Unauthorized" {
		t.Errorf("%v", err)
	}
	srv.Close()
	if err := at.record(t.Context(), meter.Want{}, stop, io.Discard); err == nil || err.Error() != "the meter of fp8: connection refused" {
		t.Errorf("%v", err)
	}
	if _, err := at.list(t.Context()); !errors.Is(err, step.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	w := &wiring{bindings: map[string]spec.Binding{"fp8": {URL: "http://h:1", Meter: srv.URL}}}
	if _, _, err := w.lookAtMeter(t.Context(), "fp8"); !errors.Is(err, step.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	if m, err := w.meterOf("fp8"); err != nil || m.Record == nil || !m.Remote {
		t.Errorf("%+v, %v", m, err)
	}
}

// What is kept of a failure names the candidate, and no address in whatever form.
func TestMeterElsewhereNamed(t *testing.T) {
	for address, errs := range map[string]map[string]string{
		"http://gpu-host:9151/": {
			"recording of http://gpu-host:9151, after 1287 lines: it ended": "recording of the meter of fp8, after 1287 lines: it ended",
			"http://gpu-host:9151/v1/clock: the answer is no clock":         "the meter of fp8: the answer is no clock",
			"http://gpu-host:9151/v1/recordings/0af3/stop: 404 Not Found":   "the meter of fp8: 404 Not Found",
		},
		"HTTPS://gpu-host/behind": {"https://gpu-host/behind/v1/clock: 502 Bad Gateway": "the meter of fp8: 502 Bad Gateway"},
	} {
		for said, want := range errs {
			if got := meterElsewhere(meterPlace{url: address}, "fp8").named(errors.New(said)); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
	lookup := fmt.Errorf("http://gpu-host:9151/v1/clock: %w", &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "gpu-host", Server: "10.0.0.1:53"}})
	if got := meterElsewhere(meterPlace{url: "http://gpu-host:9151"}, "fp8").named(lookup); got != "the meter of fp8: no such host" {
		t.Error(got)
	}
}

// A GPU that a binding names is one that the meter elsewhere lists, by index or UUID.
func TestGPUsThere(t *testing.T) {
	p := &trace.Probe{Devices: []trace.Device{{ID: "GPU-1", Kind: trace.GPU, Index: 3}, {ID: "package-5", Kind: trace.CPU, Index: 5}}}
	for _, ok := range [][]string{nil, {"3"}, {"GPU-1", "3"}, {"MIG-7"}} {
		if err := gpusThere(p, ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	if err := gpusThere(p, []string{"3", "5"}); !errors.Is(err, step.ErrOutside) || !strings.Contains(err.Error(), "gpu 5: there is no such GPU; ") {
		t.Error(err)
	}
	for _, none := range []*trace.Probe{{None: &trace.Missing{Reason: hardware.NoNVML}}, {Missing: []trace.Missing{{Domain: trace.NVGPU, Reason: hardware.NoNVML}}}} {
		if err := gpusThere(none, []string{"0"}); !errors.Is(err, step.ErrOutside) || !strings.Contains(err.Error(), hardware.Means(hardware.NoNVML)) {
			t.Error(err)
		}
	}
}

// How long cells last, and how well a base is known in them.
func TestEnergySays(t *testing.T) {
	e := &spec.Energy{Of: "load", Bases: []string{"nv.gpu", "wall", "rapl.package"}, Window: "60s", Settle: "3s", Idle: "10s", Cooling: "5m"}
	c := &spec.Campaign{Measure: map[string]spec.Workload{"load": {Kind: "capacity", Capacity: &spec.Capacity{}}, "power": {Kind: "energy", Energy: e}}}
	here := probed{probe: &trace.Probe{
		DurationNS: 3e9, Missing: []trace.Missing{{Domain: trace.RAPLPackage, Reason: "no-permission"}},
		Bases: []trace.Based{{Base: "nv.gpu", PeriodNS: new(int64(100e6)), WindowNS: new(int64(5e9))}, {Base: "wall", Reason: trace.NoPeriod}},
	}}
	for _, tt := range []struct {
		change func()
		here   probed
		want   string
	}{
		{func() {}, here, "power: cells of at least 60 s (window) after 13 s of idle and at most 5m0s for a steady temperature; " +
			"nv.gpu changes every 100 ms: quantisation 0.083 % at this window; wall did not change twice in 3.0 s; rapl.package cannot be read here: no-permission (rapl.package)"},
		{func() { e.Window, e.Bases = "2s", []string{"nv.gpu"} }, here, "power: cells of at least 5.0 s (for 1 % of nv.gpu) after 13 s of idle and at most 5m0s for a steady temperature; nv.gpu changes every 100 ms: quantisation 1 % at this window"},
		{func() { e.Idle, e.Window = "0s", "1m" }, probed{err: errNotProbed}, "power: cells of at least 60 s (window), nothing idle before; how often nv.gpu changes is told by cupel check"},
		{func() {
			c.Measure["load"] = spec.Workload{Kind: "open-loop", OpenLoop: &spec.OpenLoop{Arrivals: spec.Arrivals{Duration: "90s"}}}
		}, probed{err: errors.New("no meter")}, "power: cells of 90 s (the schedule), nothing idle before; how often nv.gpu changes is not known: no meter"},
		{func() {
			c.Measure["load"] = spec.Workload{Kind: "open-loop", OpenLoop: &spec.OpenLoop{Arrivals: spec.Arrivals{Process: "trace"}}}
		}, here, "power: cells as long as their schedule, nothing idle before; nv.gpu changes every 100 ms"},
		{func() {}, probed{probe: &trace.Probe{None: &trace.Missing{Reason: "no-nvml"}}}, "power: cells as long as their schedule, nothing idle before; nv.gpu cannot be read here: no-nvml"},
	} {
		tt.change()
		if got := energySays(c, tt.here); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%q\nwant %q", got, tt.want)
		}
	}
}

// Why nothing is known is the same for every base and every workload.
func TestEnergySaysOnce(t *testing.T) {
	e := &spec.Energy{Of: "load", Bases: []string{"nv.gpu", "wall"}, Window: "60s", Idle: "0s"}
	c := &spec.Campaign{Measure: map[string]spec.Workload{"load": {Kind: "capacity", Capacity: &spec.Capacity{}}, "power": {Kind: "energy", Energy: e}, "watts": {Kind: "energy", Energy: e}}}
	want := []string{
		"power: cells of at least 60 s (window), nothing idle before; how often nv.gpu, wall change is not known: CUPEL_METER is off",
		"watts: cells of at least 60 s (window), nothing idle before",
	}
	if d := cmp.Diff(want, energySays(c, probed{err: errors.New("CUPEL_METER is off")})); d != "" {
		t.Error(d)
	}
}

// The doctor has a line for each base that can be read.
func TestDoctorEnergy(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		meter       meterFinding
		state, says string
	}{
		"no meter":     {meterFinding{err: &meterError{hardware.NoMeter, ""}}, doctorMissing, "not known without the meter"},
		"wrong path":   {meterFinding{err: errors.New("x")}, doctorMissing, "not known without the meter"},
		"not to start": {meterFinding{path: self + ".gone"}, doctorWarn, "cupel-meter: no such file or directory"},
	} {
		got := lookEnergy(context.Background(), &doctor{meter: c.meter})
		if len(got) != 1 || got[0].State != c.state || got[0].Says != c.says {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, c := range []struct {
		b    trace.Based
		want diagnosis
	}{
		{trace.Based{Base: "nv.gpu", PeriodNS: new(int64(100e6)), WindowNS: new(int64(5e9))}, diagnosis{State: doctorOK, Says: "nv.gpu changes every 100 ms: 1 % in a window of 5.0 s"}},
		{trace.Based{Base: "wall", Reason: trace.NoPeriod}, diagnosis{State: doctorWarn, Says: "wall did not change twice in 3.0 s", Fix: "look again under load; a counter that stands still is refused"}},
	} {
		if got := baseLine(c.b, 3e9); got != c.want {
			t.Errorf("%+v", got)
		}
	}
	p := &trace.Probe{Missing: []trace.Missing{{Domain: trace.NVGPU, Reason: "no-nvml"}, {Domain: trace.NVGPU, Reason: "no-nvml"}, {What: "energy_uj", Reason: "no-permission"}}}
	if got := missingOf(p); got != " (nvml.gpu: no-nvml, energy_uj: no-permission)" || missingOf(&trace.Probe{}) != "" {
		t.Error(got)
	}
}
