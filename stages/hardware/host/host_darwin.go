package host

import (
	"golang.org/x/sys/unix"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// describe asks sysctl. Not run on a Mac yet: every value that does not come is
// null with the reason.
func (h Host) describe(r *hardware.Report) {
	r.CPU.Model = sysctl("machdep.cpu.brand_string")
	r.CPU.Sockets, r.CPU.Cores, r.CPU.Threads = number("hw.packages"), number("hw.physicalcpu"), number("hw.logicalcpu")
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil && hardware.MemorySize(n) {
		r.Memory = &n
	}
	if v := sysctl("kern.osproductversion"); v != nil {
		name := "macOS " + *v
		r.OS.Release = &name
	}
	r.OS.Kernel = sysctl("kern.osrelease")
	for _, name := range []string{"cpu.model", "cpu.sockets", "cpu.cores", "cpu.threads", "memory_bytes", "os.release", "os.kernel"} {
		r.Unknown[name] = hardware.Reason{Code: hardware.NotReadable}
	}
	r.Unknown["cpu.flags"] = hardware.Reason{Code: hardware.OtherPlatform, Detail: "darwin"}
}

func sysctl(name string) *string {
	s, err := unix.Sysctl(name)
	if err != nil || !hardware.Text(s) {
		return nil
	}
	return &s
}

func number(name string) *int {
	n, err := unix.SysctlUint32(name)
	if err != nil || n == 0 {
		return nil
	}
	i := int(n)
	return &i
}

// GPUVendors lists none: there is no bus to look at.
func (h Host) GPUVendors() []string { return nil }
