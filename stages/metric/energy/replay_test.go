package energy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Recordings whose joules are known in closed form. The files are what replay makes;
// UPDATE=1 writes them again.

// loaded is 100 W up to 15 s and 400 W from then on.
var loaded = steps{{0, 100}, {15, 400}}

// twoTurns are two requests of 10 s each with 101 output tokens, 500 prompt tokens.
func twoTurns(from float64) []metric.Request {
	return []metric.Request{asked(from, from+2, from+10, 500, 101), asked(from+10, from+12, from+20, 500, 101)}
}

// after changes what a counter says from a moment on.
func after(at float64, of func(float64) (int64, string), change func(t float64, v int64) int64) func(float64) (int64, string) {
	return func(t float64) (int64, string) {
		v, code := of(t)
		if t >= at {
			v = change(t, v)
		}
		return v, code
	}
}

// wrapping goes on at 0 after its range.
func wrapping(of func(float64) (int64, string), span int64) func(float64) (int64, string) {
	return func(t float64) (int64, string) {
		v, code := of(t)
		return v % (span + 1), code
	}
}

func constant(v int64) func(float64) (int64, string) {
	return func(float64) (int64, string) { return v, "" }
}

// ramp is a counter of time in ns that goes on at a share of the time from a moment on.
func ramp(from, share float64) func(float64) (int64, string) {
	return func(t float64) (int64, string) { return int64(max(t-from, 0)*share*1e9 + 0.5), "" }
}

func ranged(r rig, span int64) rig {
	r.charts[len(r.charts)-1].Range = span
	return r
}

const raplRange = 262_143_328_850

// rapl is one package of 150 W idle and 200 W loaded.
func rapl(r rig, id string, base int64) rig {
	p := steps{{0, 150}, {15, 200}}
	return ranged(r.counts(id, trace.RAPLPackage, "uJ", "intel-rapl:0/energy_uj", wrapping(published(p, 0.001, 1e-6, base), raplRange)), raplRange)
}

func dram(r rig, id string) rig {
	return ranged(r.counts(id, trace.RAPLDRAM, "uJ", "intel-rapl:0:0/energy_uj", published(steps{{0, 20}}, 0.001, 1e-6, 1000)), raplRange)
}

func box(hz, seconds float64, devices ...trace.Device) rig {
	return rig{hz: hz, phase: 0.013, seconds: seconds, devices: devices}
}

// apple is a chip whose counters change every 2.1 s, looked at seven times in each.
func apple(ane bool) rig {
	r := box(10.0/3, 160, trace.Device{ID: "soc", Kind: trace.Machine, Name: "Apple M5 Max"})
	rails := []struct {
		d          trace.Domain
		idle, load float64
	}{{trace.AppleGPU, 1, 30}, {trace.AppleCPU, 2, 6}, {trace.AppleDRAM, 1, 4}, {trace.AppleDCS, 0.5, 2}}
	for _, x := range rails {
		r = r.counts("soc", x.d, "mJ", "IOReport", published(steps{{0, x.idle}, {50, x.load}}, 2.1, 1e-3, 10_000))
	}
	if ane {
		r = r.counts("soc", trace.AppleANE, "mJ", "IOReport", constant(0))
	}
	return r
}

