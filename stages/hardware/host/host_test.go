package host

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/hardware"
)

const xeon = `processor	: 0
model name	: Intel(R) Xeon(R)   Platinum 8480+
physical id	: 0
core id		: 0
flags		: fpu avx2 avx512f amx_tile something

processor	: 1
model name	: Intel(R) Xeon(R)   Platinum 8480+
physical id	: 0
core id		: 0
flags		: fpu avx2

processor	: 2
model name	: Intel(R) Xeon(R)   Platinum 8480+
physical id	: 1
core id		: 0
`

const grace = `processor	: 0
BogoMIPS	: 2000.00
Features	: fp asimd sve sve2 i8mm bf16
CPU implementer	: 0x41
CPU part	: 0xd4f

processor	: 1
CPU implementer	: 0x41
CPU part	: 0xd4f
`

func files(of map[string]string) Host {
	m := fstest.MapFS{}
	for name, text := range of {
		m[strings.TrimPrefix(name, "/")] = &fstest.MapFile{Data: []byte(text)}
	}
	return Host{m}
}

func TestDescribe(t *testing.T) {
	var r hardware.Report
	files(map[string]string{
		"/proc/cpuinfo": xeon, "/proc/meminfo": "MemTotal:       2114048548 kB\nMemFree: 1 kB\n",
		"/etc/os-release": "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n", "/proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
	}).Describe(&r)
	want := hardware.CPU{Model: new("Intel(R) Xeon(R) Platinum 8480+"), Sockets: new(2), Cores: new(2), Threads: new(3), Flags: []string{"amx_tile", "avx2", "avx512f"}}
	if d := cmp.Diff(want, r.CPU); d != "" {
		t.Error(d)
	}
	if *r.Memory != 2114048548<<10 || *r.OS.Release != "Debian GNU/Linux 12 (bookworm)" || *r.OS.Kernel != "6.1.0-18-amd64" {
		t.Errorf("%+v", r)
	}
	if _, wrong := r.Unknown["cpu.model"]; wrong {
		t.Errorf("%v", r.Unknown)
	}
}

// arm64 tells cores in /sys alone.
func TestDescribeArm(t *testing.T) {
	var r hardware.Report
	files(map[string]string{
		"/proc/cpuinfo": grace,
		"/sys/devices/system/cpu/cpu0/topology/physical_package_id": "0", "/sys/devices/system/cpu/cpu0/topology/core_id": "0",
		"/sys/devices/system/cpu/cpu1/topology/physical_package_id": "0", "/sys/devices/system/cpu/cpu1/topology/core_id": "1",
	}).Describe(&r)
	want := hardware.CPU{Model: new("Arm implementer 0x41 part 0xd4f"), Sockets: new(1), Cores: new(2), Threads: new(2), Flags: []string{"asimd", "bf16", "i8mm", "sve", "sve2"}}
	if d := cmp.Diff(want, r.CPU); d != "" {
		t.Error(d)
	}
}

func TestDescribeNothing(t *testing.T) {
	for name, of := range map[string]map[string]string{"empty": {}, "garbage": {"/proc/cpuinfo": "processor\xff\n:::\nprocessor: \n", "/proc/meminfo": "MemTotal: -1 kB", "/etc/os-release": "PRETTY_NAME=\"\"", "/proc/sys/kernel/osrelease": "a\x00b"}} {
		var r hardware.Report
		files(of).Describe(&r)
		for _, field := range []string{"cpu.model", "memory_bytes", "os.release", "os.kernel"} {
			if r.Unknown[field].Code != hardware.NotReadable {
				t.Errorf("%s: %s: %v", name, field, r.Unknown[field])
			}
		}
	}
}

func TestGPUVendors(t *testing.T) {
	h := files(map[string]string{"/sys/class/drm/card0/device/vendor": "0x1a03\n", "/sys/class/drm/card1/device/vendor": "0x1002\n", "/sys/class/drm/card2/device/vendor": "0x1002\n"})
	if d := cmp.Diff([]string{"0x1a03", "0x1002"}, h.GPUVendors()); d != "" {
		t.Error(d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(xeon)
	f.Add(grace)
	f.Add("MemTotal: 1 kB\nPRETTY_NAME='x'")
	f.Fuzz(func(t *testing.T, text string) {
		var r hardware.Report
		files(map[string]string{"/proc/cpuinfo": text, "/proc/meminfo": text, "/etc/os-release": text, "/proc/sys/kernel/osrelease": text}).Describe(&r)
		for _, s := range []*string{r.CPU.Model, r.OS.Release, r.OS.Kernel} {
			if s != nil && !hardware.Text(*s) {
				t.Errorf("%q", *s)
			}
		}
	})
}
