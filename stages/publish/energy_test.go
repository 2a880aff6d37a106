package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

func energyRendered(t *testing.T) (readme, report []byte) {
	t.Helper()
	rec, dec := energyFixture(t)
	readme, report, err := render(rec, dec)
	if err != nil {
		t.Fatal(err)
	}
	return readme, report
}

func TestEnergyGolden(t *testing.T) {
	readme, report := energyRendered(t)
	plotted(t, readme, report)
	golden(t, "energy.md", readme)
	golden(t, "energy.html", report)
}

// A page without energy has neither its section nor its styles.
func TestNoEnergyNoSection(t *testing.T) {
	_, report := rendered(t)
	for _, never := range []string{"<h2>Energy</h2>", ".watts"} {
		if bytes.Contains(report, []byte(never)) {
			t.Errorf("report.html holds %q", never)
		}
	}
}

func TestEveryBaseSaysWhatItCovers(t *testing.T) {
	for _, s := range energy.Spelled {
		if covers[s.Base] == "" {
			t.Errorf("%s: nothing is said", s.Base)
		}
	}
	if len(covers) != len(energy.Spelled) {
		t.Errorf("%d bases are told of, there are %d", len(covers), len(energy.Spelled))
	}
}

func TestEnergyTables(t *testing.T) {
	rec, _ := energyFixture(t)
	got := EnergyTables(rec)
	if len(got) != 1 || got[0].Workload != "power" {
		t.Fatalf("%+v", got)
	}
	wantHeads := []string{"W", "J/request", "J/output token", "net J/output token", "loaded idle, W", "quantisation", "cost/M output tokens"}
	if diff := cmp.Diff(wantHeads, got[0].Heads); diff != "" {
		t.Error(diff)
	}
	// 480 W for 120 s over 900 requests of 128 tokens: 57,600 J, 64 J a request, 0.5 J
	// a token; 0.5 Ws x 1,000,000 = 0.1389 kWh, at 0.3 each.
	for _, want := range [][]string{
		{"c=8", "fp8", "nv.gpu", "480", "64", "0.5", "0.4", "96", "0.0417 %", "0.0417 EUR", "indicative", ""},
		{"c=8", "bf16", "wall", "no-usage", "no-usage", "no-usage", "no-usage", "no-usage", "no-usage", "no-usage", "", ""},
		{"c=1", "awq", "nv.gpu", "not-reported", "not-reported", "not-reported", "not-reported", "not-reported", "not-reported", "not-reported", "", ""},
	} {
		if !slices.ContainsFunc(got[0].Rows, func(r []string) bool { return slices.Equal(r, want) }) {
			t.Errorf("there is no row %q among %q", want, got[0].Rows)
		}
	}
	if !slices.ContainsFunc(got[0].Rows, func(r []string) bool { return r[1] == "int4" && r[len(r)-1] == "power cap 31.0 %; thermal 0.2 %" }) {
		t.Errorf("throttling is not told: %q", got[0].Rows)
	}
	if !slices.Equal(got[0].Doubts, []string{"int4, c=8: the meter came late 3 times"}) {
		t.Errorf("%q", got[0].Doubts)
	}
	for _, r := range got[0].Rows {
		if len(r) != len(got[0].Heads)+5 {
			t.Errorf("%d texts under %d heads: %q", len(r), len(got[0].Heads), r)
		}
	}
	if plain, _ := fixture(t); len(EnergyTables(plain)) != 0 {
		t.Error("a record without energy has a table of it")
	}
}

// Without a price there is no column for the cost.
func TestUnpricedEnergy(t *testing.T) {
	rec, dec := energyFixture(t)
	for _, c := range rec.Candidates {
		for i := range c.Load["power"].Energy {
			for _, of := range c.Load["power"].Energy[i].Bases {
				for w, m := range of.Windows {
					m.CostPerMOutputTokens = metric.Null("no-kwh-price", "")
					of.Windows[w] = m
				}
			}
		}
	}
	v := newPage(rec, dec).Energy[0]
	if slices.ContainsFunc(v.Heads, func(h string) bool { return strings.Contains(h, "cost") }) || len(v.Heads) != len(v.Rows[0].Numbers) {
		t.Errorf("%q, %d numbers", v.Heads, len(v.Rows[0].Numbers))
	}
}

// By hand: an axis from 0 to 100 s puts 1.5 % at 0 and 98.5 % at 100.
func TestPowerPlot(t *testing.T) {
	p := &energy.Plot{Base: "nv.gpu", T: []float64{0, 50, 100}, W: []float64{0, 100, 300}, Cell: &[2]float64{50, 100}, Thermal: []float64{50}, Capped: []float64{0, 100}}
	got, ok := powerPlotOf(p, series{"fp8", 1}, 300)
	if !ok {
		t.Fatal("it is not drawn")
	}
	// 300 W stand at 98.5 % of 170 px from below, 100 W at 1.5 + 97/3 = 33.8 %.
	if want := "M15 112.5H500V2.6H985"; got.Line != want {
		t.Errorf("%s, want %s", got.Line, want)
	}
	if got.Idle != nil || got.Steady != nil || *got.Cell != (span{From: 50, Width: 48.5}) {
		t.Errorf("%+v", got)
	}
	if got.Thermal != "M500 0V9" || got.Capped != "M15 170V161M985 170V161" {
		t.Errorf("%q %q", got.Thermal, got.Capped)
	}
	if want := "Power of fp8 over time, nv.gpu, at most 300 W; the cell from 50 to 100 s; heat or a power brake held a clock down; the power cap held a clock down."; got.About != want {
		t.Errorf("%s", got.About)
	}
	for name, p := range map[string]*energy.Plot{
		"nothing": {}, "one point": {T: []float64{1}, W: []float64{1}}, "unequal": {T: []float64{1, 2}, W: []float64{1}},
		"no number": {T: []float64{1, 2}, W: []float64{1, math.NaN()}}, "no end": {T: []float64{1, math.Inf(1)}, W: []float64{1, 2}},
	} {
		if _, ok := powerPlotOf(p, series{}, 1); ok {
			t.Errorf("%s is drawn", name)
		}
	}
}

