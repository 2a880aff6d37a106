//go:build cgo

package main

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// gpu asks one GPU everything.
func (l *library) gpu(index int) hardware.GPU {
	g := hardware.GPU{Index: index, Unknown: hardware.Unknown{}}
	var d nvml.Device
	open := func() (ret nvml.Return) { d, ret = l.DeviceGetHandleByIndex(index); return ret }
	if !l.ask(g.Unknown, "handle", open, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex") {
		return lost(g)
	}
	l.identity(&g, d)
	l.power(&g, d)
	l.modes(&g, d)
	l.clocks(&g, d)
	g.Instances = l.instances(&g, d)
	g.Processes = l.processes(&g, d)
	return g
}

// lost gives every field of a GPU without a handle the reason of the handle.
func lost(g hardware.GPU) hardware.GPU {
	why := g.Unknown["handle"]
	r := hardware.Report{GPUs: []hardware.GPU{{Index: g.Index}}}
	r.Settle()
	for name := range r.GPUs[0].Unknown {
		r.GPUs[0].Unknown[name] = why
	}
	return r.GPUs[0]
}

func (l *library) identity(g *hardware.GPU, d nvml.Device) {
	u := g.Unknown
	g.UUID = l.text(u, "uuid", d.GetUUID, "nvmlDeviceGetUUID")
	g.Name = l.text(u, "name", d.GetName, "nvmlDeviceGetName")
	g.VBIOS = l.text(u, "vbios", d.GetVbiosVersion, "nvmlDeviceGetVbiosVersion")
	g.Architecture = l.text(u, "architecture", func() (string, nvml.Return) {
		a, ret := d.GetArchitecture()
		return architecture(a), ret
	}, "nvmlDeviceGetArchitecture")
	g.Compute = l.text(u, "compute_capability", func() (string, nvml.Return) {
		major, minor, ret := d.GetCudaComputeCapability()
		if major < 1 || major > 999 || minor < 0 || minor > 99 {
			return "", ret // refused as a text
		}
		return fmt.Sprintf("%d.%d", major, minor), ret
	}, "nvmlDeviceGetCudaComputeCapability")
	g.Memory = l.memory(u, d)
	g.PCI = l.text(u, "pci_bus_id", func() (string, nvml.Return) {
		pci, ret := d.GetPciInfo()
		return chars(pci.BusId[:]), ret
	}, "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo")
}

func (l *library) memory(u hardware.Unknown, d nvml.Device) *uint64 {
	return amount(l, u, "memory_bytes", hardware.MemorySize, func() (uint64, nvml.Return) {
		m, ret := d.GetMemoryInfo()
		return m.Total, ret
	}, "nvmlDeviceGetMemoryInfo")
}

func (l *library) power(g *hardware.GPU, d nvml.Device) {
	u := g.Unknown
	g.PowerLimit = amount(l, u, "power_limit_mw", hardware.Power, d.GetPowerManagementLimit, "nvmlDeviceGetPowerManagementLimit")
	g.PowerEnforced = amount(l, u, "power_limit_enforced_mw", hardware.Power, d.GetEnforcedPowerLimit, "nvmlDeviceGetEnforcedPowerLimit")
	g.PowerDefault = amount(l, u, "power_limit_default_mw", hardware.Power, d.GetPowerManagementDefaultLimit, "nvmlDeviceGetPowerManagementDefaultLimit")
	const both = "nvmlDeviceGetPowerManagementLimitConstraints"
	g.PowerMin = amount(l, u, "power_limit_min_mw", hardware.Power, func() (uint32, nvml.Return) {
		lo, _, ret := d.GetPowerManagementLimitConstraints()
		return lo, ret
	}, both)
	g.PowerMax = amount(l, u, "power_limit_max_mw", hardware.Power, func() (uint32, nvml.Return) {
		_, hi, ret := d.GetPowerManagementLimitConstraints()
		return hi, ret
	}, both)
}

// modes asks for what is on or off.
func (l *library) modes(g *hardware.GPU, d nvml.Device) {
	u := g.Unknown
	g.Persistence = l.state(u, "persistence_mode", func() (int, nvml.Return) {
		on, ret := d.GetPersistenceMode()
		return int(on), ret
	}, "nvmlDeviceGetPersistenceMode")
	g.ECC = l.state(u, "ecc", func() (int, nvml.Return) {
		on, _, ret := d.GetEccMode()
		return int(on), ret
	}, "nvmlDeviceGetEccMode")
	g.MIG = l.state(u, "mig", func() (int, nvml.Return) {
		now, _, ret := d.GetMigMode()
		return now, ret
	}, "nvmlDeviceGetMigMode")
	g.MIGPending = l.state(u, "mig_after_reset", func() (int, nvml.Return) {
		_, then, ret := d.GetMigMode()
		return then, ret
	}, "nvmlDeviceGetMigMode")
}

// state asks for an nvmlEnableState_t: 0 is off, 1 is on.
func (l *library) state(u hardware.Unknown, field string, f func() (int, nvml.Return), symbol string) *bool {
	can := func(n uint32) bool { return n <= 1 }
	n := amount(l, u, field, can, func() (uint32, nvml.Return) {
		v, ret := f()
		return uint32(v), ret
	}, symbol)
	if n == nil {
		return nil
	}
	on := *n == 1
	return &on
}

func (l *library) clocks(g *hardware.GPU, d nvml.Device) {
	ask := func(field string, f func(nvml.ClockType) (uint32, nvml.Return), kind nvml.ClockType, symbol string) *uint32 {
		return amount(l, g.Unknown, field, hardware.Clock, func() (uint32, nvml.Return) { return f(kind) }, symbol)
	}
	const most, app = "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetApplicationsClock"
	g.MaxGraphics = ask("clock_max_graphics_mhz", d.GetMaxClockInfo, nvml.CLOCK_GRAPHICS, most)
	g.MaxMemory = ask("clock_max_memory_mhz", d.GetMaxClockInfo, nvml.CLOCK_MEM, most)
	g.AppGraphics = ask("clock_app_graphics_mhz", d.GetApplicationsClock, nvml.CLOCK_GRAPHICS, app)
	g.AppMemory = ask("clock_app_memory_mhz", d.GetApplicationsClock, nvml.CLOCK_MEM, app)
}

// architectures by nvmlDeviceArchitecture_t; nvml.h.
var architectures = map[nvml.DeviceArchitecture]string{
	nvml.DEVICE_ARCH_KEPLER: "kepler", nvml.DEVICE_ARCH_MAXWELL: "maxwell", nvml.DEVICE_ARCH_PASCAL: "pascal",
	nvml.DEVICE_ARCH_VOLTA: "volta", nvml.DEVICE_ARCH_TURING: "turing", nvml.DEVICE_ARCH_AMPERE: "ampere",
	nvml.DEVICE_ARCH_ADA: "ada", nvml.DEVICE_ARCH_HOPPER: "hopper", nvml.DEVICE_ARCH_BLACKWELL: "blackwell",
	nvml.DEVICE_ARCH_RUBIN: "rubin",
}

// architecture names one, a new one by its number; "" for none.
func architecture(a nvml.DeviceArchitecture) string {
	if name, ok := architectures[a]; ok {
		return name
	}
	if a == 0 || a > 1000 {
		return ""
	}
	return fmt.Sprintf("architecture-%d", a)
}

// chars reads a C text from a field of a struct.
func chars(c []int8) string {
	var b []byte
	for _, x := range c {
		if x == 0 {
			break
		}
		b = append(b, byte(x))
	}
	return string(b)
}
