package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
	"github.com/cupel-dev/cupel/stages/trace"
)

// scriptedMeter looks 20 times a second, in the bubble's time, at a counter of 300 W that
// is published every period, and at a temperature.
type scriptedMeter struct {
	period  time.Duration
	celsius func(since time.Duration) int64 // nil = there is no thermometer
	dies    time.Duration                   // after which it ends in an error, 0 = never
	deaf    bool                            // it does not stop when it is told

	want meter.Want // that it was started with
}

func (m *scriptedMeter) record(ctx context.Context, want meter.Want, stop <-chan struct{}, w io.Writer) error {
	m.want = want
	start := time.Now()
	h := trace.Header{Meter: "scripted", Made: "sample", Hz: 20, WallNS: start.UnixNano(), Devices: []trace.Device{{ID: "GPU-1", Kind: trace.GPU}},
		Channels: []trace.Channel{{Device: "GPU-1", Domain: trace.NVGPU, Quantity: trace.Energy, Unit: "mJ", Source: "a"}}}
	if m.celsius != nil {
		h.Channels = append(h.Channels, trace.Channel{Device: "GPU-1", Domain: trace.NVGPU, Quantity: trace.Temperature, Unit: "C", Source: "b"})
	}
	out, err := trace.NewWriter(w, h)
	if err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		at := time.Since(start)
		if m.dies > 0 && at >= m.dies {
			return errors.New("cupel-meter: the driver is gone")
		}
		_ = out.Sample(0, int64(at), int64(at/m.period)*int64(m.period)*300/1e6, "")
		if m.celsius != nil {
			_ = out.Sample(1, int64(at), m.celsius(at), "")
		}
		if err := out.Flush(); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-stop:
			if m.deaf {
				<-ctx.Done()
				return ctx.Err()
			}
			return out.End(int64(time.Since(start)), trace.End{Why: "asked"})
		}
	}
}

// energyOf is a campaign with one candidate, whose energy on w is measured.
func energyOf(w spec.Workload, change ...func(*spec.Energy)) *spec.Campaign {
	e := &spec.Energy{Of: "load", Bases: []string{"nv.gpu"}, Window: "20s", Settle: "3s", Idle: "10s", Cooling: "5m", Coarsest: 5, Processes: 1}
	for _, f := range change {
		f(e)
	}
	return &spec.Campaign{
		Candidates: map[string]spec.Candidate{"fp8": {Sampling: spec.Sampling{TopP: 1, MaxTokens: 64}}},
		Measure:    map[string]spec.Workload{"load": w, "power": {Kind: "energy", Energy: e}},
	}
}

// fourAtOnce is a capacity workload of twelve requests by four clients.
func fourAtOnce() spec.Workload {
	return spec.Workload{Kind: "capacity", Capacity: &spec.Capacity{Protocol: "capacity-v3", Concurrency: []int{4}, Requests: 12, Warmup: 4, Trials: 1,
		Prompt: spec.CapacityPrompt{Tokens: 40, Cache: "unique", Calibrate: "nominal"}, Output: spec.CapacityOutput{Policy: "observe"}}}
}

// energyCell runs the first energy cell of a campaign beside a meter and returns its one
// block, and the job.
func energyCell(t *testing.T, c *spec.Campaign, ep Endpoint, m func(string) (Meter, error)) (cellBlock, *pintest.Job) {
	t.Helper()
	job := energyJob(t, c)
	synctest.Test(t, func(t *testing.T) {
		cell := Cell{Dial: dial(ep), CPU: func() int64 { return 0 }, open: openInBubble, Attempt: func() string { return "7" }, Meter: m,
			Clock: func() trace.Clock { return trace.Clock{Synchronised: true, ErrorNS: 7} }}
		if err := cell.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	})
	blocks := readCellFile(t, job.Output(evidence.OutCell))
	if len(blocks) != 1 || blocks[0].head.Kind != "energy" || blocks[0].head.Energy == nil {
		t.Fatalf("%d blocks", len(blocks))
	}
	return blocks[0], job
}

func energyJob(t *testing.T, c *spec.Campaign) *pintest.Job {
	t.Helper()
	job := cellJob(t, load())
	steps := Steps(c)
	i := slices.IndexFunc(steps, func(s step.Step) bool { return s.Kind == KindCell && strings.Contains(s.Name, "/power/") })
	job.S = steps[i]
	job.Inputs[meterInput] = []byte(`{"reads":[],"reason":"no-meter"}`)
	return job
}