// Whatever was recorded, the page holds: nothing stands outside, no number is wrong.
func TestAnyPlotIsDrawn(t *testing.T) {
	rec, dec := energyFixture(t)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		p := &energy.Plot{Base: rapid.SampledFrom([]string{"nv.gpu", "<b>", ""}).Draw(t, "base")}
		for range n {
			p.T, p.W = append(p.T, rapid.Float64().Draw(t, "t")), append(p.W, rapid.Float64().Draw(t, "w"))
		}
		slices.Sort(p.T)
		moments := rapid.SliceOfN(rapid.Float64(), 0, 5)
		p.Thermal, p.Capped = moments.Draw(t, "thermal"), moments.Draw(t, "capped")
		for _, s := range []**[2]float64{&p.Idle, &p.Cell, &p.Steady} {
			if rapid.Bool().Draw(t, "there") {
				*s = &[2]float64{rapid.Float64().Draw(t, "from"), rapid.Float64().Draw(t, "to")}
			}
		}
		rec.Candidates["fp8"].Load["power"].Energy[0].Plot = p
		readme, report, err := render(rec, dec)
		if err != nil {
			t.Fatal(err)
		}
		plotted(t, readme, report)
	})
}

func TestEnergyCaveats(t *testing.T) {
	rec, dec := energyFixture(t)
	var got []string
	for _, c := range newPage(rec, dec).Caveats {
		if strings.Contains(c.Where, "power") {
			got = append(got, c.Where+": "+c.Text)
		}
	}
	for _, want := range []string{"int4, power, c=8: the meter came late 3 times", "fp8, power, c=1 c=8: indicative: the energy is of less than 600 s"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
}

func energyCampaign() *spec.Campaign {
	c := campaign()
	delete(c.Measure, "support")
	delete(c.Measure, "again")
	c.Measure["power"] = spec.Workload{Kind: "energy", Energy: &spec.Energy{Of: "steady", Bases: []string{"nv.gpu", "wall"}}}
	return c
}

// energyRecord runs the record step of a campaign with an energy workload.
func energyRecord(t *testing.T, edit func(*evidence.LoadMetrics)) evidence.Record {
	t.Helper()
	full, _ := energyFixture(t)
	s := Steps(specHash)(energyCampaign())[0]
	var p recordParams
	if err := json.Unmarshal(s.Params, &p); err != nil {
		t.Fatal(err)
	}
	in := map[string][]byte{}
	for _, src := range p.Sources {
		if src.Candidate == "nvfp4" {
			continue
		}
		switch {
		case src.What == "metrics" && src.Workload == "power":
			l := full.Candidates[src.Candidate].Load["power"]
			if edit != nil {
				edit(&l)
			}
			in[src.Input] = encode(t, l)
		case src.What == "raw":
			in[src.Input] = fmt.Appendf(nil, "{\"of\":%q}\n", src.Input)
		}
	}
	job := &fakeJob{def: s, inputs: in}
	if err := (RecordRunner{}).Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	var rec evidence.Record
	if err := json.Unmarshal(job.outputs[evidence.OutRecord].Bytes(), &rec); err != nil {
		t.Fatal(err)
	}
	return rec
}

// Traces are among the evidence, so that everything can be derived again; a
// workload without a meter has none.
func TestRecordOfEnergy(t *testing.T) {
	rec := energyRecord(t, nil)
	traces := map[string]int{}
	for _, e := range rec.Evidence {
		if e.Output == evidence.OutTrace {
			traces[strings.Split(e.Step, "/")[2]]++
		}
	}
	if traces["power"] != 8 || len(traces) != 1 { // 2 cells, 2 trials, 2 candidates
		t.Errorf("traces %v", traces)
	}
	if e := rec.Candidates["fp8"].Load["power"].Energy; len(e) != 2 || *e[1].Bases[0].Windows[energy.Whole].W.Value != 480 || e[1].Plot == nil {
		t.Errorf("%+v", e)
	}
	if c := rec.Candidates["fp8"].Load["power"].Calibration; c == nil || c.Meter != "shelf meter, class 1" {
		t.Errorf("%+v", c)
	}
	got := unknowns(rec)
	for field := range got {
		if !strings.Contains(field, "energy") {
			delete(got, field)
		}
	}
	want := map[string]string{"candidates.bf16.energy.power.wall": "no-usage (the engine did not report token counts; chunks are never counted as tokens)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if why := unknowns(energyRecord(t, func(l *evidence.LoadMetrics) { l.Energy = nil }))["candidates.fp8.energy.power"]; why != "no energy was derived" {
		t.Errorf("%q", why)
	}
}

func TestNoMeterNoEnergy(t *testing.T) {
	rec, _ := recordOf(t, nil)
	if why := unknowns(rec)["energy"]; why != "no meter ran beside the campaign" {
		t.Errorf("%q", why)
	}
}
