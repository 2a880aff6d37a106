package guard

import (
	"strings"
	"testing"
)

// A number that is put is seen by the rule, and by nobody else.
func TestPut(t *testing.T) {
	p, err := idEnv(t).Compile("candidate.energy.gpu.cell.j <= baseline.energy.gpu.cell.j && candidate.rate < 5.0")
	if err != nil {
		t.Fatal(err)
	}
	one, two, w := 1.0, 2.0, 7.0
	side := func(j *float64) *metered {
		return &metered{Plain: Plain{Rate: 1}, Energy: bases{GPU: &base{Cell: window{J: j, W: &w}}}}
	}
	vars := sides{Candidate: side(&one), Baseline: side(&two)}
	for _, tt := range []struct {
		put   map[string]float64
		holds bool
	}{
		{nil, true},
		{map[string]float64{"candidate.energy.gpu.cell.j": 3}, false},
		{map[string]float64{"candidate.energy.gpu.cell.j": 3, "baseline.energy.gpu.cell.j": 4}, true},
		{map[string]float64{"candidate.rate": 6}, false},
	} {
		moved, err := p.Put(&vars, tt.put)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Eval(moved, nil); got.Holds() != tt.holds || got.Err != nil {
			t.Errorf("%v: %+v", tt.put, got)
		}
		if m := moved.(sides); *m.Candidate.Energy.GPU.Cell.W != 7 {
			t.Errorf("%v: what is beside it is %v", tt.put, *m.Candidate.Energy.GPU.Cell.W)
		}
	}
	if one != 1 || two != 2 || vars.Candidate.Rate != 1 || !p.Eval(vars, nil).Holds() {
		t.Error("the values themselves have moved")
	}
	for _, path := range []string{"candidate.energy.wall.cell.j", "candidate.energy.gpu.cell.w", "candidate.name", "x"} {
		if _, err := p.Put(vars, map[string]float64{path: 1}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	vars.Baseline = nil
	if _, err := p.Put(vars, map[string]float64{"baseline.energy.gpu.cell.j": 1}); err == nil {
		t.Error("a number that is absent can be put")
	}
	if _, err := p.Put(3, nil); err == nil {
		t.Error("3 is taken for values")
	}
}
