//go:build !darwin

package host

import (
	"runtime"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// describe reads the files of Linux; another system does not have them, and its
// values stay null with the reason.
func (h Host) describe(r *hardware.Report) {
	info, err := h.Read("/proc/cpuinfo")
	if err != nil {
		info = ""
	}
	p := parseCPUInfo(info)
	h.topology(&p)
	r.CPU.Model = text(p.model)
	r.CPU.Sockets, r.CPU.Cores, r.CPU.Threads = count(len(p.sockets)), count(len(p.cores)), count(p.threads)
	r.CPU.Flags = p.flags
	mem, err := h.Read("/proc/meminfo")
	if n := parseMemTotal(mem); err == nil && hardware.MemorySize(n) {
		r.Memory = &n
	}
	release, err := h.Read("/etc/os-release")
	if err == nil {
		r.OS.Release = text(parseRelease(release))
	}
	r.OS.Kernel = text(h.Line("/proc/sys/kernel/osrelease"))
	why := hardware.Reason{Code: hardware.NotReadable}
	if runtime.GOOS != "linux" {
		why = hardware.Reason{Code: hardware.OtherPlatform, Detail: runtime.GOOS}
	}
	for _, name := range []string{"cpu.model", "cpu.sockets", "cpu.cores", "cpu.threads", "cpu.flags", "memory_bytes", "os.release", "os.kernel"} {
		r.Unknown[name] = why // Settle takes back those that are there
	}
}

// topology asks /sys, which every architecture has, before /proc/cpuinfo.
func (h Host) topology(p *processors) {
	sockets, cores := map[string]bool{}, map[string]bool{}
	for _, dir := range h.Glob("/sys/devices/system/cpu/cpu[0-9]*/topology") {
		socket, core := h.Line(dir+"/physical_package_id"), h.Line(dir+"/core_id")
		if socket == "" || core == "" {
			return
		}
		if socket == "-1" { // some arm64 firmware does not number them
			socket = "0"
		}
		sockets[socket], cores[socket+"/"+core] = true, true
	}
	if len(sockets) > 0 {
		p.sockets, p.cores = sockets, cores
	}
}

func text(s string) *string {
	if !hardware.Text(s) {
		return nil
	}
	return &s
}

func count(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// GPUVendors lists the vendors of display and compute devices, by the number that
// PCI gives them ("0x10de" is NVIDIA, "0x1002" AMD, "0x8086" Intel).
func (h Host) GPUVendors() (out []string) {
	seen := map[string]bool{}
	for _, f := range h.Glob("/sys/class/drm/card[0-9]*/device/vendor") {
		if v := h.Line(f); v != "" && !seen[v] {
			seen[v], out = true, append(out, v)
		}
	}
	return out
}
