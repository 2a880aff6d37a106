package energy

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// The public cases in which a tool printed a wrong energy, by their number in the list
// of docs/energy.md: the wrong number, made as it was made, and the right one or the
// reason why there is none. Row 2 (the error of a board's sensor) is of no reader; rows
// 28 to 39 are of load metrics.

// mistake is one row.
type mistake struct {
	row    string
	rig    rig
	base   string
	rs     []metric.Request
	gpus   []string
	idle   *Span
	of     func(*Cell) metric.Value // nil = J of the cell
	wrong  float64
	right  float64
	reason string
}

func flat(w float64) steps { return steps{{0, w}} }

// single is one GPU of a flat power, on 40 s.
func single(w float64) rig { return nv(40, flat(w)) }

func asking(from, to float64) []metric.Request {
	return []metric.Request{asked(from, from+(to-from)/5, to, 500, 101)}
}

func wOfCell(c *Cell) metric.Value { return c.Bases[0].Windows[Whole].W }

// watts is instantaneous power, read at once.
func watts(p steps) func(float64) (int64, string) {
	return func(t float64) (int64, string) { return int64(math.Round(1000 * p.watts(t))), "" }
}

// averaged is the mean of the last second, as power.draw is since Ampere.
func averaged(p steps) func(float64) (int64, string) {
	return func(t float64) (int64, string) {
		return int64(math.Round(1000 * p.between(max(t-1, 0), t) / min(max(t, 1e-9), 1))), ""
	}
}

func gpus(n int, w float64) rig {
	r := box(20, 40)
	for i := range n {
		id := fmt.Sprintf("GPU-%d", i+1)
		r.devices = append(r.devices, gpu(id))
		r = r.counts(id, trace.NVGPU, "mJ", nvmlEnergy, published(flat(w), 0.1, 1e-3, int64(i)))
	}
	return r
}

func amd(w float64, limit int64) rig {
	r := box(20, 40, gpu("card0"))
	r = r.reads("card0", trace.HwmonGPU, trace.Power, "uW", "hwmon0/power1_input", constant(int64(w*1e6)))
	if limit > 0 {
		r = r.state(0, trace.State{Device: "card0", LimitMW: &limit})
	}
	return r
}

