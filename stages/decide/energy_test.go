package decide

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

func everyBase() (out []string) {
	for _, s := range energy.Spelled {
		out = append(out, s.Base)
	}
	return out
}

// energyCampaign has an energy workload with these bases and one guard on it.
func energyCampaign(rule string, bases ...string) *spec.Campaign {
	c := campaign()
	c.Candidates = map[string]spec.Candidate{"bf16": {Role: "baseline"}, "fp8": {Role: "candidate"}}
	c.Measure["power"] = spec.Workload{Kind: "energy", Energy: &spec.Energy{Of: "load", Bases: bases, StartBand: 5}}
	c.Publish.Cost = &spec.Cost{KWh: new(0.28), Currency: "EUR"}
	c.Decide.Guards = map[string]spec.Guard{"joules": {On: "power", Cells: []string{"c=4"}, Rule: rule}}
	return c
}

// filled sets every value of a struct to x.
func filled[T any](x float64) (out T) {
	v := reflect.ValueOf(&out).Elem()
	for i := range v.NumField() {
		if _, ok := v.Field(i).Interface().(metric.Value); ok {
			v.Field(i).Set(reflect.ValueOf(metric.Of(x, "J")))
		}
	}
	return out
}

func energyCell(name string, x float64, bases ...string) energy.Cell {
	c := energy.Cell{Name: name, Trials: 1, Asiai: filled[energy.Asiai](x), ThermalShare: metric.Of(0, "share"), PowerCapShare: metric.Of(0.1, "share"), StartC: metric.Of(41, "C")}
	c.Asiai.Base, c.Asiai.PowerBase, c.Asiai.PowerDigest = bases[0], "nv.gpu", "d-nv.gpu"
	for _, b := range bases {
		of := energy.Of{Base: b, Digest: "d-" + b, LoadedIdleW: metric.Of(x, "W"), PublicationMS: metric.Of(100, "ms"), Windows: map[energy.Window]energy.Measured{}}
		for _, w := range energy.Windows {
			of.Windows[w] = filled[energy.Measured](x)
		}
		c.Bases = append(c.Bases, of)
	}
	return c
}

// energyRecord has the energies of both: 2 of everything for fp8, 3 for bf16.
func energyRecord(t testing.TB, bases ...string) *evidence.Record {
	t.Helper()
	r := fourCandidates(t)
	for who, x := range map[string]float64{"bf16": 3, "fp8": 2} {
		l := r.Candidates[who].Load["load"]
		l.Workload, l.Kind = "power", "energy"
		l.Energy = []energy.Cell{energyCell("c=1", x, bases...), energyCell("c=4", x, bases...)}
		r.Candidates[who].Load["power"] = l
	}
	return r
}

// outcome evaluates one rule on an energy workload.
func outcome(t testing.TB, rule string, change func(candidate, baseline *evidence.LoadMetrics)) evidence.GuardResult {
	t.Helper()
	r := energyRecord(t, "nv.gpu", "wall")
	if change != nil {
		a, b := r.Candidates["fp8"].Load["power"], r.Candidates["bf16"].Load["power"]
		a.Cells, b.Cells = slices.Clone(a.Cells), slices.Clone(b.Cells)
		change(&a, &b)
		r.Candidates["fp8"].Load["power"], r.Candidates["bf16"].Load["power"] = a, b
	}
	c := energyCampaign(rule, "nv.gpu", "wall")
	if errs := Check(c); len(errs) > 0 {
		t.Fatalf("%s: %v", rule, errs)
	}
	d := Decide(PolicyOf(c), r, step.Digest{})
	if len(d.Candidates) != 1 || len(d.Candidates[0].Guards) != 1 {
		t.Fatalf("%+v", d)
	}
	return d.Candidates[0].Guards[0]
}

