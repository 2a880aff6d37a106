package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/stages/hardware/host"
)

// system is what is asked of the kernel by calls; tests bring their own.
type system struct {
	resolution func() (time.Duration, error)                // of the monotonic clock
	synced     func() (ok bool, off time.Duration, e error) // the wall clock, and how far it may be off
	files      func() (soft, hard uint64, err error)
	free       func(dir string) (bytes uint64, err error)
	networkFS  func(dir string) (string, error)
}

func diagnose(state, says, fix string) []diagnosis {
	return []diagnosis{{State: state, Says: says, Fix: fix}}
}

// lookRAPL reads one counter. Most kernels show them to root alone.
func lookRAPL(_ context.Context, d *doctor) []diagnosis {
	counters := d.host.Glob("/sys/class/powercap/intel-rapl:[0-9]*/energy_uj")
	if len(counters) == 0 {
		return diagnose(doctorMissing, "no RAPL counters below /sys/class/powercap; virtual machines mostly have none", "measure energy on the machine itself, or at the wall")
	}
	_, err := d.host.Read(counters[0])
	switch {
	case errors.Is(err, fs.ErrPermission):
		return diagnose(doctorWarn, fmt.Sprintf("%d RAPL domains, readable by root alone", len(counters)), "as root: chmod a+r /sys/class/powercap/*/energy_uj (until the next boot)")
	case err != nil:
		return diagnose(doctorWarn, "RAPL counters that cannot be read: "+unwrapAll(err).Error(), "")
	}
	return diagnose(doctorOK, fmt.Sprintf("%d RAPL domains can be read", len(counters)), "")
}

// slowSources are clock sources whose reading takes long, or is coarse.
var slowSources = []string{"hpet", "acpi_pm", "jiffies", "refined-jiffies"}

func lookClock(_ context.Context, d *doctor) []diagnosis {
	res, err := d.system.resolution()
	if err != nil {
		return diagnose(doctorWarn, "the resolution of the clock is not known: "+err.Error(), "")
	}
	source := d.host.Line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	says := "monotonic clock of " + res.String()
	if source != "" {
		says += ", by " + source
	}
	switch {
	case res > time.Microsecond:
		return diagnose(doctorWarn, says+": gaps between tokens cannot be timed", "measure on another machine")
	case slices.Contains(slowSources, source):
		return diagnose(doctorWarn, says+", which is slow to read", "boot with clocksource=tsc if the machine allows")
	}
	return diagnose(doctorOK, says, "")
}

func lookNTP(_ context.Context, d *doctor) []diagnosis {
	ok, off, err := d.system.synced()
	switch {
	case err != nil:
		return diagnose(doctorWarn, "whether the wall clock is synchronised is not known: "+err.Error(), "")
	case !ok:
		return diagnose(doctorWarn, "the kernel says that the wall clock is not synchronised; traces of several machines cannot be put together", "run chrony or systemd-timesyncd")
	}
	return diagnose(doctorOK, "the wall clock is synchronised, at most "+off.Round(time.Microsecond).String()+" off", "")
}

// fewFiles is the limit below which a load workload of a thousand clients, with
// its engine on the same machine, gets into trouble.
const fewFiles = 4096

func lookFiles(_ context.Context, d *doctor) []diagnosis {
	soft, hard, err := d.system.files()
	switch {
	case err != nil:
		return diagnose(doctorWarn, "the limit of open files is not known: "+err.Error(), "")
	case soft < fewFiles:
		return diagnose(doctorWarn, fmt.Sprintf("%d open files at most; a load of that many clients fails", soft), fmt.Sprintf("ulimit -n 65536 (the hard limit is %d)", hard))
	}
	return diagnose(doctorOK, fmt.Sprintf("%d open files", soft), "")
}

func lookGovernor(_ context.Context, d *doctor) []diagnosis {
	by := map[string]int{}
	for _, f := range d.host.Glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor") {
		by[d.host.Line(f)]++
	}
	if len(by) == 0 {
		return diagnose(doctorMissing, "no frequency governor is shown here; in a virtual machine the host sets it", "")
	}
	var says []string
	for name, n := range by {
		says = append(says, fmt.Sprintf("%s on %d CPUs", name, n))
	}
	slices.Sort(says)
	if len(by) == 1 && by["performance"] > 0 {
		return diagnose(doctorOK, says[0], "")
	}
	return diagnose(doctorWarn, strings.Join(says, ", ")+": the first requests after a pause are slower", "as root: cpupower frequency-set -g performance")
}

func lookTurbo(_ context.Context, d *doctor) []diagnosis {
	const intel, others = "/sys/devices/system/cpu/intel_pstate/no_turbo", "/sys/devices/system/cpu/cpufreq/boost"
	off, isIntel := d.host.Number(intel)
	on, isOther := d.host.Number(others)
	switch {
	case isIntel && off == 1, !isIntel && isOther && on == 0:
		return diagnose(doctorOK, "turbo is off", "")
	case isIntel:
		return diagnose(doctorWarn, "turbo is on: an engine on the CPU is as fast as heat and neighbours allow", "as root: echo 1 > "+intel)
	case isOther:
		return diagnose(doctorWarn, "turbo is on: an engine on the CPU is as fast as heat and neighbours allow", "as root: echo 0 > "+others)
	}
	return diagnose(doctorMissing, "whether turbo is on is not shown here", "")
}

// lookCPULimit finds the tightest quota from the own control group upwards.
func lookCPULimit(_ context.Context, d *doctor) []diagnosis {
	limit := cpuLimit(d.host)
	switch {
	case limit == 0:
		return diagnose(doctorOK, fmt.Sprintf("no CPU quota; %d CPUs", runtime.NumCPU()), "")
	case limit < 2:
		return diagnose(doctorWarn, fmt.Sprintf("a quota of %.3g CPUs: the client is stopped in the middle of a measurement", limit), "give the container two CPUs or more, or no quota")
	}
	return diagnose(doctorWarn, fmt.Sprintf("a quota of %.3g CPUs: what is above it stands still for the rest of a period", limit), "no quota, or a cpuset, for the client and for the engine")
}

// cpuLimit returns the quota in CPUs, 0 = none.
func cpuLimit(h host.Host) (least float64) {
	take := func(quota, period float64) {
		if quota > 0 && period > 0 && (least == 0 || quota/period < least) {
			least = quota / period
		}
	}
	for at := ownGroup(h); ; at = path.Dir(at) {
		quota, period, ok := strings.Cut(h.Line(path.Join("/sys/fs/cgroup", at, "cpu.max")), " ")
		if ok {
			take(quotaNumber(quota), quotaNumber(period))
		}
		if at == "/" {
			break
		}
	}
	quota, period := h.Line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), h.Line("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
	take(quotaNumber(quota), quotaNumber(period))
	return least
}

// ownGroup is the path of this process in the second version of control groups.
func ownGroup(h host.Host) string {
	text, err := h.Read("/proc/self/cgroup")
	if err != nil {
		return "/"
	}
	for line := range strings.Lines(text) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return path.Join("/", p)
		}
	}
	return "/"
}

// quotaNumber is 0 for what is none, such as max.
func quotaNumber(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return x
}

func lookClient(context.Context, *doctor) []diagnosis {
	if n := runtime.NumCPU(); n < 2 {
		return diagnose(doctorWarn, "one CPU for client and engine: cells will be client-bound", "measure from another machine; cupel overhead says how much the client adds")
	}
	return diagnose(doctorOK, fmt.Sprintf("%d CPUs; what the client adds is measured by: cupel overhead", runtime.NumCPU()), "")
}