// replay makes every file.
func replay() map[string]rig {
	one := func(at func(float64) (int64, string)) rig {
		return box(20, 40, gpu("GPU-1")).counts("GPU-1", trace.NVGPU, "mJ", nvmlEnergy, at)
	}
	counter := published(loaded, 0.1, 1e-3, 5_000_000)
	mig, no, eight := true, false, 1
	slow := steps{{0, 100}, {24, 400}}
	triple := one(counter).counts("GPU-1", trace.NVGPU, "mJ", nvmlEnergy, counter).counts("GPU-1", trace.NVGPU, "mJ", nvmlEnergy, counter)
	return map[string]rig{
		"publication-100ms": one(counter).reads("GPU-1", trace.NVGPU, trace.Power, "mW", "field 186", func(t float64) (int64, string) { return int64(1000 * loaded.watts(t)), "" }),
		"publication-1s":    box(10, 70, gpu("GPU-1")).counts("GPU-1", trace.NVGPU, "mJ", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", published(slow, 1, 1e-3, 0)),
		"publication-2.1s":  apple(true),
		"publication-30s":   box(1.0/3, 700, gpu("GPU-1")).counts("GPU-1", trace.NVGPU, "mJ", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", published(steps{{0, 500}}, 30, 1e-3, 77)),
		"no-ane":            apple(false),
		"frozen":            one(after(25, counter, func(float64, int64) int64 { v, _ := counter(25); return v })),
		"backwards":         one(after(25, counter, func(_ float64, v int64) int64 { return v - 2_000_000 })),
		"reset":             one(after(25, counter, func(_ float64, v int64) int64 { at, _ := counter(25); return v - at })),
		"wrap":              rapl(box(20, 40, cpu("package-0")), "package-0", raplRange-4_000_000_000),
		"wrap-no-range":     ranged(rapl(box(20, 40, cpu("package-0")), "package-0", raplRange-4_000_000_000), 0),
		"mig-triplicate":    triple,
		"mig-on":            triple.state(0, trace.State{Device: "GPU-1", MIG: &mig, Processes: &eight}),
		"gpu-missing":       one(counter),
		"module":            box(20, 40, gpu("GPU-1")).counts("GPU-1", trace.NVModule, "mJ", nvmlEnergy, counter),
		"average-only":      box(20, 40, gpu("GPU-1")).reads("GPU-1", trace.NVGPU, trace.PowerAverage, "mW", "nvmlDeviceGetPowerUsage", constant(400_000)),
		"power-capped":      one(counter).reads("GPU-1", trace.NVGPU, trace.PowerCapTime, "ns", "field 74", ramp(16, 0.4)).state(0, trace.State{Device: "GPU-1", MIG: &no, LimitMW: new(int64(400_000)), Processes: &eight, PIDs: []int{7}}),
		"thermal":           one(counter).reads("GPU-1", trace.NVGPU, trace.ThermalTime, "ns", "field 269", ramp(16, 0.004)).reads("GPU-1", trace.NVGPU, trace.ThermalTime, "ns", "field 270", ramp(16, 0.002)),
		"two-packages":      dram(rapl(dram(rapl(box(20, 40, gpu("GPU-1"), cpu("package-0"), cpu("package-1")).counts("GPU-1", trace.NVGPU, "mJ", nvmlEnergy, counter), "package-0", 5), "package-0"), "package-1", 99), "package-1"),
	}
}

func recorded(t testing.TB, name string) *trace.Trace {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	must(t, err)
	tr, err := trace.Read(bytes.NewReader(b))
	must(t, err)
	return tr
}

// The files are what this code makes.
func TestReplayFiles(t *testing.T) {
	for name, r := range replay() {
		path := filepath.Join("testdata", name+".jsonl")
		made := r.bytes(t)
		if os.Getenv("UPDATE") != "" {
			must(t, os.MkdirAll("testdata", 0o755))
			must(t, os.WriteFile(path, made, 0o644))
		}
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(b, made) {
			t.Errorf("%s differs from what makes it: %v", path, err)
		}
	}
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) != len(replay()) {
		t.Errorf("%d files, %d are made (%v)", len(files), len(replay()), err)
	}
}

// known is what one recording holds, in closed form.
type known struct {
	file, base string
	from       float64    // of two turns; 0 = at 17 s
	long       float64    // one request of so many seconds instead
	idle       [2]float64 // s, {0, 0} = nobody waited
	gpus       []string

	j, w, idleW, quantisation float64 // of the cell
	why, idleWhy              string
	also                      func(t *testing.T, c *Cell)
}

func TestReplay(t *testing.T) {
	share := func(of func(*Cell) metric.Value, v float64) func(*testing.T, *Cell) {
		return func(t *testing.T, c *Cell) { want(t, "share", of(c), v, "") }
	}
	thermal := func(c *Cell) metric.Value { return c.ThermalShare }
	for _, k := range []known{
		// 20 s of 400 W; half of 0.1 s of 20 s is 0.25 %. A RAPL counter changes at every
		// look, 50 ms apart, and may lag by as much: 1.5 x 0.05 s of 20 s is 0.375 %.
		{file: "publication-100ms", base: "nv.gpu", idle: [2]float64{2, 14}, j: 8000, w: 400, idleW: 100, quantisation: 0.25, also: tokensOfTwoTurns},
		{file: "publication-1s", base: "nv.gpu", from: 30, idle: [2]float64{2, 22.5}, j: 8000, w: 400, idleW: 100, quantisation: 2.5},
		{file: "publication-1s", base: "nv.gpu", from: 30, idle: [2]float64{2, 21.5}, j: 8000, w: 400, idleWhy: metric.IdleTooShort, quantisation: 2.5}, // 19.5 periods
		{file: "publication-1s", base: "nv.gpu", from: 30, idle: [2]float64{2, 21.7}, j: 8000, w: 400, idleW: 100, quantisation: 2.5},                   // 19.7
		{file: "publication-2.1s", base: "apple.soc5", from: 55, long: 84, idle: [2]float64{3, 46}, j: 84 * 42, w: 42, idleW: 4.5, quantisation: 1.25},
		{file: "publication-2.1s", base: "apple.soc5", from: 55, j: 0, why: metric.PublicationCoarse}, // 50 x 2.1 / 20 = 5.25 %
		{file: "no-ane", base: "apple.soc5", from: 55, long: 84, idle: [2]float64{3, 46}, j: 84 * 42, w: 42, idleW: 4.5, quantisation: 1.25},
		{file: "publication-30s", base: "nv.gpu", from: 35, long: 620, j: 310_000, w: 500, quantisation: 50 * 30.0 / 620, also: func(t *testing.T, c *Cell) {
			if m := c.Bases[0].Windows[Whole]; m.Label != "" {
				t.Errorf("620 s are %s", m.Label)
			}
		}},
		{file: "publication-30s", base: "nv.gpu", from: 65, long: 60, why: metric.PublicationCoarse},
		{file: "frozen", base: "nv.gpu", why: metric.CounterFrozen},
		{file: "backwards", base: "nv.gpu", why: metric.CounterBackwards},
		{file: "reset", base: "nv.gpu", why: metric.CounterReset},
		{file: "wrap", base: "rapl.package", idle: [2]float64{2, 14}, j: 4000, w: 200, idleW: 150, quantisation: 0.375},
		{file: "wrap-no-range", base: "rapl.package", why: metric.CounterBackwards},
		{file: "mig-triplicate", base: "nv.gpu", j: 8000, w: 400, quantisation: 0.25}, // once, not three times
		{file: "mig-on", base: "nv.gpu", why: metric.MIG},
		{file: "gpu-missing", base: "nv.gpu", gpus: []string{"GPU-1", "GPU-2"}, why: metric.GPUSetMismatch},
		{file: "module", base: "nv.module", j: 8000, w: 400, quantisation: 0.25},
		{file: "module", base: "nv.gpu", why: metric.DomainMissing},
		{file: "publication-100ms", base: "nv.module", why: metric.DomainMissing},
		{file: "average-only", base: "nv.gpu", why: metric.DomainMissing},
		{file: "power-capped", base: "nv.gpu", j: 8000, w: 400, quantisation: 0.25, also: share(func(c *Cell) metric.Value { return c.PowerCapShare }, 0.4)},
		{file: "thermal", base: "nv.gpu", why: metric.Thermal, also: share(thermal, 0.006)},
		{file: "two-packages", base: "nv.gpu+rapl.package+rapl.dram", idle: [2]float64{2, 14}, j: 20 * (400 + 2*200 + 2*20), w: 840, idleW: 440, quantisation: 0.375},
		{file: "two-packages", base: "nv.gpu+rapl.package", idle: [2]float64{2, 14}, j: 20 * (400 + 2*200), w: 800, idleW: 400, quantisation: 0.375},
		{file: "two-packages", base: "rapl.package+rapl.dram", j: 20 * (2*200 + 2*20), w: 440, quantisation: 0.375},
		{file: "publication-100ms", base: "nv.gpu+rapl.package", why: metric.DomainMissing},
	} {
		t.Run(k.file+" "+k.base+" "+k.why+k.idleWhy, k.check)
	}
}

func (k known) check(t *testing.T) {
	from := k.from
	if from == 0 {
		from = 17
	}
	rs := twoTurns(from)
	if k.long > 0 {
		rs = []metric.Request{asked(from, from+1, from+k.long, 500, 101)}
	}
	tl := beside(recorded(t, k.file), rs...)
	if tl.GPUs = k.gpus; k.idle[1] > 0 {
		tl.Idle = idleAt(k.idle[0], k.idle[1])
	}
	c := NewCell(one(k.base), []Trial{tl})
	of := c.Bases[0]
	m := of.Windows[Whole]
	want(t, "J", m.J, k.j, k.why)
	want(t, "W", m.W, k.w, k.why)
	perTok := k.j / float64(101*len(rs))
	want(t, "J/token", m.JPerOutputToken, perTok, k.why)
	if k.why == "" {
		want(t, "quantisation", m.QuantisationPct, k.quantisation, "")
		if len(of.Digest) != 64 {
			t.Errorf("digest %q", of.Digest)
		}
	}
	switch {
	case k.idleW > 0:
		want(t, "idle", of.LoadedIdleW, k.idleW, "")
		want(t, "net", m.NetJ, k.j-k.idleW**m.DurationS.Value, "")
	case k.idleWhy != "":
		want(t, "idle", of.LoadedIdleW, 0, k.idleWhy)
		want(t, "net", m.NetJ, 0, k.idleWhy)
	case k.why == "":
		want(t, "net", m.NetJ, 0, metric.NoIdle)
	}
	if k.also != nil {
		k.also(t, &c)
	}
	sound(t, &c)
}

// tokensOfTwoTurns: 400 W over 20 s, of which 16 s are decode; 101 tokens and 500 of
// prompt each.
func tokensOfTwoTurns(t *testing.T, c *Cell) {
	ws := c.Bases[0].Windows
	want(t, "request", ws[Request].J, 8000, "")
	want(t, "prefill", ws[Prefill].J, 1600, "")
	want(t, "decode", ws[Decode].J, 6400, "")
	want(t, "quantisation of two requests", ws[Request].QuantisationPct, 0.5, "")
	want(t, "quantisation of two prefills", ws[Prefill].QuantisationPct, 2.5, "")
	want(t, "steady", ws[Steady].J, 0, metric.FewCompletions)
	want(t, "J/request", ws[Request].JPerRequest, 4000, "")
	want(t, "J/output token", ws[Request].JPerOutputToken, 8000.0/202, "")
	want(t, "J/token", ws[Request].JPerTotalToken, 8000.0/1202, "")
	want(t, "J/interval of a turn", ws[Request].JPerOutputInterval, 0, metric.DecodeOnly)
	want(t, "J/interval", ws[Decode].JPerOutputInterval, 32, "")
	want(t, "net J/interval", ws[Decode].NetJPerOutputInterval, 24, "")
	want(t, "cost", ws[Request].CostPerMOutputTokens, 0, metric.NoKWhPrice)
	want(t, "M6", c.Asiai.PowerWatts, 400, "")
	want(t, "M7", c.Asiai.TokPerSecPerWatt, 101.0/8/400, "")
	want(t, "M9", c.Asiai.SoCWatts, 400, "")
	want(t, "M10", c.Asiai.EnergyPerToken, 40, "")
	want(t, "M11", c.Asiai.IdleSoCWatts, 100, "")
	want(t, "M10 active", c.Asiai.ActivePerToken, 30, "")
	for _, w := range []Window{Request, Prefill, Decode, Whole} {
		if ws[w].Label != metric.Indicative {
			t.Errorf("%s is labelled %q", w, ws[w].Label)
		}
	}
	if c.Plot == nil || c.Plot.Cell == nil || c.Plot.Idle == nil || len(c.Plot.T) > 600 || len(c.Plot.T) != len(c.Plot.W) {
		t.Errorf("plot: %+v", c.Plot)
	}
	if d := fmt.Sprint(c.Bases[0].Domains, c.Bases[0].Devices, c.Asiai.Rails); d != "[nvml.gpu x1] [GPU-1] [nvml.gpu]" {
		t.Error(d)
	}
}