// The environment has every base, window and number of the energy, and no other.
func TestEnergyHasTheMetricIDs(t *testing.T) {
	var bases, windows []string
	for _, s := range energy.Spelled {
		bases = append(bases, s.Name)
	}
	for _, w := range energy.Windows {
		windows = append(windows, string(w))
	}
	slices.Sort(bases)
	for _, tt := range []struct {
		what         string
		ours, theirs []string
	}{
		{"bases", tags(reflect.TypeFor[Bases](), "cel"), bases},
		{"windows", tags(reflect.TypeFor[Base](), "cel"), sorted(append(windows, "loaded_idle_w", "publication_ms"))},
		{"measured", tags(reflect.TypeFor[Measured](), "cel"), without(tags(reflect.TypeFor[energy.Measured](), "json"), "label")},
		{"asiai", tags(reflect.TypeFor[Asiai](), "cel"), without(tags(reflect.TypeFor[energy.Asiai](), "json"), "base", "rails", "window", "power_base", "power_digest", "power_label", "power_quantisation_pct", "turn_quantisation_pct")},
	} {
		if diff := cmp.Diff(tt.theirs, tt.ours); diff != "" {
			t.Errorf("%s: %s", tt.what, diff)
		}
	}
	for f := range reflect.TypeFor[Bases]().Fields() {
		if want := "base=" + energy.BaseOf(f.Tag.Get("cel")); f.Tag.Get("label") != want {
			t.Errorf("%s has the label %s, want %s", f.Name, f.Tag.Get("label"), want)
		}
	}
}

func sorted(s []string) []string { slices.Sort(s); return s }

func without(list []string, names ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return slices.Contains(names, s) })
}

// energyVariables are those of the candidate that carry an id.
func energyVariables() (out []string) {
	for _, v := range Variables("energy") {
		if v.ID != "" && strings.HasPrefix(v.Path, "candidate.") {
			out = append(out, v.Path)
		}
	}
	return out
}

// Every number of the energy can be named, by itself and against the baseline's.
func TestARuleForEveryEnergy(t *testing.T) {
	vars := energyVariables()
	if want := len(energy.Spelled)*(len(energy.Windows)*14+2) + 6 + 3; len(vars) != want {
		t.Fatalf("%d variables with an id, want %d", len(vars), want)
	}
	j := judge{policy: PolicyOf(energyCampaign("candidate.failed < 1.0", everyBase()...)), record: energyRecord(t, everyBase()...)}
	j.rules = map[string]rule{}
	for _, path := range vars {
		own := path + " > 100.0"
		want := evidence.Fail
		if strings.HasSuffix(path, "publication_ms") {
			own = path + " < 100.0"
		}
		both := path + " <= 0.9 * baseline." + strings.TrimPrefix(path, "candidate.")
		wantBoth := evidence.Pass // 2 against 3
		switch {
		case strings.HasSuffix(path, ".publication_ms"), strings.HasSuffix(path, "power_cap_share"), strings.HasSuffix(path, "start_c"):
			wantBoth = evidence.Fail // equal
		case strings.HasSuffix(path, "thermal_share"):
			wantBoth = evidence.Pass // 0 and 0
		}
		for text, want := range map[string]evidence.Verdict{own: want, both: wantBoth} {
			g := spec.Guard{On: "power", Cells: []string{"c=4"}, Rule: text}
			p, err := compile(j.policy.Workloads["power"], g, nil)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			j.rules["g"] = rule{p}
			got := j.cells("fp8", g, evidence.GuardResult{Guard: "g", On: "power", Rule: text})
			if len(got) != 1 || got[0].Verdict != want {
				t.Errorf("%s: %+v, want %s", text, got, want)
			}
		}
	}
}

