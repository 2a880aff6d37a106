//go:build cgo

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// openGPUs loads NVML and decides what is read of each GPU. The library stays
// initialised until Close: a driver without a client may be unloaded, and its
// counters begin again at 0.
func openGPUs(o sourceOptions) ([]source.Source, []trace.Missing, error) {
	path := o.Library
	if path == "" {
		path = defaultLibrary
	}
	if why := loadable(path); why != nil {
		return noGPUs(o, *why)
	}
	l := &library{Interface: nvml.New(nvml.WithLibraryPath(path))}
	if ret := l.Init(); ret != nvml.SUCCESS {
		return noGPUs(o, reasonOf(ret))
	}
	g, err := l.meter(o.GPUs)
	switch {
	case err != nil:
		l.end()
		return nil, nil, err
	case len(g.gpus) == 0:
		l.end()
		return nil, g.d.Missing, nil
	default:
		return []source.Source{g}, nil, nil
	}
}

// noGPUs is no error, unless a GPU was named.
func noGPUs(o sourceOptions, why hardware.Reason) ([]source.Source, []trace.Missing, error) {
	if len(o.GPUs) > 0 {
		return nil, nil, unknownGPU(o.GPUs[0], nil, &why)
	}
	return nil, []trace.Missing{noNVML(why)}, nil
}

// meter opens and describes the GPUs that are named, or all.
func (l *library) meter(names []string) (*gpus, error) {
	u := hardware.Unknown{}
	g := &gpus{l: l}
	var n int
	count := func() (ret nvml.Return) { n, ret = l.DeviceGetCount(); return ret }
	if !l.ask(u, "gpus", count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount") {
		return l.without(g, names, u["gpus"])
	}
	if n < 0 || n > trace.MaxDevices {
		return l.without(g, names, hardware.Reason{Code: hardware.Implausible, Detail: fmt.Sprintf("%d GPUs", n)})
	}
	if n == 0 {
		return l.without(g, names, hardware.Reason{Code: hardware.NoGPU})
	}
	var there []string
	unseen, lost := slices.Clone(names), (*gpu)(nil)
	for i := range n {
		m := l.device(i)
		there = append(there, m.id)
		named := func(name string) bool {
			return name == m.id || name == strconv.Itoa(i) || l.holds(m, name)
		}
		if len(names) == 0 || slices.ContainsFunc(names, named) {
			g.add(m)
		}
		switch {
		case m.dev != nil:
			unseen = slices.DeleteFunc(unseen, named)
		case slices.ContainsFunc(names, named):
			lost = m
		}
	}
	if lost != nil {
		return nil, unknownGPU(lost.id, nil, &lost.lost)
	}
	if len(unseen) > 0 {
		return nil, unknownGPU(unseen[0], there, nil)
	}
	g.d.Driver = l.driver()
	return g, nil
}

// without is the result when no GPU can be asked.
func (l *library) without(g *gpus, names []string, why hardware.Reason) (*gpus, error) {
	if len(names) > 0 {
		return nil, unknownGPU(names[0], nil, &why)
	}
	g.d.Missing = []trace.Missing{noNVML(why)}
	return g, nil
}

// driver is its version, "" = not known.
func (l *library) driver() string {
	if v := l.text(hardware.Unknown{}, "driver", l.SystemGetDriverVersion, "nvmlSystemGetDriverVersion"); v != nil {
		return *v
	}
	return ""
}

// device opens one GPU. One without a handle has no dev, and lost says why.
func (l *library) device(index int) *gpu {
	u := hardware.Unknown{}
	m := &gpu{id: fmt.Sprintf("gpu-%d", index), index: index}
	open := func() (ret nvml.Return) { m.dev, ret = l.DeviceGetHandleByIndex(index); return ret }
	if !l.ask(u, "handle", open, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex") {
		m.dev, m.lost = nil, u["handle"]
		return m
	}
	if id := l.text(u, "uuid", m.dev.GetUUID, "nvmlDeviceGetUUID"); id != nil {
		m.id = *id
	}
	return m
}

// holds reports whether a name is that of a MIG instance of the GPU. Energy is
// counted for the whole GPU, and its state says that it is partitioned.
func (l *library) holds(m *gpu, name string) bool {
	if m.dev == nil || !strings.HasPrefix(name, "MIG-") {
		return false
	}
	about := hardware.GPU{Unknown: hardware.Unknown{}}
	l.modes(&about, m.dev)
	return slices.ContainsFunc(l.instances(&about, m.dev), func(i hardware.MIG) bool { return said(i.UUID) == name })
}

// add describes a GPU and takes it among those that are read. One that cannot be
// opened, and one that is there already, is missing.
func (g *gpus) add(m *gpu) {
	if m.dev == nil {
		g.d.Missing = append(g.d.Missing, trace.Missing{Domain: trace.NVGPU, What: m.id, Reason: m.lost.Code, Detail: m.lost.Detail})
		return
	}
	if slices.ContainsFunc(g.gpus, func(other *gpu) bool { return other.id == m.id }) {
		g.d.Missing = append(g.d.Missing, trace.Missing{
			Device: m.id, Domain: trace.NVGPU, What: fmt.Sprintf("gpu-%d", m.index),
			Reason: hardware.Implausible, Detail: "it has the UUID of another GPU",
		})
		return
	}
	u := hardware.Unknown{}
	about := hardware.GPU{Index: m.index, Unknown: u}
	g.l.identity(&about, m.dev)
	c := choice{device: trace.Device{ID: m.id, Kind: trace.GPU, Name: said(about.Name), Architecture: said(about.Architecture), Index: m.index}, compute: said(about.Compute)}
	c.answers = g.l.answers(m.dev)
	c.choose()
	m.reads(g.l, len(g.d.Channels), c.picks)
	for _, p := range c.picks {
		g.d.Channels = append(g.d.Channels, p.Channel)
	}
	g.d.Devices = append(g.d.Devices, c.device)
	g.d.Missing = append(g.d.Missing, c.missing...)
	g.gpus = append(g.gpus, m)
}

func said(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
