//go:build cgo

package main

import (
	"fmt"
	"path"
	"slices"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// What a GPU is shared by: MIG instances and processes.

// instances asks for the MIG instances of a GPU that is partitioned.
func (l *library) instances(g *hardware.GPU, d nvml.Device) []hardware.MIG {
	const field = "mig_instances"
	if g.MIG == nil {
		g.Unknown[field] = g.Unknown["mig"]
		return nil
	}
	if !*g.MIG {
		return []hardware.MIG{}
	}
	var n int
	count := func() (ret nvml.Return) { n, ret = d.GetMaxMigDeviceCount(); return ret }
	if !l.ask(g.Unknown, field, count, "nvmlDeviceGetMaxMigDeviceCount") {
		return nil
	}
	if n < 0 || n > hardware.MaxInstances {
		g.Unknown[field] = hardware.Reason{Code: hardware.Implausible, Detail: fmt.Sprintf("%d instances", n)}
		return nil
	}
	out := []hardware.MIG{}
	for i := range n {
		var slice nvml.Device
		ret := nvml.SUCCESS
		open := func() nvml.Return { slice, ret = d.GetMigDeviceHandleByIndex(i); return ret }
		if l.ask(g.Unknown, field, open, "nvmlDeviceGetMigDeviceHandleByIndex") {
			out = append(out, l.instance(slice))
			continue
		}
		if ret != nvml.ERROR_NOT_FOUND { // a place where no instance was made
			return nil
		}
	}
	delete(g.Unknown, field)
	return out
}

func (l *library) instance(d nvml.Device) hardware.MIG {
	m := hardware.MIG{Unknown: hardware.Unknown{}}
	m.UUID = l.text(m.Unknown, "uuid", d.GetUUID, "nvmlDeviceGetUUID")
	m.Name = l.text(m.Unknown, "name", d.GetName, "nvmlDeviceGetName")
	m.Memory = l.memory(m.Unknown, d)
	return m
}

// processes asks who computes on the GPU now. What it says is shown, and is no
// part of an identity.
func (l *library) processes(g *hardware.GPU, d nvml.Device) []hardware.Process {
	got, ok := l.running(g.Unknown, "compute_processes", d)
	if !ok {
		return nil
	}
	out := []hardware.Process{}
	for _, p := range got[:min(len(got), hardware.MaxProcesses)] {
		out = append(out, l.process(p))
	}
	slices.SortFunc(out, func(a, b hardware.Process) int { return int(int64(a.PID) - int64(b.PID)) })
	return out
}

// running asks for the processes. It says whether there was an answer.
func (l *library) running(u hardware.Unknown, field string, d nvml.Device) (out []nvml.ProcessInfo, ok bool) {
	defer func() {
		if p := recover(); p != nil { // go-nvml slices its buffer by the number that the library says
			out, ok, u[field] = nil, false, hardware.Reason{Code: hardware.Implausible, Detail: "more processes than were asked for"}
		}
	}()
	ask := func() (ret nvml.Return) { out, ret = d.GetComputeRunningProcesses(); return ret }
	ok = l.ask(u, field, ask, "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses")
	return out, ok
}

func (l *library) process(p nvml.ProcessInfo) hardware.Process {
	out := hardware.Process{PID: p.Pid, Unknown: hardware.Unknown{}}
	out.Name = l.text(out.Unknown, "name", func() (string, nvml.Return) {
		name, ret := l.SystemGetProcessName(int(p.Pid))
		return path.Base(name), ret // the folders of a path may name a person
	}, "nvmlSystemGetProcessName")
	switch {
	case p.UsedGpuMemory == ^uint64(0): // NVML_VALUE_NOT_AVAILABLE
		out.Unknown["memory_bytes"] = hardware.Reason{Code: hardware.NotSupported}
	case p.UsedGpuMemory > 1<<50:
		out.Unknown["memory_bytes"] = hardware.Reason{Code: hardware.Implausible}
	default:
		out.Memory = &p.UsedGpuMemory
	}
	return out
}
