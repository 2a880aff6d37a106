//go:build cgo

package main

import (
	"slices"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// maxPIDs are listed in a state; the count is of all.
const maxPIDs = 4096

// States asks who computes on the GPUs, whether they are partitioned, what their
// power is limited to, and for the driver.
func (g *gpus) States() []trace.State {
	u := hardware.Unknown{}
	driver := g.l.text(u, "driver", g.l.SystemGetDriverVersion, "nvmlSystemGetDriverVersion")
	var out []trace.State
	for _, m := range g.gpus {
		s := g.l.stateOf(m)
		if s.Driver = said(driver); driver == nil {
			s.Unknown = append(s.Unknown, trace.Unread{Field: "driver", Reason: u["driver"].Code})
		}
		out = append(out, s)
	}
	return out
}

func (l *library) stateOf(m *gpu) trace.State {
	u := hardware.Unknown{}
	s := trace.State{Device: m.id}
	if running, ok := l.running(u, "processes", m.dev); ok {
		n := len(running)
		s.Processes, s.PIDs = &n, pids(running)
	}
	s.MIG = l.state(u, "mig", func() (int, nvml.Return) {
		now, _, ret := m.dev.GetMigMode()
		return now, ret
	}, "nvmlDeviceGetMigMode")
	if mw := amount(l, u, "limit_mw", hardware.Power, m.dev.GetEnforcedPowerLimit, "nvmlDeviceGetEnforcedPowerLimit"); mw != nil {
		limit := int64(*mw)
		s.LimitMW = &limit
	}
	for _, name := range []string{"processes", "mig", "limit_mw"} {
		if why, ok := u[name]; ok {
			s.Unknown = append(s.Unknown, trace.Unread{Field: name, Reason: why.Code})
		}
	}
	return s
}

// pids lists them in order. A process that is there twice, as under MIG, is one.
func pids(running []nvml.ProcessInfo) []int {
	var out []int
	for _, p := range running[:min(len(running), maxPIDs)] {
		out = append(out, int(p.Pid))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
