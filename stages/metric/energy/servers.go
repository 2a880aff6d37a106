package energy

import (
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// servers are the GPUs that serve the candidate, each once. rest are those that cannot
// be of them where nobody says which.
func servers(o *Options, t *Trial) (gpus, rest []string, why string) {
	var there []string
	for _, d := range t.Trace.Devices {
		if d.Kind == trace.GPU {
			there = append(there, d.ID)
		}
	}
	if t.GPUs == nil {
		gpus, rest = likely(o, t.Trace, there)
		return gpus, rest, ""
	}
	for _, id := range t.GPUs {
		switch {
		case strings.HasPrefix(id, "MIG-"):
			return nil, nil, metric.MIG
		case !slices.Contains(there, id):
			return nil, nil, metric.GPUSetMismatch
		case !slices.Contains(gpus, id):
			gpus = append(gpus, id)
		}
	}
	return gpus, nil, ""
}

// likely are the GPUs that may have a domain that is asked for. The display of a CPU is
// a GPU too, and serves nothing.
func likely(o *Options, tr *trace.Trace, there []string) (gpus, rest []string) {
	bases := append(slices.Clone(o.Bases), gpuBase(tr, there))
	for _, id := range there {
		of := func(d trace.Domain) bool { return kindOf(d) == trace.GPU && mayHave(tr, id, d) }
		if slices.ContainsFunc(bases, func(b string) bool { return slices.ContainsFunc(Bases[b], of) }) {
			gpus = append(gpus, id)
		} else {
			rest = append(rest, id)
		}
	}
	return gpus, rest
}

// mayHave reports whether a device is one of which a domain could be read: something of
// the same vendor was read or looked for, or nothing says whose it is.
func mayHave(tr *trace.Trace, device string, d trace.Domain) bool {
	var of []trace.Domain
	for _, c := range tr.Channels {
		if c.Device == device {
			of = append(of, c.Domain)
		}
	}
	for _, m := range tr.Missing {
		if m.Device == device {
			of = append(of, m.Domain)
		}
	}
	of = slices.DeleteFunc(of, func(d trace.Domain) bool { return kindOf(d) != trace.GPU })
	return len(of) == 0 || slices.ContainsFunc(of, func(o trace.Domain) bool { return vendorOf(o) == vendorOf(d) })
}

// vendorOf is the part of a domain that says by whose means it is read: nvml, hwmon.
func vendorOf(d trace.Domain) string {
	vendor, _, _ := strings.Cut(string(d), ".")
	return vendor
}