func mistakes() []mistake {
	burst := steps{{0, 100}, {20, 650}, {20.2, 350}, {21, 100}}
	batch := steps{{0, 700}, {20, 350}}
	csv := steps{{0, 120}, {15, 720}, {25, 300}}
	raw := published(flat(20), 0.1, 1e-6*15.3, 0) // counts of 15.3 µJ
	cumulative := published(flat(400), 0.1, 1e-3, 5_000_000)
	rail := func(r rig, d trace.Domain, w float64) rig {
		return r.counts("soc", d, "mJ", "IOReport", published(flat(w), 2.1, 1e-3, 0))
	}
	mac := func() rig { return box(10.0/3, 160, trace.Device{ID: "soc", Kind: trace.Machine}) }
	chip := rail(rail(rail(rail(mac(), trace.AppleGPU, 30), trace.AppleCPU, 4), trace.AppleDRAM, 1.5), trace.AppleDCS, 0.67)
	stuck := rail(rail(rail(mac(), trace.AppleGPU, 30), trace.AppleDRAM, 1.5), trace.AppleDCS, 0.67).counts("soc", trace.AppleCPU, "mJ", "IOReport", constant(77))
	return []mistake{
		{row: "1 a sensor that is awake for 25 of 100 ms", rig: single(350).reads("GPU-1", trace.NVGPU, trace.Power, "mW", "field 186", constant(600_000)), rs: asking(10, 30), wrong: 600 * 20, reason: metric.CrossCheck},
		{row: "3 the average of the last second as if it were now", rig: nv(40, burst).reads("GPU-1", trace.NVGPU, trace.PowerAverage, "mW", "field 185", averaged(burst)), rs: asking(20, 21), wrong: averageOver(burst, 20, 21), right: 410},
		{row: "3 and nothing else", rig: box(20, 40, gpu("GPU-1")).reads("GPU-1", trace.NVGPU, trace.PowerAverage, "mW", "field 185", averaged(burst)), rs: asking(20, 30), wrong: averageOver(burst, 20, 30), reason: metric.DomainMissing},
		{row: "4 one look before the run is the run before", rig: nv(40, batch), rs: asking(21, 31), of: wOfCell, wrong: 700, right: 350},
		{row: "5 the mean of the whole recording", rig: nv(40, csv), rs: asking(15.5, 24.5), of: wOfCell, wrong: csv.between(0, 40) / 40, right: 720},
		{row: "6 the counter and the power apart", rig: single(187.4/5).reads("GPU-1", trace.NVGPU, trace.Power, "mW", "field 186", constant(int64(326.9/5*1000))), rs: asking(10, 15.5), wrong: 326.9 * 1.1, reason: metric.CrossCheck},
		{row: "6 of the idle machine too", rig: single(187.4/5).reads("GPU-1", trace.NVGPU, trace.Power, "mW", "field 186", constant(int64(326.9/5*1000))), rs: asking(20, 30), idle: idleAt(5, 16), of: func(c *Cell) metric.Value { return c.Bases[0].LoadedIdleW }, wrong: 326.9 / 5, reason: metric.CrossCheck},
		{row: "7 a window below the counter's step", rig: single(400), rs: asking(20.01, 20.06), wrong: 0, reason: metric.PublicationCoarse},
		{row: "8 a module taken for its GPU", rig: box(20, 40, gpu("GPU-1")).counts("GPU-1", trace.NVModule, "mJ", nvmlEnergy, published(flat(900), 0.1, 1e-3, 0)), rs: asking(10, 30), wrong: 18_000, reason: metric.DomainMissing},
		{row: "8 and by its own name", rig: box(20, 40, gpu("GPU-1")).counts("GPU-1", trace.NVModule, "mJ", nvmlEnergy, published(flat(900), 0.1, 1e-3, 0)), base: "nv.module", rs: asking(10, 30), wrong: 0, right: 18_000},
		{row: "9 one counter in four rows", rig: fourfold(single(300)), rs: asking(10, 30), wrong: 4 * 6000, right: 6000},
		{row: "10 statistics of a cumulative counter", rig: box(20, 40, gpu("GPU-1")).counts("GPU-1", trace.NVGPU, "mJ", nvmlEnergy, cumulative), rs: asking(10, 30), wrong: meanOf(cumulative, 10, 30) / 1000, right: 8000},
		{row: "11 a sample of 10 ms times 15 s", rig: quickRAPL(steps{{0, 8.4}, {10.1, 520}}), base: "rapl.package", rs: asking(10.2, 25.2), wrong: 0.035 * 3600, right: 7800},
		{row: "12 a wrap whose range cannot be read", rig: ranged(quickRAPL(flat(100)), 0), base: "rapl.package", rs: asking(10, 30), wrong: -1.11e-3 * joulesInKWh, reason: metric.CounterBackwards},
		{row: "13 a wrap", rig: quickRAPL(flat(100)), base: "rapl.package", rs: asking(10, 30), wrong: 2000 - raplRange*1e-6, right: 2000},
		{row: "13 how many wraps nobody knows", rig: ranged(seldom(quickRAPL(flat(100))), 65_536_000_000), base: "rapl.package", rs: asking(100, 2100), wrong: 100, reason: metric.SamplingGap},
		{row: "14 no permission, so the data sheet", rig: box(20, 40, cpu("package-0")).counts("package-0", trace.RAPLPackage, "uJ", "intel-rapl:0/energy_uj", func(float64) (int64, string) { return 0, "no-permission" }), base: "rapl.package", rs: asking(10, 30), wrong: 16 * 4 * 20, reason: metric.DomainMissing},
		{row: "15 a reset taken for a wrap of 64 bits", rig: xe(22_000_000_000_000, 200_000_000), base: "amd.gpu", rs: asking(10, 30), of: wOfCell, wrong: 3.69e12, reason: metric.CounterBackwards},
		{row: "16 a counter that stands still", rig: box(20, 40, gpu("card0")).counts("card0", trace.HwmonGPU, "uJ", "hwmon0/energy1_input", constant(8152136)), base: "amd.gpu", rs: asking(10, 30), wrong: 0, reason: metric.CounterFrozen},
		{row: "17 counts of 15.3 uJ taken for uJ", rig: box(20, 40, gpu("card0")).counts("card0", trace.HwmonGPU, "uJ", "hwmon0/energy1_input", raw).reads("card0", trace.HwmonGPU, trace.Power, "uW", "hwmon0/power1_input", constant(20_000_000)), base: "amd.gpu", rs: asking(10, 30), wrong: 400 / 15.3, reason: metric.CrossCheck},
		{row: "18 the die that reads 0 W", rig: twoDies(), base: "amd.gpu", rs: asking(10, 30), wrong: 0, reason: metric.Implausible},
		{row: "19 two watts under load", rig: amd(2, 1_000_000), base: "amd.gpu", rs: asking(10, 30), of: wOfCell, wrong: 2, reason: metric.Implausible},
		{row: "19 as another tool reads it", rig: amd(560, 1_000_000), base: "amd.gpu", rs: asking(10, 30), of: wOfCell, wrong: 2, right: 560},
		{row: "20 the mean of the GPUs as their sum", rig: gpus(8, 700), rs: asking(10, 30), of: wOfCell, wrong: 700, right: 5600},
		{row: "21 the whole node for one model", rig: gpus(8, 700), rs: asking(10, 30), gpus: []string{"GPU-3"}, of: wOfCell, wrong: 5600, right: 700},
		{row: "22 J/token of output", rig: single(450), rs: []metric.Request{asked(10, 14, 30, 8000, 1000)}, of: func(c *Cell) metric.Value { return c.Bases[0].Windows[Whole].JPerOutputToken }, wrong: 1, right: 9},
		{row: "22 J/token of all", rig: single(450), rs: []metric.Request{asked(10, 14, 30, 8000, 1000)}, of: func(c *Cell) metric.Value { return c.Bases[0].Windows[Whole].JPerTotalToken }, wrong: 9, right: 1},
		{row: "23 several answers have several first tokens", rig: single(400), rs: []metric.Request{asked(10, 12, 17, 9, 51), asked(18, 20, 25, 9, 51)}, of: func(c *Cell) metric.Value { return c.Bases[0].Windows[Decode].JPerOutputInterval }, wrong: 4000.0 / 101, right: 40},
		{row: "24 loading the model is in no window", rig: nv(40, steps{{0, 250}, {12, 400}}), rs: asking(13, 33), wrong: steps{{0, 250}, {12, 400}}.between(0, 33), right: 8000},
		{row: "25 nothing now, and twice as much then", rig: chip, base: "apple.soc5", rs: asking(20, 104), of: wOfCell, wrong: 106.68, right: 36.17},
		{row: "25 looked at over a second", rig: chip, base: "apple.soc5", rs: asking(20, 21), of: wOfCell, wrong: 0, reason: metric.PublicationCoarse},
		{row: "26 a rail that stands still", rig: stuck, base: "apple.soc5", rs: asking(20, 104), of: wOfCell, wrong: 32.17, reason: metric.CounterFrozen},
		{row: "27 rails are no wall", rig: chip, base: "wall", rs: asking(20, 104), of: wOfCell, wrong: 36.17, reason: metric.DomainMissing},
		{row: "40 a meter at the plug", rig: box(10, 40, trace.Device{ID: "wall", Kind: trace.Machine}).reads("wall", trace.Wall, trace.Power, "mW", "meter.csv", watts(steps{{0, 900}})), base: "wall", rs: asking(10, 30), wrong: 8000, right: 18_000},
	}
}