// TestEnergyMeterGone: a meter that was seen, and so is in the key, has to record.
func TestEnergyMeterGone(t *testing.T) {
	for name, m := range map[string]Meter{
		"not there": {Reason: "no-meter"},
		"reads nothing": {Record: func(_ context.Context, _ meter.Want, _ <-chan struct{}, w io.Writer) error {
			return meter.None(w, "no-nvml", "")
		}},
		"fails": {Record: func(context.Context, meter.Want, <-chan struct{}, io.Writer) error { return errors.New("no such GPU") }},
	} {
		job, ep := energyJob(t, energyOf(fourAtOnce())), newEngine()
		job.Inputs[meterInput] = []byte(`{"reads":[{"domain":"nvml.gpu","quantity":"energy","kind":"gpu","devices":1,"sources":["a"]}]}`)
		err := Cell{Dial: dial(ep), Meter: func(string) (Meter, error) { return m, nil }}.Run(t.Context(), job)
		if !errors.Is(err, step.ErrOutside) || len(ep.asked) != 0 || !strings.Contains(err.Error(), "the meter that was seen beside the candidate does not record: no") {
			t.Errorf("%s: %v, %d asked", name, err, len(ep.asked))
		}
	}
}

func with(m *scriptedMeter) func(string) (Meter, error) {
	return func(string) (Meter, error) { return Meter{Record: m.record}, nil }
}

