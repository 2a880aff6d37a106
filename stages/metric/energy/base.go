package energy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Bases are what energy can be of: each an exact set of domains, every one of which
// must be read on every device that it is of. A module holds its GPU, a GPU its
// memory, a wall everything: no base has two of them.
var Bases = map[string][]trace.Domain{
	"nv.gpu":                        {trace.NVGPU},
	"nv.module":                     {trace.NVModule},
	"nv.gpu+rapl.package":           {trace.NVGPU, trace.RAPLPackage},
	"nv.gpu+rapl.package+rapl.dram": {trace.NVGPU, trace.RAPLPackage, trace.RAPLDRAM},
	"rapl.package":                  {trace.RAPLPackage},
	"rapl.package+rapl.dram":        {trace.RAPLPackage, trace.RAPLDRAM},
	"amd.gpu":                       {trace.HwmonGPU},
	"apple.gpu":                     {trace.AppleGPU},
	"apple.soc5":                    {trace.AppleGPU, trace.AppleCPU, trace.AppleDRAM, trace.AppleDCS, trace.AppleANE},
	"wall":                          {trace.Wall},
}

// optional reports whether a base may do without the domain: some chips have no rail
// of the neural engine, and where there is one, nothing that serves a language model
// uses it. What was read is part of the digest.
func optional(d trace.Domain) bool { return d == trace.AppleANE }

// kindOf is what kind of device has the domain.
func kindOf(d trace.Domain) string {
	switch d {
	case trace.NVGPU, trace.NVModule, trace.NVMemory, trace.HwmonGPU:
		return trace.GPU
	case trace.RAPLPackage, trace.RAPLDRAM, trace.RAPLPsys:
		return trace.CPU
	}
	return trace.Machine
}

// ceilingOf is the power in W that no device has drawn in that domain yet: what
// seems to be more is a counter that went wrong.
func ceilingOf(d trace.Domain) float64 {
	switch d {
	case trace.NVGPU, trace.HwmonGPU:
		return 3000
	case trace.NVModule:
		return 6000
	case trace.Wall:
		return 200e3
	}
	return 2000
}

// reading is a base as a trace has it.
type reading struct {
	base     string
	channels []int // of the trace
	domains  []string
	rails    []string
	devices  []string
	digest   string
	why      string
}

// read finds the channels of a base. gpus are the devices that serve the candidate: all
// of which must have it where they were named, else those of the domain's own vendor.
func read(tr *trace.Trace, base string, gpus []string, named bool) *reading {
	r := &reading{base: base, domains: []string{}, rails: []string{}, devices: []string{}}
	need, known := Bases[base]
	if !known {
		r.why = metric.DomainMissing
		return r
	}
	counts := map[string]int{}
	var names, lines []string
	for _, d := range need {
		devices := devicesOf(tr, d, gpus, named)
		found := 0
		for _, device := range devices {
			channels := pick(tr, device, d)
			if len(channels) == 0 {
				continue
			}
			found++
			r.channels = append(r.channels, channels...)
			if !slices.Contains(r.devices, device) {
				r.devices = append(r.devices, device)
			}
			c := tr.Channels[channels[0]]
			name := string(d)
			if c.Quantity == trace.Power {
				name += " (integral of power)"
			}
			if counts[name]++; counts[name] == 1 {
				names = append(names, name)
			}
			lines = append(lines, string(d)+"\t"+string(c.Quantity)+"\t"+sourceKind(c))
		}
		if found > 0 {
			r.rails = append(r.rails, string(d))
		}
		if !optional(d) && (found == 0 || found < len(devices)) {
			r.why = metric.DomainMissing
		}
	}
	for _, n := range names {
		r.domains = append(r.domains, fmt.Sprintf("%s x%d", n, counts[n]))
	}
	if r.why == "" {
		r.digest = digest(base, lines)
	}
	return r
}

// digest names the set of what was read, whatever the number of devices: two
// candidates on one GPU and on two are of one base.
func digest(base string, lines []string) string {
	slices.Sort(lines)
	h := sha256.Sum256([]byte("cupel/energy-base/v1\n" + base + "\n" + strings.Join(slices.Compact(lines), "\n") + "\n"))
	return hex.EncodeToString(h[:])
}

// number is the place of a device in the name of a file.
var number = regexp.MustCompile(`(:|hwmon|energy|power)\d+`)

// sourceKind is a channel's source without the place of its device: intel-rapl:0 and
// intel-rapl:1 are one kind, field 185 and 186 are not.
func sourceKind(c trace.Channel) string {
	if strings.Contains(c.Source, "/") {
		return number.ReplaceAllString(c.Source, "$1")
	}
	return c.Source
}

// devicesOf are the devices on which a domain is to be read: the candidate's GPUs,
// every CPU of the trace and every one that it says cannot be read, and of a machine
// what has the domain.
func devicesOf(tr *trace.Trace, d trace.Domain, gpus []string, named bool) (ids []string) {
	kind := kindOf(d)
	if kind == trace.GPU {
		return slices.DeleteFunc(slices.Clone(gpus), func(id string) bool { return !named && !mayHave(tr, id, d) })
	}
	for _, device := range tr.Devices {
		if device.Kind == kind && (kind == trace.CPU || has(tr, device.ID, d)) {
			ids = append(ids, device.ID)
		}
	}
	if kind == trace.CPU {
		for _, m := range tr.Missing {
			if m.Domain == d && m.Device != "" && !slices.Contains(ids, m.Device) {
				ids = append(ids, m.Device)
			}
		}
	}
	return ids
}

func has(tr *trace.Trace, device string, d trace.Domain) bool {
	return slices.ContainsFunc(tr.Channels, func(c trace.Channel) bool { return c.Device == device && c.Domain == d })
}

// pick is the counter of a domain, else its instantaneous power; never an average.
// The same counter by two functions is one counter. The dies of an Apple chip are
// channels of one domain and unit, and add up.
func pick(tr *trace.Trace, device string, d trace.Domain) (channels []int) {
	for _, q := range []trace.Quantity{trace.Energy, trace.Power} {
		for i, c := range tr.Channels {
			if c.Device != device || c.Domain != d || c.Quantity != q || !measures(c) || !wasRead(tr.Samples[i]) {
				continue
			}
			if len(channels) > 0 && (!strings.HasPrefix(string(d), "apple.") || c.Unit != tr.Channels[channels[0]].Unit) {
				continue
			}
			channels = append(channels, i)
		}
		if len(channels) > 0 {
			return channels
		}
	}
	return nil
}

// measures reports whether a channel's unit is one of its quantity.
func measures(c trace.Channel) bool {
	units := map[trace.Quantity][]string{
		trace.Energy: {"J", "mJ", "uJ", "nJ"}, trace.Power: {"W", "mW", "uW"},
		trace.ThermalTime: {"s", "ns"}, trace.BrakeTime: {"s", "ns"}, trace.PowerCapTime: {"s", "ns"},
		trace.Temperature: {"C", "mC"}, trace.Load1: {"1", "milli"}, trace.SpeedLimit: {"percent", "milli", "1"},
	}[c.Quantity]
	return slices.Contains(units, c.Unit)
}

func wasRead(samples []trace.Sample) bool {
	return slices.ContainsFunc(samples, func(s trace.Sample) bool { return s.E == "" })
}