func TestMistakes(t *testing.T) {
	for _, m := range mistakes() {
		t.Run(m.row, func(t *testing.T) {
			if m.base == "" {
				m.base = "nv.gpu"
			}
			tl := beside(m.rig.trace(t), m.rs...)
			tl.GPUs, tl.Idle = m.gpus, m.idle
			c := NewCell(one(m.base), []Trial{tl})
			sound(t, &c)
			of := m.of
			if of == nil {
				of = func(c *Cell) metric.Value { return c.Bases[0].Windows[Whole].J }
			}
			if m.reason != "" {
				want(t, m.row, of(&c), 0, m.reason)
				return
			}
			got := of(&c)
			if got.Value == nil || math.Abs(*got.Value/m.right-1) > 0.025 || math.Abs(*got.Value-m.right) > math.Abs(*got.Value-m.wrong)/10 {
				t.Errorf("%s, right is %v and wrong %v", text(got), m.right, m.wrong)
			}
		})
	}
}

// averageOver integrates the average of the last second, as one must not.
func averageOver(p steps, from, to float64) (j float64) {
	for t := from; t < to; t += 0.01 {
		j += p.between(t-1, t) * 0.01
	}
	return j
}

func meanOf(of func(float64) (int64, string), from, to float64) float64 {
	sum, n := 0.0, 0.0
	for t := from; t < to; t += 0.1 {
		v, _ := of(t)
		sum, n = sum+float64(v), n+1
	}
	return sum / n
}

func fourfold(r rig) rig {
	r.charts = slices.Repeat(r.charts, 4)
	return r
}

// quickRAPL is one package whose counter is about to go round.
func quickRAPL(p steps) rig {
	r := box(20, 40, cpu("package-0"))
	return ranged(r.counts("package-0", trace.RAPLPackage, "uJ", "intel-rapl:0/energy_uj", wrapping(published(p, 0.001, 1e-6, raplRange-1_500_000_000), raplRange)), raplRange)
}

// seldom is looked at every 50 s, in which a small counter may go round more than once.
func seldom(r rig) rig {
	r.hz, r.seconds = 0.02, 2400
	return r
}

// xe falls from a value to another at 20 s.
func xe(from, to int64) rig {
	p := published(flat(100), 0.1, 1e-6, 0)
	return box(20, 40, gpu("card0")).counts("card0", trace.HwmonGPU, "uJ", "hwmon0/energy1_input", func(t float64) (int64, string) {
		v, _ := p(t)
		if t < 20 {
			return from + v, ""
		}
		return to + v, ""
	})
}

func twoDies() rig {
	r := amd(300, 0)
	r.devices = append(r.devices, gpu("card1"))
	return r.reads("card1", trace.HwmonGPU, trace.Power, "uW", "hwmon1/power1_input", constant(0))
}
