package main

import (
	"slices"

	"github.com/cupel-dev/cupel/stages/trace"
)

// bases are the named sets of domains whose joules are added up; docs/energy.md.
// want must all be there, may are added where they are.
var bases = []struct {
	name      string
	want, may []trace.Domain
}{
	{"nv.gpu", []trace.Domain{trace.NVGPU}, nil},
	{"nv.module", []trace.Domain{trace.NVModule}, nil},
	{"nv.gpu+rapl.package+rapl.dram", []trace.Domain{trace.NVGPU, trace.RAPLPackage, trace.RAPLDRAM}, nil},
	{"nv.gpu+rapl.package", []trace.Domain{trace.NVGPU, trace.RAPLPackage}, nil},
	{"rapl.package+rapl.dram", []trace.Domain{trace.RAPLPackage, trace.RAPLDRAM}, nil},
	{"rapl.package", []trace.Domain{trace.RAPLPackage}, nil},
	{"amd.gpu", []trace.Domain{trace.HwmonGPU}, nil},
	{"apple.soc5", []trace.Domain{trace.AppleGPU, trace.AppleCPU, trace.AppleDRAM, trace.AppleDCS}, []trace.Domain{trace.AppleANE}},
	{"apple.gpu", []trace.Domain{trace.AppleGPU}, nil},
	{"wall", []trace.Domain{trace.Wall}, nil},
}

// addBases adds the bases that can be read.
func addBases(p *trace.Probe) {
	for _, b := range bases {
		if channels, ok := channelsOf(p, b.want, b.may); ok {
			p.Base(b.name, channels)
		}
	}
}

// channelsOf are the channels that a base's joules come from. It cannot be read
// where a domain is missing, be it on one device only.
func channelsOf(p *trace.Probe, want, may []trace.Domain) (out []int, ok bool) {
	for _, d := range slices.Concat(want, may) {
		of, whole := domain(p, d)
		if (len(of) == 0 || !whole) && slices.Contains(want, d) {
			return nil, false
		}
		out = append(out, of...)
	}
	slices.Sort(out)
	return out, true
}

// domain finds the channels of a domain: of each device the counter, else its power
// of the moment. whole = no device of the domain lacks one.
func domain(p *trace.Probe, d trace.Domain) (out []int, whole bool) {
	best := map[string]int{}
	of := map[string]bool{}
	for i, c := range p.Channels {
		if c.Domain != d {
			continue
		}
		of[c.Device] = true
		before, seen := best[c.Device]
		switch {
		case c.Quantity == trace.Energy && (!seen || p.Channels[before].Quantity != trace.Energy):
			best[c.Device] = i
		case c.Quantity == trace.Power && !seen:
			best[c.Device] = i
		}
	}
	for _, m := range p.Missing { // a device of which nothing of the domain can be read
		lacks := m.Domain == d && m.Device != "" && !of[m.Device]
		if lacks && slices.ContainsFunc(p.Devices, func(dev trace.Device) bool { return dev.ID == m.Device }) {
			of[m.Device] = true
		}
	}
	for _, i := range best {
		out = append(out, i)
	}
	return out, len(best) == len(of)
}
