package decide

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
)

func TestNeeds(t *testing.T) {
	c := campaign()
	c.Decide.Guards = map[string]spec.Guard{
		"accurate": {On: "support", Rule: "candidate.accuracy > 0.9"},
		"both":     {On: "support", Rule: "lo > -0.02 && 0.05 > hi"},
		"no-worse": {On: "support", Strata: "each", Rule: "lo > -0.02"},
		"better":   {On: "support", Strata: "poems", Rule: "lo > 0.01"},
		"ttft":     {On: "load", Rule: "candidate.ttft_ms.p95 < 100.0"},
		"broken":   {On: "support", Rule: "lo >"},
	}
	got := Needs(c, map[string]map[string]int{"support": {"arithmetic": 334, "extract": 2500}})
	want := []Need{
		{"accurate", "support", "", "candidate.accuracy > 0.9", "", 0, 2834},
		{"better", "support", "poems", "lo > 0.01", "lo > 0.01", -0.01, 0},
		{"both", "support", "", "lo > -0.02 && 0.05 > hi", "lo > -0.02", 0.02, 2834},
		{"both", "support", "", "lo > -0.02 && 0.05 > hi", "hi < 0.05", 0.05, 2834},
		{"no-worse", "support", "arithmetic", "lo > -0.02", "lo > -0.02", 0.02, 334},
		{"no-worse", "support", "extract", "lo > -0.02", "lo > -0.02", 0.02, 2500},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Needs(c, nil); len(got) != 0 {
		t.Errorf("without counts: %v", got)
	}
}
