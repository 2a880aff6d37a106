package publish

import (
	"encoding/json"
	"maps"
	"math"
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// powerOf is a recording of 100 s: idle, a ramp, a square wave while the cell runs.
func powerOf(base string, watts float64) *energy.Plot {
	p := &energy.Plot{Base: base, T: []float64{0}, W: []float64{0.2 * watts}, Idle: &[2]float64{13, 23}, Cell: &[2]float64{30, 90}, Steady: &[2]float64{35, 85}}
	for i := 1; i <= 400; i++ {
		t := float64(i) / 4
		w := 0.2 * watts
		if t > 30 && t <= 90 {
			w = watts * (0.9 + 0.1*math.Copysign(1, math.Sin(t)))
		}
		p.T, p.W = append(p.T, t), append(p.W, w)
	}
	return p
}

// energyCell is a cell that draws so many watts on its GPU for 60 s.
func energyCell(name string, watts, requests float64, trials int) energy.Cell {
	at := func(x, seconds, tokens float64, label string) energy.Measured {
		j := x * seconds
		return energy.Measured{
			DurationS: value(seconds, "s"), QuantisationPct: value(5/seconds, "%"), Label: label,
			J: value(j, "J"), W: value(x, "W"), NetJ: value(0.8*j, "J"), JPerRequest: value(j/requests, "J"), JPerOutputToken: value(j/tokens, "J"),
			JPerOutputInterval: metric.Null("other-workload", "J"), JPerTotalToken: value(j/tokens/4, "J"),
			NetJPerRequest: value(0.8*j/requests, "J"), NetJPerOutputToken: value(0.8*j/tokens, "J"), NetJPerOutputInterval: metric.Null("other-workload", "J"), NetJPerTotalToken: value(0.2*j/tokens, "J"),
			CostPerMOutputTokens: value(j/tokens/3.6*0.3, "EUR"),
		}
	}
	c := energy.Cell{Name: name, Trials: trials, ThermalShare: value(0, "share"), PowerCapShare: value(0, "share"), StartC: value(41, "C"), PowerLimitW: value(700, "W"),
		Asiai: energy.Asiai{Base: "nv.gpu", Rails: []string{"nvml.gpu"}, Window: "turn", PowerWatts: value(watts, "W"), TokPerSecPerWatt: value(62/watts, "tok/s/W"),
			SoCWatts: metric.Null(metric.TooBrief, "W"), EnergyPerToken: metric.Null(metric.TooBrief, "J"), IdleSoCWatts: value(0.2*watts, "W"), ActivePerToken: metric.Null(metric.TooBrief, "J")},
		Plot: powerOf("nv.gpu", watts)}
	tokens := 128 * requests
	for base, of := range map[string]energy.Of{"nv.gpu": {Domains: []string{"nvml.gpu x1"}, Digest: "5e1fa4c0ffee00112233"}, "wall": {Domains: []string{"wall x1"}, Digest: "77aa00112233445566"}} {
		x := watts
		if base == "wall" {
			x = 1.3*watts + 60
		}
		of.Base, of.LoadedIdleW, of.PublicationMS = base, value(0.2*x, "W"), value(100, "ms")
		of.Windows = map[energy.Window]energy.Measured{energy.Whole: at(x, 60*float64(trials), tokens, "indicative"), energy.Steady: at(x, 50, tokens*0.9, "indicative")}
		c.Bases = append(c.Bases, of)
	}
	if c.Bases[0].Base == "wall" {
		c.Bases[0], c.Bases[1] = c.Bases[1], c.Bases[0]
	}
	return c
}

// energyFixture is a record with one energy workload: all is known of fp8, the
// baseline's meter at the wall was not there, awq has no meter at all, and int4 ran
// hot.
func energyFixture(t testing.TB) (*evidence.Record, *evidence.Decision) {
	t.Helper()
	rec, dec := fixture(t)
	rec.Comparisons, rec.Noise, rec.Evidence = nil, nil, nil
	for name, watts := range map[string]float64{"bf16": 610, "fp8": 480, "awq": 0, "int4": 690} {
		c := rec.Candidates[name]
		l := load(map[string]float64{"bf16": 1, "fp8": 1.55, "awq": 1.3, "int4": 1.75}[name], 300)["steady"]
		l.Workload, l.Kind, l.Cells = "power", "energy", l.Cells[:2]
		l.Energy = []energy.Cell{energyCell("c=1", 0.6*watts, 300, 1), energyCell("c=8", watts, 900, 2)}
		switch name {
		case "bf16":
			l.Energy[0].Bases[1] = withoutEnergy("wall", metric.NoUsage)
			l.Energy[1].Bases[1] = withoutEnergy("wall", metric.NoUsage)
		case "awq":
			for i := range l.Energy {
				l.Energy[i] = energy.Cell{Name: l.Energy[i].Name, Trials: 1, Bases: []energy.Of{withoutEnergy("nv.gpu", metric.NotReported), withoutEnergy("wall", metric.NotReported)}}
			}
		case "int4":
			hot := &l.Energy[1]
			hot.PowerCapShare, hot.ThermalShare, hot.Doubts = value(0.31, "share"), value(0.002, "share"), []string{"the meter came late 3 times"}
			for t := 31.0; t < 60; t += 2 {
				hot.Plot.Capped = append(hot.Plot.Capped, t)
			}
			hot.Plot.Thermal = []float64{72.5, 75}
		}
		l.Calibration = &energy.Calibration{Base: "nv.gpu", A: 61.5, B: 1.31, R2: 0.9987, N: 40, Meter: "shelf meter, class 1", SHA256: "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"}
		c.Load, c.Scores, c.Costs = map[string]evidence.LoadMetrics{"power": l}, nil, nil
		rec.Candidates[name] = c
	}
	for i := range dec.Candidates {
		dec.Candidates[i].Guards = nil
	}
	return rec, dec
}

func withoutEnergy(base, why string) energy.Of {
	var m energy.Measured
	b, _ := json.Marshal(m)
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(b, &fields)
	null, _ := json.Marshal(metric.Null(why, "J"))
	for name := range maps.Clone(fields) {
		fields[name] = null
	}
	b, _ = json.Marshal(fields)
	_ = json.Unmarshal(b, &m)
	of := energy.Of{Base: base, LoadedIdleW: metric.Null(why, "W"), Windows: map[energy.Window]energy.Measured{}}
	for _, w := range energy.Windows {
		of.Windows[w] = m
	}
	return of
}
