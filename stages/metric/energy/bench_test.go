package energy

import (
	"fmt"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Ten minutes of 8 GPUs with 10 channels at 20 looks a second: a million samples.
func BenchmarkNewCell(b *testing.B) {
	r := rig{hz: 20, phase: 0.013, seconds: 625}
	for i := range 8 {
		id := fmt.Sprintf("GPU-%d", i)
		r.devices = append(r.devices, gpu(id))
		r = r.counts(id, trace.NVGPU, "mJ", nvmlEnergy, published(steps{{0, 100}, {13, 400 + float64(i)}}, 0.1, 1e-3, 0))
		r = r.reads(id, trace.NVGPU, trace.Power, "mW", "field 186", watts(steps{{0, 100}, {13, 400 + float64(i)}}))
		r = r.reads(id, trace.NVGPU, trace.PowerAverage, "mW", "field 185", constant(1))
		r = r.reads(id, trace.NVGPU, trace.Temperature, "C", "temperature", constant(50))
		for _, q := range []trace.Quantity{trace.ThermalTime, trace.ThermalTime, trace.BrakeTime, trace.PowerCapTime, trace.PowerCapTime, trace.Temperature} {
			unit := "ns"
			if q == trace.Temperature {
				unit = "C"
			}
			r = r.reads(id, trace.NVGPU, q, unit, "x", constant(50))
		}
	}
	tr := r.trace(b)
	n := 0
	for _, s := range tr.Samples {
		n += len(s)
	}
	var rs []metric.Request
	for k := range 120 {
		rs = append(rs, asked(17+5*float64(k), 18+5*float64(k), 22+5*float64(k), 500, 200))
	}
	tl := beside(tr, rs...)
	tl.Idle = idleAt(1, 12)
	for b.Loop() {
		c := NewCell(one("nv.gpu"), []Trial{tl})
		if c.Bases[0].Windows[Whole].J.Value == nil {
			b.Fatal(text(c.Bases[0].Windows[Whole].J))
		}
	}
	b.ReportMetric(float64(n), "samples")
}
