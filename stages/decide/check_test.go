package decide

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/metric"
)

func TestCheckAcceptsTheExample(t *testing.T) {
	if errs := Check(campaign()); len(errs) != 0 {
		t.Errorf("%v", errs)
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, tt := range []struct {
		guard spec.Guard
		want  string
	}{
		{spec.Guard{Rule: "cost.per_1k_items.candidate < 0.65 * cost.per_1k_items.baseline"}, "guard g: on: it is missing: name the workload that the guard looks at"},
		{spec.Guard{On: "suport", Rule: "lo > 0.0"}, "there is no workload suport; there are: load, noise, power, rungs, support"},
		{spec.Guard{On: "power", Rule: "lo > 0.0"}, "there is no value named lo; there are: concurrency, cell, candidate, baseline"},
		{spec.Guard{On: "rungs", Cells: []string{"tokens=1024", "tokens=64"}, Rule: "candidate.pass_rate >= 0.9"}, `guard g: cells: rungs has no cell "tokens=64"; it has tokens=1024, tokens=8192`},
		{spec.Guard{On: "support", Cells: []string{"c=1"}, Rule: "lo > 0.0"}, "guard g: cells: support is a quality workload and has no cells"},
		{spec.Guard{On: "noise", Rule: "lo > 0.0"}, "put the guard on the quality workload"},
		{spec.Guard{On: "support", Rule: "lwo > 0.0"}, "guard g: rule:1:1: there is no value named lwo; did you mean lo?"},
		{spec.Guard{On: "load", Rule: "candidate.ttft.p95 > 0.0"}, "guard g: rule:1:10: there is no field ttft in candidate"},
		{spec.Guard{On: "load", Rule: "lo > 0.0"}, "there is no value named lo; there are: concurrency, cell, candidate, baseline"},
		{spec.Guard{On: "load", Strata: "all", Rule: "candidate.failed < 1.0"}, "guard g: strata: load is a capacity workload"},
		{spec.Guard{On: "load", Concurrency: []int{64}, Rule: "candidate.failed < 1.0"}, "load does not measure concurrency 64"},
		{spec.Guard{On: "support", Concurrency: []int{1}, Rule: "lo > 0.0"}, "support is a quality workload and has no cells"},
		{spec.Guard{On: "support", Candidates: []string{"gptq"}, Rule: "lo > 0.0"}, "there is no candidate gptq"},
		{spec.Guard{On: "support", Candidates: []string{"bf16"}, Rule: "lo > 0.0"}, "bf16 is the baseline"},
	} {
		c := campaign()
		c.Decide.Guards = map[string]spec.Guard{"g": tt.guard}
		errs := Check(c)
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), tt.want) {
			t.Errorf("%+v: %v; want %q", tt.guard, errs, tt.want)
		}
	}
}

func TestCheckNoiseAndNone(t *testing.T) {
	c := campaign()
	delete(c.Measure, "noise")
	errs := Check(c)
	if len(errs) != 1 || errs[0].Guard != "beats-noise" || !strings.Contains(errs[0].Msg, "{kind: noise-floor, candidate: bf16, suite: support}") {
		t.Errorf("%v", errs)
	}
	c.Decide.Guards = nil
	if errs := Check(c); len(errs) != 1 || !strings.Contains(errs[0].Error(), "nothing passes without a guard") {
		t.Errorf("%v", errs)
	}
}

func TestCheckPlacesTheCaret(t *testing.T) {
	c := campaign()
	c.Decide.Guards = map[string]spec.Guard{"g": {On: "support", Rule: "lo > -0.02 &&\n  candidate.acuracy > 0.9 && hii < 0.1"}}
	want := []CheckError{
		{Guard: "g", Field: "rule", Msg: "there is no field acuracy in candidate; did you mean candidate.accuracy?", Offset: 25, Line: 2, Col: 12, Caret: "  candidate.acuracy > 0.9 && hii < 0.1\n           ^"},
		{Guard: "g", Field: "rule", Msg: "there is no value named hii; did you mean hi?", Offset: 43, Line: 2, Col: 30, Caret: "  candidate.acuracy > 0.9 && hii < 0.1\n                             ^"},
	}
	if diff := cmp.Diff(want, Check(c)); diff != "" {
		t.Error(diff)
	}
}

func TestWarnings(t *testing.T) {
	c := campaign()
	c.Decide.Guards = map[string]spec.Guard{
		"no-worse":  {On: "support", Strata: "all", Rule: "lo > -0.02"},
		"better":    {On: "support", Rule: "lo > 0.0"},
		"poems":     {On: "support", Strata: "poems", Rule: "lo > -0.5"},
		"not-above": {On: "support", Rule: "0.02 > hi && candidate.truncation_rate < 0.5"},
		"ttft":      {On: "load", Rule: "candidate.ttft_ms.p95 < 100.0"},
	}
	counts := map[string]map[string]int{"support": {"arithmetic": 334, "extract": 2500}}
	got := Warnings(c, counts)
	want := []string{
		"guard better: `lo > 0` can hold only if the candidate is truly better by more than the limit; no number of items is enough without that",
		"guard no-worse, stratum arithmetic: `lo > -0.02` at 10 % disagreement needs about 1,963 items; the suite has 334 (80 % power, no true difference, 95 % interval)",
		"guard poems, stratum poems: the suite has no items there, so the guard will be undetermined",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Four candidates share the risk: (2.4977 + 0.8416)^2 * 0.1/0.02^2 = 2,788.
	c.Decide.Statistics.Multiplicity = "bonferroni"
	got = Warnings(c, counts)
	shared := "guard no-worse, stratum extract: `lo > -0.02` at 10 % disagreement needs about 2,788 items; the suite has 2,500 (80 % power, no true difference, 98.75 % interval)"
	if !slices.Contains(got, shared) {
		t.Errorf("with a shared risk: %q", got)
	}
	if got := Warnings(c, nil); len(got) != 0 {
		t.Errorf("without counts: %v", got)
	}
}

// The capacity environment has every metric id of a cell, and no other.
func TestCellHasTheMetricIDs(t *testing.T) {
	notNumbers := []string{"quantiles", "name", "failures", "per_trial", "reason", "unit", "label", "doubts"}
	for _, tt := range []struct{ ours, theirs reflect.Type }{
		{reflect.TypeFor[Cell](), reflect.TypeFor[metric.Cell]()},
		{reflect.TypeFor[Dist](), reflect.TypeFor[metric.Dist]()},
	} {
		ours, theirs := tags(tt.ours, "cel"), tags(tt.theirs, "json")
		theirs = slices.DeleteFunc(theirs, func(s string) bool { return slices.Contains(notNumbers, s) })
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s: %s", tt.ours, diff)
		}
	}
}

func tags(t reflect.Type, key string) []string {
	var out []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get(key), ",")
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func TestVariablesAreDocumented(t *testing.T) {
	for _, kind := range []string{"quality", "capacity", "ladder", "energy"} {
		vars := Variables(kind)
		if len(vars) < 20 {
			t.Errorf("%s: only %d variables", kind, len(vars))
		}
		for _, v := range vars {
			if v.Doc == "" {
				t.Errorf("%s has no sentence", v.Path)
			}
		}
	}
	if Variables("noise-floor") != nil {
		t.Error("a noise floor has no guards")
	}
}