// Two different ids do not compare, whichever they are.
func TestNoTwoEnergiesCompare(t *testing.T) {
	vars := energyVariables()
	w := PolicyOf(energyCampaign("candidate.failed < 1.0", everyBase()...)).Workloads["power"]
	for i := range vars {
		a, b := vars[i], strings.Replace(vars[(i+1+i%37)%len(vars)], "candidate.", "baseline.", 1)
		if a[len("candidate."):] == b[len("baseline."):] {
			continue
		}
		text := fmt.Sprintf("%s %s 0.9 * %s", a, []string{"<", ">=", "=="}[i%3], b)
		if _, err := compile(w, spec.Guard{On: "power", Rule: text}, nil); err == nil || !strings.Contains(err.Error(), "do not compare") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCheckOfEnergy(t *testing.T) {
	for _, tt := range []struct {
		rule string
		want []CheckError
	}{
		{"candidate.energy.nv_gpu.cell.j_per_output_token <= 0.9 * baseline.energy.nv_gpu.cell.j_per_output_token && candidate.ttft_ms.p95 < 200.0", nil},
		{"candidate.energy.nv_gpu.cell.j_per_output_token / candidate.energy.nv_gpu.cell.w < 1.0 * baseline.energy.nv_gpu.cell.j_per_output_token / baseline.energy.nv_gpu.cell.w", nil},
		{"candidate.failed < 1.0 &&\n candidate.energy.nv_gpu.cell.j_per_output_token <= 0.9 * baseline.energy.nv_gpu.decode.j_per_output_token", []CheckError{{
			Guard: "joules", Field: "rule", Offset: 75, Line: 2, Col: 50,
			Msg:   "energy_j_per_output_token{base=nv.gpu,window=cell} and energy_j_per_output_token{base=nv.gpu,window=decode} do not compare; both must be of one id, or one a constant",
			Caret: " candidate.energy.nv_gpu.cell.j_per_output_token <= 0.9 * baseline.energy.nv_gpu.decode.j_per_output_token\n                                                 ^",
		}}},
		{"candidate.energy.nv_module.cell.w < 100.0", []CheckError{{
			Guard: "joules", Field: "rule", Offset: 16, Line: 1, Col: 17,
			Msg:   "the workload does not count nv.module; it counts: nv_gpu (nv.gpu), wall",
			Caret: "candidate.energy.nv_module.cell.w < 100.0\n                ^",
		}}},
		{"candidate.energy.nv_gpu.turn.w < 100.0", []CheckError{{
			Guard: "joules", Field: "rule", Offset: 23, Line: 1, Col: 24,
			Msg:   "there is no field turn in candidate.energy.nv_gpu; there are: request, prefill, decode, steady, cell, loaded_idle_w, publication_ms",
			Caret: "candidate.energy.nv_gpu.turn.w < 100.0\n                       ^",
		}}},
		{"candidate.asiai.soc_watts < baseline.asiai.power_watts", []CheckError{{
			Guard: "joules", Field: "rule", Offset: 26, Line: 1, Col: 27,
			Msg:   "asiai_soc_watts and asiai_power_watts do not compare; both must be of one id, or one a constant",
			Caret: "candidate.asiai.soc_watts < baseline.asiai.power_watts\n                          ^",
		}}},
		{"candidate.energy.wall.cell.j >= 0.0", []CheckError{{Guard: "joules", Field: "rule", Msg: "it holds whatever is measured, so it guards nothing"}}},
		{"candidate.thermal_share <= 1.0", []CheckError{{Guard: "joules", Field: "rule", Msg: "it holds whatever is measured, so it guards nothing"}}},
		{"baseline.energy.wall.cell.j < 5.0", []CheckError{{Msg: "no guard looks at candidate fp8; name lo, candidate.mean or another of its numbers in one"}}},
	} {
		if diff := cmp.Diff(tt.want, Check(energyCampaign(tt.rule, "nv.gpu", "wall"))); diff != "" {
			t.Errorf("%s: %s", tt.rule, diff)
		}
	}
	c := campaign()
	c.Decide.Guards = map[string]spec.Guard{"g": {On: "load", Rule: "candidate.energy.nv_gpu.cell.w < 1.0"}}
	if errs := Check(c); len(errs) != 1 || !strings.Contains(errs[0].Msg, "there is no field energy in candidate") {
		t.Errorf("energy on a workload that measures none: %v", errs)
	}
}

const perToken = "candidate.energy.nv_gpu.cell.j_per_output_token <= 0.9 * baseline.energy.nv_gpu.cell.j_per_output_token"

func TestEnergyDecides(t *testing.T) {
	got := outcome(t, perToken, nil)
	if got.Verdict != evidence.Pass || got.Warnings != nil || !strings.Contains(got.Explain, "(candidate.energy.nv_gpu.cell.j_per_output_token = 2, baseline.energy.nv_gpu.cell.j_per_output_token = 3)") {
		t.Errorf("%+v", got)
	}
	if got := outcome(t, strings.Replace(perToken, "0.9", "0.5", 1), nil); got.Verdict != evidence.Fail || got.Reason != "it does not hold" {
		t.Errorf("%+v", got)
	}
	if got := outcome(t, perToken+" && candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95 && concurrency == 4.0 && cell == 'c=4'", nil); got.Verdict != evidence.Pass {
		t.Errorf("performance and energy of one run: %+v", got)
	}
}

func whole(m *evidence.LoadMetrics, change func(*energy.Measured)) {
	w := m.Energy[1].Bases[0].Windows[energy.Whole]
	change(&w)
	m.Energy[1].Bases[0].Windows[energy.Whole] = w
}

// Each of these would pass if nobody looked.
func TestEnergyInDoubtIsUndetermined(t *testing.T) {
	for name, tt := range map[string]struct {
		rule   string
		change func(a, b *evidence.LoadMetrics)
		reason string
	}{
		"no meter": {perToken, func(a, _ *evidence.LoadMetrics) {
			whole(a, func(m *energy.Measured) { m.JPerOutputToken = metric.Null("no-meter", "J") })
		}, "candidate.energy.nv_gpu.cell.j_per_output_token is absent: no-meter"},
		"foreign process on the baseline's GPU": {perToken, func(_, b *evidence.LoadMetrics) {
			whole(b, func(m *energy.Measured) { m.JPerOutputToken = metric.Null("foreign-process", "J") })
		}, "baseline.energy.nv_gpu.cell.j_per_output_token is absent: foreign-process"},
		"negated": {"!(candidate.energy.nv_gpu.cell.w > 1000.0)", func(a, _ *evidence.LoadMetrics) {
			whole(a, func(m *energy.Measured) { m.W = metric.Null("counter-frozen", "W") })
		}, "is absent: counter-frozen"},
		"or":        {"candidate.failed < 1.0 || candidate.energy.nv_gpu.cell.w < 1.0", func(a, _ *evidence.LoadMetrics) { a.Energy = nil }, "candidate.energy.nv_gpu.cell.w is absent: no-energy (no energy was derived of this cell)"},
		"no window": {"candidate.energy.nv_gpu.decode.w < 10.0", func(a, _ *evidence.LoadMetrics) { delete(a.Energy[1].Bases[0].Windows, energy.Decode) }, "candidate.energy.nv_gpu.decode.w is absent"},
		"no such base in the record": {"candidate.energy.wall.cell.w < 10.0", func(a, _ *evidence.LoadMetrics) { a.Energy[1].Bases = a.Energy[1].Bases[:1] },
			"candidate.energy.wall.cell.w is absent: not-counted-here (the workload does not count this base)"},
		"no cell":      {"candidate.energy.wall.cell.w < 10.0", func(a, _ *evidence.LoadMetrics) { a.Cells = nil }, "no-cell"},
		"no idle":      {"candidate.energy.wall.loaded_idle_w < 10.0", func(a, _ *evidence.LoadMetrics) { a.Energy[1].Bases[1].LoadedIdleW = metric.Null("idle-cv", "W") }, "candidate.energy.wall.loaded_idle_w is absent: idle-cv"},
		"no M6":        {"candidate.asiai.power_watts < 10.0", func(a, _ *evidence.LoadMetrics) { a.Energy[1].Asiai.PowerWatts = metric.Null("thermal", "W") }, "candidate.asiai.power_watts is absent: thermal"},
		"no start":     {"candidate.start_c < 90.0", func(a, _ *evidence.LoadMetrics) { a.Energy[1].StartC = metric.Null("domain-missing", "C") }, "domain-missing"},
		"client-bound": {perToken, func(a, _ *evidence.LoadMetrics) { a.Cells[1].ClientBound = true }, "client-bound"},
		"failed":       {perToken, func(_, b *evidence.LoadMetrics) { b.Cells[1].Failed = 2 }, "failed-requests: 2 of 300 requests of bf16 failed"},
		"longer answers": {strings.ReplaceAll(perToken, "output_token", "request"), func(a, b *evidence.LoadMetrics) {
			a.Cells[1].OutputTokens.Mean, b.Cells[1].OutputTokens.Mean = ptr(100), ptr(130)
		}, "unequal-work: the answers differ in length, and longer ones take more energy; compare joules per token: 100.0 output tokens a request on fp8, 130.0 on bf16"},
		"more answers": {"candidate.energy.nv_gpu.cell.net_j < baseline.energy.nv_gpu.cell.net_j", func(_, b *evidence.LoadMetrics) { b.Cells[1].Completed = 310 },
			"unequal-work: the cells hold different numbers of requests; compare joules per request or per token: 300 on fp8, 310 on bf16"},
	} {
		t.Run(name, func(t *testing.T) {
			got := outcome(t, tt.rule, tt.change)
			if got.Verdict != evidence.Undetermined || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("%s, %s; want undetermined, %s", got.Verdict, got.Reason, tt.reason)
			}
		})
	}
}

// Arms under other conditions are not compared, though each may be judged by itself.
func TestArmsThatAreNotComparable(t *testing.T) {
	for name, change := range map[string]func(a, b *evidence.LoadMetrics){
		"power cap":      func(a, _ *evidence.LoadMetrics) { a.Energy[1].PowerCapShare = metric.Of(0.3, "share") },
		"other counters": func(_, b *evidence.LoadMetrics) { b.Energy[1].Bases[0].Digest = "another" },
	} {
		t.Run(name, func(t *testing.T) {
			var sentences []string
			keep := func(a, b *evidence.LoadMetrics) {
				change(a, b)
				sentences = energy.Comparable(&a.Energy[1], &b.Energy[1], energy.Band{StartC: 5})
			}
			got := outcome(t, perToken, keep)
			if got.Verdict != evidence.Undetermined || len(sentences) == 0 {
				t.Fatalf("%+v, %q", got, sentences)
			}
			for _, s := range sentences {
				if !strings.Contains(got.Reason, "not-comparable: "+s+" (fp8 and bf16)") {
					t.Errorf("%s; want %q", got.Reason, s)
				}
			}
			for rule, want := range map[string]evidence.Verdict{
				"candidate.energy.nv_gpu.cell.j_per_output_token < 5.0":                                   evidence.Pass,
				"candidate.asiai.energy_per_token_j <= baseline.asiai.energy_per_token_j":                 evidence.Undetermined,
				"candidate.ttft_ms.p95 <= baseline.ttft_ms.p95":                                           evidence.Pass,
				"candidate.power_cap_share < 0.5 && candidate.start_c - baseline.start_c < 3.0":           evidence.Pass,
				"candidate.energy.nv_gpu.cell.w < 5.0 && baseline.energy.nv_gpu.decode.w < 5.0":           evidence.Undetermined,
				"candidate.energy.nv_gpu.cell.w / baseline.energy.nv_gpu.cell.w < 0.9 && cell != 'c=400'": evidence.Undetermined,
			} {
				if got := outcome(t, rule, change); got.Verdict != want {
					t.Errorf("%s: %s, %s; want %s", rule, got.Verdict, got.Reason, want)
				}
			}
		})
	}
	// The counters of a base that the rule does not name are none of its concern.
	if got := outcome(t, perToken, func(a, _ *evidence.LoadMetrics) { a.Energy[1].Bases[1].Digest = "another" }); got.Verdict != evidence.Pass {
		t.Errorf("%s, %s", got.Verdict, got.Reason)
	}
}

func TestOtherTokensAreOtherJoules(t *testing.T) {
	r := energyRecord(t, "nv.gpu")
	for who, n := range map[string]int{"bf16": 58, "fp8": 61} {
		c := r.Candidates[who]
		c.Pin = &evidence.PinDoc{Probe: llm.TokenProbe{Tokens: n, Twice: 2 * n, By: "tokenize"}}
		r.Candidates[who] = c
	}
	for rule, want := range map[string]evidence.Verdict{
		perToken: evidence.Undetermined,
		strings.ReplaceAll(perToken, "j_per_output_token", "w"):                            evidence.Pass,
		strings.ReplaceAll(perToken, "j_per_output_token", "j_per_total_token"):            evidence.Undetermined,
		strings.ReplaceAll(perToken, "j_per_output_token", "j_per_output_interval"):        evidence.Undetermined,
		"candidate.asiai.tok_per_sec_per_watt < 0.9 * baseline.asiai.tok_per_sec_per_watt": evidence.Undetermined,
		"candidate.asiai.power_watts < 0.9 * baseline.asiai.power_watts":                   evidence.Pass,
	} {
		d := Decide(PolicyOf(energyCampaign(rule, "nv.gpu")), r, step.Digest{})
		got := d.Candidates[0].Guards[0]
		if got.Verdict != want || want == evidence.Undetermined && !strings.HasPrefix(got.Reason, "other-tokens") {
			t.Errorf("%s: %s, %s; want %s", rule, got.Verdict, got.Reason, want)
		}
	}
}

// A short window and a doubt of the meter are shown and block nothing.
func TestEnergyDoubtsAreShown(t *testing.T) {
	got := outcome(t, perToken, func(a, b *evidence.LoadMetrics) {
		whole(a, func(m *energy.Measured) { m.Label = "indicative" })
		b.Energy[1].Doubts = []string{"the meter was late 3 times"}
	})
	want := []string{"indicative: candidate.energy.nv_gpu.cell.j_per_output_token is of less than 600 s", "bf16: the meter was late 3 times"}
	if got.Verdict != evidence.Pass || !slices.Equal(got.Warnings, want) {
		t.Errorf("%s, %q", got.Verdict, got.Warnings)
	}
	if got := outcome(t, "candidate.ttft_ms.p95 < 1e9", func(a, _ *evidence.LoadMetrics) { a.Energy[1].Doubts = []string{"x"} }); got.Warnings != nil {
		t.Errorf("a rule that names no energy is told of %q", got.Warnings)
	}
}

func TestWhatToDoAboutAnAbsentEnergy(t *testing.T) {
	r := energyRecord(t, "nv.gpu")
	l := r.Candidates["fp8"].Load["power"]
	whole(&l, func(m *energy.Measured) { m.JPerOutputToken = metric.Null("no-meter", "J") })
	r.Candidates["fp8"].Load["power"] = l
	d := Decide(PolicyOf(energyCampaign(perToken, "nv.gpu")), r, step.Digest{})
	if len(d.Next) != 1 || !strings.HasSuffix(d.Next[0], "; run it where cupel-meter reads the machine that serves it, or add its recordings under traces") {
		t.Errorf("%q", d.Next)
	}
}

// A base that the workload has stopped counting makes an error of the rule, not a
// pass on nothing.
func TestUncountedBaseIsAnError(t *testing.T) {
	d := Decide(PolicyOf(energyCampaign("candidate.energy.wall.cell.w < 10.0", "nv.gpu")), energyRecord(t, "nv.gpu", "wall"), step.Digest{})
	if g := d.Candidates[0].Guards[0]; g.Verdict != evidence.Error || !strings.Contains(g.Reason, "does not count wall") {
		t.Errorf("%+v", g)
	}
}
