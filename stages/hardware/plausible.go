package hardware

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what is taken for true. They are far beyond any machine, and far
// below what an uninitialised or torn value looks like.
const (
	MaxGPUs      = 1024
	MaxInstances = 64
	MaxProcesses = 65536
	maxMemory    = 1 << 50 // 1 PiB
	maxPower     = 100_000_000
	maxClock     = 100_000
	maxText      = 256
	maxCPUs      = 1 << 20
)

// Text reports whether s can be a name: not empty, UTF-8, one line, short.
func Text(s string) bool {
	return strings.TrimSpace(s) != "" && len(s) <= maxText && utf8.ValidString(s) && strings.IndexFunc(s, unprintable) < 0
}

func unprintable(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// MemorySize reports whether n bytes can be the memory of something.
func MemorySize(n uint64) bool { return n > 0 && n <= maxMemory }

// Power reports whether mw milliwatts can be a limit.
func Power(mw uint32) bool { return mw > 0 && mw <= maxPower }

// Clock reports whether mhz can be one.
func Clock(mhz uint32) bool { return mhz > 0 && mhz <= maxClock }

// doubt is a value of a report that cannot be true.
type doubt struct{ field, what string }

// doubts looks at every value of the machine itself.
func (r *Report) doubts() (out []doubt) {
	text := func(name string, s *string) {
		if s != nil && !Text(*s) {
			out = append(out, doubt{name, "is no text of one line"})
		}
	}
	count := func(name string, n *int) {
		if n != nil && (*n < 1 || *n > maxCPUs) {
			out = append(out, doubt{name, "is no number of processors"})
		}
	}
	text("os.release", r.OS.Release)
	text("os.kernel", r.OS.Kernel)
	text("cpu.model", r.CPU.Model)
	text("nvml_library", r.Library)
	text("nvml_version", r.NVML)
	text("driver", r.Driver)
	text("cuda", r.CUDA)
	count("cpu.sockets", r.CPU.Sockets)
	count("cpu.cores", r.CPU.Cores)
	count("cpu.threads", r.CPU.Threads)
	if r.Memory != nil && !MemorySize(*r.Memory) {
		out = append(out, doubt{"memory_bytes", "is no size of a memory"})
	}
	for _, f := range r.CPU.Flags {
		text("cpu.flags", &f)
	}
	return out
}

// doubts looks at every value of one GPU.
func (g *GPU) doubts() (out []doubt) {
	for name, s := range map[string]*string{"uuid": g.UUID, "name": g.Name, "architecture": g.Architecture, "compute_capability": g.Compute, "pci_bus_id": g.PCI, "vbios": g.VBIOS} {
		if s != nil && !Text(*s) {
			out = append(out, doubt{name, "is no text of one line"})
		}
	}
	for name, mw := range map[string]*uint32{"power_limit_mw": g.PowerLimit, "power_limit_enforced_mw": g.PowerEnforced, "power_limit_default_mw": g.PowerDefault, "power_limit_min_mw": g.PowerMin, "power_limit_max_mw": g.PowerMax} {
		if mw != nil && !Power(*mw) {
			out = append(out, doubt{name, "is no power limit"})
		}
	}
	for name, mhz := range map[string]*uint32{"clock_max_graphics_mhz": g.MaxGraphics, "clock_max_memory_mhz": g.MaxMemory, "clock_app_graphics_mhz": g.AppGraphics, "clock_app_memory_mhz": g.AppMemory} {
		if mhz != nil && !Clock(*mhz) {
			out = append(out, doubt{name, "is no clock"})
		}
	}
	if g.Memory != nil && !MemorySize(*g.Memory) {
		out = append(out, doubt{"memory_bytes", "is no size of a memory"})
	}
	for _, m := range g.Instances {
		if m.UUID != nil && !Text(*m.UUID) || m.Name != nil && !Text(*m.Name) || m.Memory != nil && !MemorySize(*m.Memory) {
			out = append(out, doubt{"mig_instances", "holds what cannot be true"})
		}
	}
	for _, p := range g.Processes {
		if p.Name != nil && !Text(*p.Name) {
			out = append(out, doubt{"compute_processes", "holds what cannot be true"})
		}
	}
	return out
}