func recorded(t *testing.T, job *pintest.Job) *trace.Trace {
	t.Helper()
	got, err := trace.Read(bytes.NewReader(job.Output(evidence.OutTrace)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestEnergyCell: four warm-up requests and a pilot of twelve at 100 ms by four clients
// are 40 requests a second; twenty seconds of that, and 15 % more, are 920 requests. The
// temperature falls for 30 s; it is waited for, then 3 s, then 10 s are idle.
func TestEnergyCell(t *testing.T) {
	ep := newEngine()
	uuid := "GPU-1"
	ep.Under = hardware.Seen{Shown: hardware.Doc{Report: &hardware.Report{GPUs: []hardware.GPU{{UUID: &uuid}}}}}
	m := &scriptedMeter{period: 100 * time.Millisecond, celsius: func(at time.Duration) int64 { return max(40, 70-int64(at/time.Second)) }}
	b, job := energyCell(t, energyOf(fourAtOnce()), ep, with(m))
	h := b.head
	if h.Cell != "c=4" || h.Requests != 920 || h.WallNS != 23e9 || h.Concurrency != 4 || len(ep.asked) != 4+12+920 || ep.most != 4 {
		t.Errorf("%+v, %d asked, %d at once", h, len(ep.asked), ep.most)
	}
	run := *h.Energy
	idle := *run.Idle
	run.Idle = nil
	rate := 40.0
	if run.SteadyNS < 38e9 || run.SteadyNS > 41e9 {
		t.Errorf("a steady temperature was waited for %d ns", run.SteadyNS)
	}
	run.SteadyNS = 0
	if d := cmp.Diff(evidence.MeterRun{Meter: "local", GPUs: []string{"GPU-1"}, WantedNS: 20e9, PeriodNS: 100e6, PilotRate: &rate, Clock: &trace.Clock{Synchronised: true, ErrorNS: 7}}, run); d != "" {
		t.Error(d)
	}
	if idle.EndUnixNS-idle.StartUnixNS != 10e9 || idle.EndUnixNS > h.StartUnixNS {
		t.Errorf("idle %+v, then from %d", idle, h.StartUnixNS)
	}
	if !slices.Equal(m.want.GPUs, []string{"GPU-1"}) {
		t.Errorf("%+v", m.want)
	}
	tr := recorded(t, job)
	last := tr.WallNS + tr.LastT
	if tr.End == nil || tr.WallNS > idle.StartUnixNS || last < h.StartUnixNS+h.WallNS+200e6 {
		t.Errorf("the recording is from %d to %d, the cell from %d for %d", tr.WallNS, last, h.StartUnixNS, h.WallNS)
	}
	seen := map[string]bool{}
	for i, r := range ep.asked {
		if seen[r.Messages[0].Content] {
			t.Fatalf("request %d has been sent before", i)
		}
		seen[r.Messages[0].Content] = true
	}
	for _, at := range ep.at {
		if n := at.UnixNano(); n >= idle.StartUnixNS && n < idle.EndUnixNS {
			t.Errorf("a request was sent at %d, while the machine was to be idle", n)
		}
	}
}

// TestEnergySlowCounter: half of a period of 2 s is 1 % of 100 s, and twenty-one of them
// are 42 s.
func TestEnergySlowCounter(t *testing.T) {
	b, _ := energyCell(t, energyOf(fourAtOnce()), newEngine(), with(&scriptedMeter{period: 2 * time.Second}))
	run := b.head.Energy
	if run.WantedNS != 100e9 || run.PeriodNS != 2e9 || b.head.WallNS < 100e9 || run.Idle.EndUnixNS-run.Idle.StartUnixNS != 42e9 {
		t.Errorf("%+v, %d requests in %d", run, b.head.Requests, b.head.WallNS)
	}
	if run.Unsteady == "" || run.SteadyNS != 0 {
		t.Errorf("%+v: there is no thermometer", run)
	}
}

// TestEnergyFrozenCounter: a counter that stands still is not waited for for ever, and
// makes nothing longer.
func TestEnergyFrozenCounter(t *testing.T) {
	b, job := energyCell(t, energyOf(fourAtOnce()), newEngine(), with(&scriptedMeter{period: time.Hour}))
	if run := b.head.Energy; run.WantedNS != 20e9 || run.PeriodNS != 0 || run.Idle.EndUnixNS-run.Idle.StartUnixNS != 10e9 {
		t.Errorf("%+v", run)
	}
	if tr := recorded(t, job); tr.LastT < 95e9 || tr.LastT > 95e9+60e9 {
		t.Errorf("the recording lasts %d ns", tr.LastT)
	}
}

// TestEnergyBounds: what a counter asks for is bounded; what the campaign does is not.
func TestEnergyBounds(t *testing.T) {
	for _, c := range []struct{ window, period, long, rest time.Duration }{
		{time.Minute, 0, time.Minute, 10 * time.Second},
		{time.Minute, 100 * time.Millisecond, time.Minute, 10 * time.Second},
		{time.Minute, 30 * time.Second, 25 * time.Minute, 10*time.Minute + 30*time.Second},
		{time.Minute, time.Hour, 30 * time.Minute, 15 * time.Minute},
		{2 * time.Hour, time.Hour, 2 * time.Hour, 15 * time.Minute},
	} {
		if at := (times{window: c.window, idle: 10 * time.Second}); at.wanted(c.period/2) != max(c.window, 50*c.period) || at.stretched(c.period/2) != c.long || at.rest(c.period) != c.rest {
			t.Errorf("%+v: %s, %s", c, at.stretched(c.period/2), at.rest(c.period))
		}
	}
}

// TestEnergyNeverSteady: a temperature that keeps falling is not waited for longer than
// cooling, and said.
func TestEnergyNeverSteady(t *testing.T) {
	falling := &scriptedMeter{period: 100 * time.Millisecond, celsius: func(at time.Duration) int64 { return 500 - int64(at/time.Second) }}
	b, _ := energyCell(t, energyOf(fourAtOnce(), func(e *spec.Energy) { e.Cooling = "30s" }), newEngine(), with(falling))
	if run := b.head.Energy; run.SteadyNS != 30e9 || run.Unsteady != "the temperature was not steady after 30s" || run.Idle == nil {
		t.Errorf("%+v", run)
	}
}

// TestEnergyGPUs: what the hardware does not tell, the binding may.
func TestEnergyGPUs(t *testing.T) {
	m := &scriptedMeter{period: 100 * time.Millisecond}
	b, _ := energyCell(t, energyOf(fourAtOnce()), newEngine(), func(string) (Meter, error) {
		return Meter{Record: m.record, Remote: true, GPUs: []string{"1"}}, nil
	})
	if !slices.Equal(m.want.GPUs, []string{"1"}) || b.head.Energy.GPUs != nil || b.head.Energy.Meter != "remote" {
		t.Errorf("%+v, %+v", m.want, b.head.Energy)
	}
}

// TestEnergyWithoutIdle: nothing is waited for.
func TestEnergyWithoutIdle(t *testing.T) {
	m := &scriptedMeter{period: 100 * time.Millisecond, celsius: func(time.Duration) int64 { return 40 }}
	b, _ := energyCell(t, energyOf(fourAtOnce(), func(e *spec.Energy) { e.Idle = "0s" }), newEngine(), with(m))
	if run := b.head.Energy; run.Idle != nil || run.SteadyNS != 0 || run.Unsteady != "" {
		t.Errorf("%+v", run)
	}
}

// TestEnergyWithoutMeter: the cell is measured all the same, the machine left idle for
// a recording that may be made elsewhere, and the trace is a line that says why.
func TestEnergyWithoutMeter(t *testing.T) {
	for name, m := range map[string]func(string) (Meter, error){
		"nobody":       nil,
		"switched off": func(string) (Meter, error) { return Meter{Reason: "no-meter", Detail: "CUPEL_METER is off"}, nil },
	} {
		b, job := energyCell(t, energyOf(fourAtOnce()), newEngine(), m)
		if run := b.head.Energy; run.Meter != "none" || run.Idle == nil || run.Failure != "" || b.head.Requests != 920 {
			t.Errorf("%s: %+v", name, run)
		}
		if tr := recorded(t, job); tr.None == nil || tr.None.Reason != "no-meter" {
			t.Errorf("%s: %+v", name, tr.Header)
		}
	}
}

// TestEnergyMeterDies: what it recorded stays, the cell is measured, and says so.
func TestEnergyMeterDies(t *testing.T) {
	for name, c := range map[string]struct {
		m    scriptedMeter
		want string
	}{
		"in the timed part":  {scriptedMeter{period: 100 * time.Millisecond, dies: 20 * time.Second}, "cupel-meter: the driver is gone"},
		"while it is cooled": {scriptedMeter{period: 100 * time.Millisecond, dies: time.Second, celsius: func(time.Duration) int64 { return 40 }}, "cupel-meter: the driver is gone"},
		"at the end":         {scriptedMeter{period: 100 * time.Millisecond, deaf: true}, "it did not end within 15s"},
	} {
		b, job := energyCell(t, energyOf(fourAtOnce()), newEngine(), with(&c.m))
		if run := b.head.Energy; run.Failure != c.want || b.head.Requests != 920 || run.Idle == nil {
			t.Errorf("%s: %+v", name, run)
		}
		if tr := recorded(t, job); tr.End != nil || len(tr.Samples[0]) < 10 || tr.None != nil {
			t.Errorf("%s: %+v", name, tr.Header)
		}
		if len(job.Remarks) != 1 || job.Remarks[0] != "the meter: "+c.want {
			t.Errorf("%s: %q", name, job.Remarks)
		}
	}
	silent := func(string) (Meter, error) {
		return Meter{Record: func(context.Context, meter.Want, <-chan struct{}, io.Writer) error { return errors.New("no such GPU") }}, nil
	}
	b, job := energyCell(t, energyOf(fourAtOnce()), newEngine(), silent)
	if tr := recorded(t, job); b.head.Energy.Failure != "no such GPU" || tr.None == nil || *tr.None != (trace.Missing{Reason: hardware.MeterFailed, Detail: "no such GPU"}) {
		t.Errorf("%+v, %+v", b.head.Energy, tr.Header)
	}
}

// TestEnergyMeterWrong: an error of who was to find the meter is the cell's.
func TestEnergyMeterWrong(t *testing.T) {
	job := energyJob(t, energyOf(fourAtOnce()))
	ep := newEngine()
	cell := Cell{Dial: dial(ep), Meter: func(string) (Meter, error) { return Meter{}, step.Mark(step.ErrOutside, errors.New("no executable")) }}
	if err := cell.Run(t.Context(), job); !errors.Is(err, step.ErrOutside) || len(ep.asked) != 0 {
		t.Errorf("%v, %d asked", err, len(ep.asked))
	}
}

// TestEnergyStops: a cell that is interrupted leaves nothing, and no meter behind.
func TestEnergyStops(t *testing.T) {
	job := energyJob(t, energyOf(fourAtOnce()))
	ended := false
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel) // while it is idle
		m := &scriptedMeter{period: 100 * time.Millisecond}
		cell := Cell{Dial: dial(newEngine()), Meter: func(string) (Meter, error) {
			return Meter{Record: func(ctx context.Context, want meter.Want, stop <-chan struct{}, w io.Writer) error {
				defer func() { ended = true }()
				return m.record(ctx, want, stop, w)
			}}, nil
		}}
		if err := cell.Run(ctx, job); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	if !ended || job.Output(evidence.OutCell) != nil || job.Output(evidence.OutTrace) != nil {
		t.Error("something is left")
	}
}

// TestEnergyKinds: decode and bench are made longer, an open loop runs as it is
// scheduled.
func TestEnergyKinds(t *testing.T) {
	for kind, c := range map[string]struct {
		w        spec.Workload
		requests int // timed
		asked    int
	}{
		// 100 ms an answer, one client: 10 a second for 20 s, and 15 %
		"decode": {spec.Workload{Kind: "decode", Decode: &spec.Decode{OutputTokens: 8, Requests: 2, Concurrency: []int{1}, Warmup: 1, Trials: 1}}, 230, 1 + 2 + 230},
		// runs of two prompts: an even number
		"bench": {spec.Workload{Kind: "bench", Bench: &spec.Bench{Runs: 1, Prompts: []string{"code", "long_gen"}}}, 230, 1 + 2 + 230},
		"open-loop": {spec.Workload{Kind: "open-loop", OpenLoop: &spec.OpenLoop{Protocol: "capacity-v3", Warmup: 1, Trials: 1, Prompt: spec.CapacityPrompt{Cache: "unique"}, Output: spec.CapacityOutput{Policy: "observe"},
			Arrivals: spec.Arrivals{Process: "constant", Rates: []float64{2}, Duration: "5s"}}}, 10, 1 + 10},
	} {
		ep := newEngine()
		b, _ := energyCell(t, energyOf(c.w), ep, with(&scriptedMeter{period: 100 * time.Millisecond}))
		if b.head.Requests != c.requests || len(ep.asked) != c.asked || b.head.Energy.WantedNS != 20e9 || b.head.Energy.Idle == nil {
			t.Errorf("%s: %d requests, %d asked, %+v", kind, b.head.Requests, len(ep.asked), b.head.Energy)
		}
		if short := fellShort(&b.head); (short != "") != (kind == "open-loop") {
			t.Errorf("%s: %q after %d", kind, short, b.head.WallNS)
		}
	}
	w := fourAtOnce()
	w.Capacity.Requests = 2000 // more than the window needs
	if b, _ := energyCell(t, energyOf(w), newEngine(), nil); b.head.Requests != 2000 {
		t.Errorf("%d requests, and the workload asks for 2000", b.head.Requests)
	}
}

// TestEnergyFewRequests: a workload of fewer requests than clients says nothing of how
// fast all of them are. The engine answers 40 a second however many ask: 16 clients send
// a pilot of 32, and the window is not made several times as long as it was to be.
func TestEnergyFewRequests(t *testing.T) {
	few := fourAtOnce()
	few.Capacity.Concurrency, few.Capacity.Requests, few.Capacity.Warmup = []int{16}, 4, 0
	for name, w := range map[string]spec.Workload{
		"capacity": few,
		"decode":   {Kind: "decode", Decode: &spec.Decode{OutputTokens: 8, Requests: 4, Concurrency: []int{16}, Trials: 1}},
	} {
		ep := newEngine()
		ep.took = func(inFlight int) time.Duration { return time.Duration(inFlight) * 25 * time.Millisecond }
		b, _ := energyCell(t, energyOf(w), ep, with(&scriptedMeter{period: 100 * time.Millisecond}))
		h := b.head
		if len(ep.asked) != h.Requests+32 || h.MaxInFlight != 16 || h.WallNS < 20e9 || h.WallNS > 25e9 {
			t.Errorf("%s: %d asked, %d of them in %d ns, %d at once", name, len(ep.asked), h.Requests, h.WallNS, h.MaxInFlight)
		}
	}
}

// TestGoingOn: twelve answers by four clients of which one is slow; the rate is that of
// clients that go on.
func TestGoingOn(t *testing.T) {
	at := func(ends ...int64) *timed {
		b := &timed{head: evidence.CellHeader{Concurrency: 8, MaxInFlight: 2, WallNS: 4e9}}
		for _, e := range ends {
			b.kept = append(b.kept, metric.Request{End: e})
		}
		return b
	}
	if got := goingOn(at(1e9, 1e9, 1e9, 1e9)); math.Abs(got-2) > 1e-12 {
		t.Errorf("%v", got)
	}
	failed := at(1e9, 1e9, 1e9, 1e9)
	for i := range failed.kept {
		failed.kept[i].FailureClass = "rejected"
	}
	if got := goingOn(failed); math.Abs(got-1) > 1e-12 {
		t.Errorf("%v of requests that failed", got)
	}
}

// TestEnergyMetrics: performance and energy of one point stand beside one another, by
// the same names, and so does what the campaign declares.
func TestEnergyMetrics(t *testing.T) {
	c := energyOf(spec.Workload{Kind: "bench", Bench: &spec.Bench{Runs: 1, Prompts: []string{"code", "long_gen"}}}, func(e *spec.Energy) {
		e.Window = "2s"
		e.Calibration = &spec.EnergyCalibration{Base: "nv.gpu", A: 40, B: 1.1, R2: 0.99, N: 8, Meter: "plug", Data: &spec.File{Digest: step.Sum([]byte("x"))}}
	})
	_, job := energyCell(t, c, newEngine(), nil)
	doc := energyMetrics(t, c, job, nil)
	var perf, joules []string
	for _, cell := range doc.Cells {
		perf = append(perf, cell.Name)
	}
	for _, cell := range doc.Energy {
		joules = append(joules, cell.Name)
		if v := cell.Bases[0].Windows[energy.Request].J; v.Value != nil || v.Reason != "no-meter" {
			t.Errorf("%s: %+v", cell.Name, v)
		}
		if v := cell.Bases[0].Windows[energy.Whole].J; cell.Name != "all" && v.Reason != metric.Overlapping {
			t.Errorf("%s: %+v is not this prompt's alone", cell.Name, v)
		}
	}
	if want := []string{"code", "long_gen", "all"}; !slices.Equal(perf, want) || !slices.Equal(joules, want) || doc.Kind != "energy" {
		t.Errorf("%v, %v, %s", perf, joules, doc.Kind)
	}
	if d := cmp.Diff(&energy.Calibration{Base: "nv.gpu", A: 40, B: 1.1, R2: 0.99, N: 8, Meter: "plug", SHA256: step.Sum([]byte("x")).String()}, doc.Calibration); d != "" {
		t.Error(d)
	}
	if cell := doc.Cells[2]; cell.Completed != cell.Attempted || cell.Completed < 20 {
		t.Errorf("%+v", cell)
	}
}

// energyMetrics derives from what a cell left.
func energyMetrics(t *testing.T, c *spec.Campaign, cell *pintest.Job, more map[string][]byte) evidence.LoadMetrics {
	t.Helper()
	last := metricsJob(c, cell, more)
	if err := (Metrics{}).Run(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	return decoded[evidence.LoadMetrics](t, last.Output(evidence.OutMetrics))
}

func metricsJob(c *spec.Campaign, cell *pintest.Job, more map[string][]byte) *pintest.Job {
	steps := Steps(c)
	last := &pintest.Job{S: steps[slices.IndexFunc(steps, func(s step.Step) bool { return s.Name == evidence.MetricsStep("fp8", "power") })], Inputs: map[string][]byte{}}
	for name, in := range last.S.Inputs {
		if in.Step != "" {
			last.Inputs[name] = cell.Output(in.Output)
		}
	}
	for name, b := range more {
		last.Inputs[name] = b
	}
	return last
}

// recording is a trace of n seconds that begins at a moment of another machine's clock.
func recording(start time.Time, n int) []byte {
	var b bytes.Buffer
	w, _ := trace.NewWriter(&b, trace.Header{Meter: "there", Made: "sample", WallNS: start.UnixNano(), Devices: []trace.Device{{ID: "GPU-1", Kind: trace.GPU}},
		Channels: []trace.Channel{{Device: "GPU-1", Domain: trace.NVGPU, Quantity: trace.Energy, Unit: "mJ", Source: "a"}}})
	for i := range 10*n + 1 {
		_ = w.Sample(0, int64(i)*1e8, int64(30*i), "")
	}
	_ = w.End(int64(n)*1e9, trace.End{Why: "asked"})
	return b.Bytes()
}

// TestEnergyElsewhere: of the recordings that a campaign names, that counts which was
// made while the trial ran, by the offset that is declared.
func TestEnergyElsewhere(t *testing.T) {
	named := func(offset, off string) []spec.EnergyTrace {
		f := &spec.File{Digest: step.Sum([]byte("x"))}
		return []spec.EnergyTrace{{File: f}, {File: f, Offset: offset, OffsetError: off}}
	}
	c := energyOf(fourAtOnce(), func(e *spec.Energy) { e.Traces = map[string][]spec.EnergyTrace{"fp8": named("-1h", "20ms")} })
	b, job := energyCell(t, c, newEngine(), nil)
	began := time.Unix(0, b.head.StartUnixNS)
	p := newMetricsParams(c, "fp8", "power")
	last := metricsJob(c, job, map[string][]byte{
		elsewhereInput(0): recording(began.Add(-time.Hour), 60), // by its own clock an hour ago
		elsewhereInput(1): recording(began.Add(-time.Hour-5*time.Second), 60),
	})
	blocks, err := p.readCell(last, "c=4", 1)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := p.recordings(last, blocks, "c=4")
	if err != nil {
		t.Fatal(err)
	}
	got := trials[0]
	if got.Trace == nil || got.Trace.WallNS != began.Add(-time.Hour-5*time.Second).UnixNano() || got.Local || got.None != "" || got.Idle == nil || len(got.Requests) != 920 || got.Clock.ErrorNS != 7 {
		t.Fatalf("%+v", got)
	}
	for _, o := range got.Trace.Offsets {
		if ahead := o.V.There - (o.V.Sent+o.V.Received)/2; ahead != int64(-time.Hour) || o.V.Received-o.V.Sent != 40e6 {
			t.Errorf("%+v", o)
		}
	}
	if len(got.Trace.Offsets) != 2 || got.Trace.Offsets[1].T != got.Trace.LastT {
		t.Errorf("%+v", got.Trace.Offsets)
	}
	// Neither covers the trial: its own recording counts, and that there is none.
	far := map[string][]byte{elsewhereInput(0): recording(began.Add(-time.Hour), 60), elsewhereInput(1): recording(began.Add(-3*time.Hour), 60)}
	if trials, err = p.recordings(metricsJob(c, job, far), blocks, "c=4"); err != nil || trials[0].Trace != nil || trials[0].None != "no-meter" {
		t.Errorf("%v, %+v", err, trials)
	}
	broken := metricsJob(c, job, map[string][]byte{elsewhereInput(0): []byte("x\n"), elsewhereInput(1): nil})
	if err := (Metrics{}).Run(t.Context(), broken); err == nil || !strings.Contains(err.Error(), "recording-1: line 1: the header is not JSON") {
		t.Error(err)
	}
	if doc := energyMetrics(t, c, job, far); len(doc.Energy) != 1 || doc.Energy[0].Name != "c=4" {
		t.Errorf("%+v", doc.Energy)
	}
}

// TestEnergyUnused: a recording that the campaign names and that counts for no trial is
// a doubt of the cells, with the reason.
func TestEnergyUnused(t *testing.T) {
	f := &spec.File{Digest: step.Sum([]byte("x"))}
	c := energyOf(fourAtOnce(), func(e *spec.Energy) {
		e.Traces = map[string][]spec.EnergyTrace{"fp8": {{File: f}, {File: f}, {File: f}, {File: f}, {File: f}, {File: f}}}
	})
	b, job := energyCell(t, c, newEngine(), nil)
	began, ended := time.Unix(0, b.head.StartUnixNS), time.Unix(0, b.head.StartUnixNS+b.head.WallNS)
	bare := fmt.Sprintf(`{"schema":"cupel/energy-trace/v1","meter":"there","made":"sample","wall_ns":%d,"clock":{"synchronised":true},"devices":[],"channels":[]}`+"\n"+`{"t":90000000000,"end":{"why":"asked"}}`+"\n", began.UnixNano())
	doc := energyMetrics(t, c, job, map[string][]byte{
		elsewhereInput(0): recording(began.Add(-time.Hour), 60),
		elsewhereInput(1): recording(ended.Add(90*time.Second), 60),
		elsewhereInput(2): recording(began.Add(-5*time.Second), 60),
		elsewhereInput(3): recording(began.Add(time.Second), 5),
		elsewhereInput(4): []byte(bare),
		elsewhereInput(5): []byte(`{"schema":"cupel/energy-trace/v1","meter":"there","made":"sample","wall_ns":1,"clock":{"synchronised":true},"devices":[],"channels":[],"none":{"reason":"no-nvml"}}` + "\n"),
	})
	var got []string
	for _, d := range doc.Energy[0].Doubts {
		if name, why, is := strings.Cut(d, "is used for no trial: "); is {
			got = append(got, name[:len("the recording traces[0] (sha256 ")]+why)
		}
	}
	if d := cmp.Diff([]string{
		"the recording traces[0] (sha256 it covers nothing of the time of any, and ends 59m0s before the first",
		"the recording traces[1] (sha256 it covers nothing of the time of any, and begins 1m30s after the last",
		"the recording traces[3] (sha256 another one covers more of each trial",
		"the recording traces[4] (sha256 it has no channel",
		"the recording traces[5] (sha256 nothing was recorded (no-nvml)",
	}, got); d != "" {
		t.Error(d)
	}
}

// What is asked of a recording, and recordings made elsewhere, are in no cell's key.
func TestEnergyKeys(t *testing.T) {
	cell := func(change ...func(*spec.Energy)) (step.Step, step.Step) {
		c := energyOf(fourAtOnce(), change...)
		steps := Steps(c)
		find := func(name string) step.Step {
			return steps[slices.IndexFunc(steps, func(s step.Step) bool { return s.Name == name })]
		}
		return find(evidence.CellStep("fp8", "power", "c=4", 1)), find(evidence.MetricsStep("fp8", "power"))
	}
	same := func(a, b step.Step) bool {
		x, _ := json.Marshal([]any{a.Kind, a.Revision, a.Trial, a.Params, a.Inputs})
		y, _ := json.Marshal([]any{b.Kind, b.Revision, b.Trial, b.Params, b.Inputs})
		return bytes.Equal(x, y)
	}
	plainCell, plainMetrics := cell()
	for name, c := range map[string]struct {
		change  func(*spec.Energy)
		measure bool
		derive  bool
	}{
		"window":      {func(e *spec.Energy) { e.Window = "30s" }, true, false},
		"settle":      {func(e *spec.Energy) { e.Settle = "4s" }, true, false},
		"idle":        {func(e *spec.Energy) { e.Idle = "0s" }, true, false},
		"cooling":     {func(e *spec.Energy) { e.Cooling = "0s" }, true, false},
		"bases":       {func(e *spec.Energy) { e.Bases = []string{"wall"} }, false, true},
		"coarsest":    {func(e *spec.Energy) { e.Coarsest = 1 }, false, true},
		"processes":   {func(e *spec.Energy) { e.Processes = 2 }, false, true},
		"startBand":   {func(e *spec.Energy) { e.StartBand = 2 }, false, false},
		"order":       {func(e *spec.Energy) { e.Order = "sequential" }, false, false},
		"calibration": {func(e *spec.Energy) { e.Calibration = &spec.EnergyCalibration{Base: "nv.gpu"} }, false, true},
		"traces": {func(e *spec.Energy) {
			e.Traces = map[string][]spec.EnergyTrace{"fp8": {{File: &spec.File{Digest: step.Sum([]byte("x"))}}}}
		}, false, true},
		"another's traces": {func(e *spec.Energy) {
			e.Traces = map[string][]spec.EnergyTrace{"bf16": {{File: &spec.File{Digest: step.Sum([]byte("x"))}}}}
		}, false, false},
	} {
		m, d := cell(c.change)
		if same(m, plainCell) == c.measure || same(d, plainMetrics) == c.derive {
			t.Errorf("%s: measured again %v, derived again %v", name, !same(m, plainCell), !same(d, plainMetrics))
		}
	}
	if in := plainCell.Inputs[meterInput]; in.Step != "preflight/fp8/meter" || in.Output != evidence.OutMeter {
		t.Errorf("%+v", plainCell.Inputs)
	}
	if !plainCell.Cost.AtLeast || plainCell.Cost.Requests != 12+4+12 {
		t.Errorf("%+v", plainCell.Cost)
	}
}

// A workload's own cells and those of its energy share no prompts: one would find the
// other's in a cache.
func TestEnergyPrompts(t *testing.T) {
	c := energyOf(fourAtOnce())
	all := c.Measure
	at := spec.Point{Cell: "c=4", Concurrency: 4}
	own, joules := newCellParams(spec.Candidate{}, all["load"], all, at), newCellParams(spec.Candidate{}, all["power"], all, at)
	if own.salt() == joules.salt() {
		t.Error("they have one salt")
	}
}

func TestMeterStep(t *testing.T) {
	c := energyOf(fourAtOnce())
	steps := Steps(c)
	i := slices.IndexFunc(steps, func(s step.Step) bool { return s.Kind == KindMeter })
	if s := steps[i]; s.Name != "preflight/fp8/meter" || !s.Observes || s.Pure || len(s.Resources) != 0 || s.Cost.Requests != 0 {
		t.Errorf("%+v", s)
	}
	delete(c.Measure, "power")
	if slices.ContainsFunc(Steps(c), func(s step.Step) bool { return s.Kind == KindMeter }) {
		t.Error("a meter is looked at, and no energy is measured")
	}
	job := &pintest.Job{S: steps[i]}
	look := LookAtMeter(func(_ context.Context, cand string) (evidence.MeterDoc, string, error) {
		return evidence.MeterDoc{Reason: "no-" + cand}, "look at it", nil
	})
	if err := look.Run(t.Context(), job); err != nil || string(job.Output(evidence.OutMeter)) != `{"reads":[],"reason":"no-fp8"}` || len(job.Remarks) != 1 {
		t.Errorf("%v, %s", err, job.Output(evidence.OutMeter))
	}
	gone := LookAtMeter(func(context.Context, string) (evidence.MeterDoc, string, error) {
		return evidence.MeterDoc{}, "", fmt.Errorf("%w: refused", step.ErrUnreachable)
	})
	if err := gone.Run(t.Context(), &pintest.Job{S: steps[i]}); !errors.Is(err, step.ErrUnreachable) {
		t.Error(err)
	}
}

// TestEnergyJoules: a machine that takes 300 W, from the campaign to joules: idle and
// loaded alike, and so nothing net.
func TestEnergyJoules(t *testing.T) {
	c := energyOf(fourAtOnce())
	b, job := energyCell(t, c, newEngine(), with(&scriptedMeter{period: 100 * time.Millisecond, celsius: func(time.Duration) int64 { return 40 }}))
	doc := energyMetrics(t, c, job, nil)
	of := doc.Energy[0].Bases[0]
	whole := of.Windows[energy.Whole]
	for name, v := range map[string]struct {
		got  metric.Value
		want float64
	}{
		"W": {whole.W, 300}, "J": {whole.J, 300 * float64(b.head.WallNS) / 1e9}, "loaded idle": {of.LoadedIdleW, 300},
		"J per request": {whole.JPerRequest, 300 * float64(b.head.WallNS) / 1e9 / 920}, "period": {of.PublicationMS, 100},
	} {
		if v.got.Value == nil || math.Abs(*v.got.Value/v.want-1) > 0.005 {
			t.Errorf("%s: %+v, want %v", name, v.got, v.want)
		}
	}
	if cell := doc.Cells[0]; cell.Name != "c=4" || cell.Completed != 920 || *cell.RequestRate.Value != 40 {
		t.Errorf("%+v", cell)
	}
	for name, w := range of.Windows {
		if w.JPerOutputToken.Value != nil && *w.JPerOutputToken.Value <= 0 {
			t.Errorf("%s: %+v", name, w.JPerOutputToken)
		}
	}
}
