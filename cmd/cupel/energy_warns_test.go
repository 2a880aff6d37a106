package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// What will be refused is said before anything is measured, and what will not is not.
func TestEnergyWarns(t *testing.T) {
	closed := spec.Workload{Kind: "capacity", Capacity: &spec.Capacity{}}
	open := func(d string) spec.Workload {
		return spec.Workload{Kind: "open-loop", OpenLoop: &spec.OpenLoop{Arrivals: spec.Arrivals{Duration: d}}}
	}
	every := func(p time.Duration) probed {
		return probed{probe: &trace.Probe{DurationNS: 3e9, Bases: []trace.Based{{Base: "nv.gpu", PeriodNS: new(int64(p)), WindowNS: new(50 * int64(p))}}}}
	}
	still := probed{probe: &trace.Probe{DurationNS: 3e9, Bases: []trace.Based{{Base: "nv.gpu", Reason: trace.NoPeriod}}}}
	gpus := func(g ...hardware.GPU) probed {
		p := every(20 * time.Millisecond)
		p.report = &hardware.Report{GPUs: g}
		return p
	}
	busy := hardware.GPU{Index: 2, Processes: make([]hardware.Process, 2), MIG: new(false)}
	for name, c := range map[string]struct {
		of     spec.Workload
		here   probed
		change func(*spec.Energy)
		want   []string
	}{
		"nothing":               {closed, every(100 * time.Millisecond), nil, nil},
		"no meter":              {closed, probed{err: errors.New("none")}, nil, nil},
		"finer than it is":      {closed, every(2 * time.Second), func(e *spec.Energy) { e.Coarsest = 0.5 }, []string{"nv.gpu has a quantisation of 1 % in 100 s, and coarsest is 0.5: its energy will be refused (publication-too-coarse)"}},
		"short schedule":        {open("5s"), every(time.Second), nil, []string{"nv.gpu has a quantisation of 10 % in 5.0 s, and coarsest is 5"}},
		"a schedule that fits":  {open("60s"), every(time.Second), nil, nil},
		"unknown schedule":      {open(""), every(time.Second), nil, nil},
		"did not change":        {closed, still, nil, []string{"nv.gpu did not change twice in 3.0 s: either it changes less often than every 1.5 s, and the window will be longer than 75 s, or it stands still, and its energy will be refused (counter-frozen)"}},
		"of a long window":      {closed, still, func(e *spec.Energy) { e.Window = "600s" }, []string{"every 1.5 s, and the window may be made longer, or"}},
		"of a schedule":         {open("60s"), still, nil, []string{"half a period is then more than 1 % of a schedule below 75 s"}},
		"brief idle":            {closed, every(100 * time.Millisecond), func(e *spec.Energy) { e.Idle = "5s" }, []string{"looked at for 5.0 s while it is idle, and 10 s are needed: everything net and the loaded idle will be refused (idle-too-short)"}},
		"brief idle, no meter":  {closed, probed{err: errors.New("none")}, func(e *spec.Energy) { e.Idle = "5s" }, []string{"idle-too-short"}},
		"made long enough":      {closed, every(time.Second), func(e *spec.Energy) { e.Idle = "5s" }, nil},
		"nobody looks at idle":  {closed, every(time.Second), func(e *spec.Energy) { e.Idle = "0s" }, nil},
		"partitioned":           {closed, gpus(hardware.GPU{Index: 1, MIG: new(true)}), nil, []string{"GPU 1 is partitioned"}},
		"more processes":        {closed, gpus(busy), nil, []string{"GPU 2 has 2 compute processes now, and processes is 1"}},
		"as many as allowed":    {closed, gpus(busy), func(e *spec.Energy) { e.Processes = 2 }, nil},
		"not what is asked for": {closed, gpus(busy), func(e *spec.Energy) { e.Bases = []string{"rapl.package"} }, nil},
	} {
		e := &spec.Energy{Of: "load", Bases: []string{"nv.gpu"}, Window: "60s", Settle: "3s", Idle: "10s", Cooling: "0s", Coarsest: 5, Processes: 1}
		if c.change != nil {
			c.change(e)
		}
		got := energyWarns(&spec.Campaign{Measure: map[string]spec.Workload{"load": c.of, "power": {Kind: "energy", Energy: e}}}, c.here)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i, s := range c.want {
			if !strings.HasPrefix(got[i], "power: ") || !strings.Contains(got[i], s) {
				t.Errorf("%s: %q, want %q", name, got[i], s)
			}
		}
	}
}
