package main

import (
	"cmp"
	"encoding/binary"
	"math"
	"testing"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

func TestSuperchip(t *testing.T) {
	for name, want := range map[string]bool{
		"NVIDIA GH200 480GB": true, "NVIDIA GB200": true, "NVIDIA GB300": true,
		"NVIDIA H200": false, "NVIDIA H100 80GB HBM3": false, "NVIDIA GB10": false, "NVIDIA B200": false, "Tesla V100": false, "": false,
		"NVIDIA RTX 6000": false, "NVIDIA GeForce GT 1030": false,
	} {
		if superchip(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}

func TestInstantaneous(t *testing.T) {
	for _, c := range []struct {
		architecture, compute string
		want                  bool
	}{
		{"volta", "7.0", true}, {"turing", "7.5", true}, {"kepler", "3.7", true},
		{"ampere", "8.0", true}, {"ampere", "8.6", false}, {"ampere", "", false},
		{"ada", "8.9", false}, {"hopper", "9.0", false}, {"blackwell", "10.0", false}, {"architecture-16", "12.1", false}, {"", "", false},
	} {
		if instantaneous(c.architecture, c.compute) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

// Two readings of one counter are not apart, however the call came between them.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		gpu, module int64
		want        bool
	}{
		{5_000_000, 5_000_000, false}, {4_950_000, 5_000_000, false}, {5_000_000, 4_000_000, false},
		{100_000, 700_000, false}, // a driver that was just loaded: not yet to be told
		{3_000_000, 5_000_000, true}, {9_950_000_000, 10_000_000_000, false}, {8_000_000_000, 10_000_000_000, true},
	} {
		if apart(c.gpu, c.module) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

func TestDecode(t *testing.T) {
	raw := func(n uint64) (b [8]byte) { binary.NativeEndian.PutUint64(b[:], n); return b }
	small := func(n uint32) (b [8]byte) { // the other half is whatever was in memory
		b = raw(math.MaxUint64)
		binary.NativeEndian.PutUint32(b[:4], n)
		return b
	}
	for _, c := range []struct {
		kind uint32
		raw  [8]byte
		v    int64
		code string
	}{
		{typeDouble, raw(math.Float64bits(450000.4)), 450000, ""},
		{typeDouble, raw(math.Float64bits(-1)), 0, hardware.Implausible},
		{typeDouble, raw(math.Float64bits(math.NaN())), 0, hardware.Implausible},
		{typeDouble, raw(math.Float64bits(1e300)), 0, hardware.Implausible},
		{typeUint, small(450000), 450000, ""},
		{typeUint, small(math.MaxUint32), math.MaxUint32, ""},
		{typeUlong, raw(1 << 40), 1 << 40, ""},
		{typeUlonglong, raw(1<<62 - 1), 1<<62 - 1, ""},
		{typeUlonglong, raw(math.MaxUint64), 0, hardware.Implausible},
		{typeLonglong, raw(math.MaxUint64), 0, hardware.Implausible}, // -1
		{typeInt, small(7), 7, ""},
		{typeInt, small(math.MaxUint32), 0, hardware.Implausible}, // -1
		{typeUshort, small(0xabcd0007), 7, ""},
		{7, raw(1), 0, hardware.Implausible},
		{math.MaxUint32, raw(1), 0, hardware.Implausible},
	} {
		if c.kind == typeUshort && binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
			continue // the two bytes are the others there
		}
		if v, code := decode(c.kind, c.raw); v != c.v || code != c.code {
			t.Errorf("%+v: %d %s", c, v, code)
		}
	}
}

// A value is what it is or has a reason; it is never negative.
func FuzzDecode(f *testing.F) {
	f.Add(uint32(typeDouble), uint64(1))
	f.Add(uint32(typeInt), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, kind uint32, n uint64) {
		var raw [8]byte
		binary.NativeEndian.PutUint64(raw[:], n)
		v, code := decode(kind%9, raw)
		if v < 0 || v > 1<<62 || code != "" && v != 0 {
			t.Errorf("%d %s", v, code)
		}
	})
}

// Bases are read where all of their domains are, on every device.
func TestBases(t *testing.T) {
	of := func(device string, d trace.Domain, q trace.Quantity) trace.Channel {
		unit := map[trace.Quantity]string{trace.Energy: "mJ", trace.Temperature: "C"}[q]
		return trace.Channel{Device: device, Domain: d, Quantity: q, Unit: cmp.Or(unit, "mW")}
	}
	a, b := trace.Device{ID: "a", Kind: trace.GPU}, trace.Device{ID: "b", Kind: trace.GPU}
	cpu, soc := trace.Device{ID: "b", Kind: trace.CPU}, trace.Device{ID: "a", Kind: trace.Machine}
	for name, c := range map[string]struct {
		h    trace.Header
		want map[string][]int
	}{
		"two GPUs": {trace.Header{Devices: []trace.Device{a, b}, Channels: []trace.Channel{
			of("a", trace.NVGPU, trace.Power), of("a", trace.NVGPU, trace.Energy), of("b", trace.NVGPU, trace.Temperature), of("b", trace.NVGPU, trace.Energy),
		}}, map[string][]int{"nv.gpu": {1, 3}}},
		"one has power alone": {trace.Header{Devices: []trace.Device{a, b}, Channels: []trace.Channel{
			of("a", trace.NVGPU, trace.Energy), of("a", trace.NVGPU, trace.Power), of("b", trace.NVGPU, trace.PowerAverage), of("b", trace.NVGPU, trace.Power),
		}}, map[string][]int{"nv.gpu": {0, 3}}},
		"one has an average alone": {trace.Header{Devices: []trace.Device{a, b}, Channels: []trace.Channel{
			of("a", trace.NVGPU, trace.Energy), of("b", trace.NVGPU, trace.PowerAverage),
		}}, map[string][]int{}},
		"one has nothing": {trace.Header{Devices: []trace.Device{a, b}, Channels: []trace.Channel{of("a", trace.NVGPU, trace.Energy)},
			Missing: []trace.Missing{{Device: "b", Domain: trace.NVGPU}}}, map[string][]int{}},
		"with RAPL": {trace.Header{Devices: []trace.Device{a, cpu}, Channels: []trace.Channel{
			of("b", trace.RAPLPackage, trace.Energy), of("a", trace.NVGPU, trace.Energy),
		}}, map[string][]int{"nv.gpu": {1}, "nv.gpu+rapl.package": {0, 1}, "rapl.package": {0}}},
		"a Mac without ANE": {trace.Header{Devices: []trace.Device{soc}, Channels: []trace.Channel{
			of("a", trace.AppleGPU, trace.Energy), of("a", trace.AppleCPU, trace.Energy), of("a", trace.AppleDRAM, trace.Energy), of("a", trace.AppleDCS, trace.Energy),
		}}, map[string][]int{"apple.soc5": {0, 1, 2, 3}, "apple.gpu": {0}}},
		"a Mac without DCS": {trace.Header{Devices: []trace.Device{soc}, Channels: []trace.Channel{
			of("a", trace.AppleGPU, trace.Energy), of("a", trace.AppleCPU, trace.Energy), of("a", trace.AppleDRAM, trace.Energy), of("a", trace.AppleANE, trace.Energy),
		}}, map[string][]int{"apple.gpu": {0}}},
		"module": {trace.Header{Devices: []trace.Device{a}, Channels: []trace.Channel{
			of("a", trace.NVModule, trace.Energy), of("a", trace.NVGPU, trace.Temperature),
		}}, map[string][]int{"nv.module": {0}}},
	} {
		tr := &trace.Trace{Header: c.h}
		p := trace.NewProbe(tr)
		addBases(p, tr)
		got := map[string][]int{}
		for _, b := range p.Bases {
			got[b.Base] = b.Channels
		}
		if d := diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
