package ioreport

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/trace"
)

// recorded reads a list of testdata.
func recorded(t testing.TB, name string) (out []Channel) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		channel, unit, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("%s: %q", name, line)
		}
		out = append(out, Channel{channel, unit})
	}
	return out
}

// picked maps each rail to its channels, with their units.
func picked(list []Channel) (out map[string]string, missing map[string]string) {
	chosen, none := Choose(list)
	out, missing = map[string]string{}, map[string]string{}
	for _, c := range chosen {
		out[string(c.Domain)] = strings.TrimPrefix(out[string(c.Domain)]+" + "+list[c.At].Name+" "+c.Unit, " + ")
	}
	for _, m := range none {
		missing[string(m.Domain)] = m.Reason
	}
	return out, missing
}

func TestRecordedLists(t *testing.T) {
	for name, c := range map[string]struct{ rails, missing map[string]string }{
		"m4-pro": {rails: map[string]string{
			"apple.gpu": "GPU Energy nJ", "apple.cpu": "CPU Energy mJ", "apple.ane": "ANE0 mJ", "apple.dram": "DRAM0 mJ", "apple.dcs": "DCS0 mJ"}},
		"m1-ultra": {rails: map[string]string{
			"apple.gpu": "GPU Energy nJ", "apple.cpu": "DIE_0_CPU Energy mJ + DIE_1_CPU Energy mJ", "apple.ane": "ANE0_0 mJ + ANE0_1 mJ",
			"apple.dram": "DRAM0_0 mJ + DRAM0_1 mJ", "apple.dcs": "DCS0_0 mJ + DCS0_1 mJ"}},
		"m3-max-frozen": {rails: map[string]string{
			"apple.gpu": "GPU Energy nJ", "apple.cpu": "CPU Energy mJ", "apple.ane": "ANE0 mJ", "apple.dram": "DRAM0 mJ", "apple.dcs": "DCS0 mJ"}},
		"without-dcs": {rails: map[string]string{"apple.gpu": "GPU mJ", "apple.cpu": "CPU Energy mJ", "apple.ane": "ANE mJ", "apple.dram": "DRAM mJ"},
			missing: map[string]string{"apple.dcs": "not-supported"}},
	} {
		rails, missing := picked(recorded(t, name))
		if c.missing == nil {
			c.missing = map[string]string{}
		}
		if d := cmp.Diff(c.rails, rails); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := cmp.Diff(c.missing, missing); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A name that only contains that of a rail is none of it.
func TestAnchored(t *testing.T) {
	for _, name := range []string{"PACC0_CPU0", "DIE_0_EACC_CPU Energy", "GPU SRAM0", "GPU CS", "apciec0 Energy", "DIE_0_DRAM0", "ANE0_0_1", "ANE_0", "DRAMX", "CPU Energy ", "xCPU Energy", "DIE__CPU Energy", "GPU Energy 2", "DCS0x", "GPU123"} {
		if rails, _ := picked([]Channel{{name, "mJ"}}); len(rails) != 0 {
			t.Errorf("%q: %v", name, rails)
		}
	}
}

// Half of a rail, or one in another unit, is no rail.
func TestDoubtfulRails(t *testing.T) {
	for what, list := range map[string][]Channel{
		"twice":           {{"DRAM0", "mJ"}, {"DRAM1", "mJ"}, {"DRAM0", "mJ"}},
		"another unit":    {{"DRAM0", "mJ"}, {"DRAM1", "ticks"}},
		"no unit":         {{"DRAM", ""}},
		"a unit of power": {{"DRAM", "mW"}},
	} {
		rails, missing := picked(list)
		if len(rails) != 0 || missing["apple.dram"] != "implausible" {
			t.Errorf("%s: %v %v", what, rails, missing)
		}
	}
	// A package's channel contains its blocks: they are not added to it.
	if rails, _ := picked([]Channel{{"DRAM0", "mJ"}, {"DRAM", "mJ"}, {"DRAM0_1", "mJ"}}); rails["apple.dram"] != "DRAM mJ" {
		t.Error(rails)
	}
}

func TestElement(t *testing.T) {
	b := make([]byte, 64)
	binary.NativeEndian.PutUint64(b[24:], 1000)
	binary.NativeEndian.PutUint64(b[32:], 777)
	if e, ok := readElement(b); !ok || e != (element{1000, 777}) {
		t.Error(e, ok)
	}
	for _, n := range []int{0, 63, 128} {
		if _, ok := readElement(make([]byte, n)); ok {
			t.Errorf("%d bytes", n)
		}
	}
	apple := ticks{125, 3}
	if ns, ok := apple.age(24_001_000, 1000); !ok || ns != 1e9 {
		t.Error(ns, ok)
	}
	for what, c := range map[string]struct {
		t          ticks
		now, stamp uint64
	}{
		"never written": {apple, 100, 0}, "in the future": {apple, 100, 101}, "no time base": {ticks{}, 100, 50},
		"older than a day": {apple, 1 << 60, 1}, "just older": {apple, maxAge, 1},
	} {
		if ns, ok := c.t.age(c.now, c.stamp); ok {
			t.Errorf("%s: %d", what, ns)
		}
	}
}

// played is a sampler that plays what it was given, one look after another.
type played struct {
	looks  [][]sampled
	codes  []string
	levels []uint64
	i      int
	closed bool
}

func (p *played) sample() ([]sampled, string) {
	p.i++
	return p.looks[p.i-1], p.codes[p.i-1]
}
func (p *played) pressure() (uint64, string) { return p.levels[p.i-1], "" }
func (p *played) close() error               { p.closed = true; return nil }

// one is a reading: what Put was handed.
type one struct {
	V int64
	E string
}

// Counters that stand still are handed on with their value and the age of it, never
// as 0: seeing that they have stopped is the formulas' business.
func TestFrozen(t *testing.T) {
	list := []Channel{{"CPU Energy", "mJ"}, {"GPU Energy", "nJ"}}
	p := &played{
		looks: [][]sampled{
			{{value: 5_000_000_000, age: 1_000, aged: true}, {value: 700, age: 2_000_000_000, aged: true}},
			{{value: 5_100_000_000, age: 1_000, aged: true}, {value: 700, age: 2_050_000_000, aged: true}},
			{{value: 5_200_000_000}, {code: "not-readable"}},
			nil,
			{{value: 5_300_000_000}, {value: -1}},
		},
		codes:  []string{"", "", "", "not-readable", ""},
		levels: []uint64{0, 1, 4, 0, 5},
	}
	s, missing := newReader("Apple M3 Max", list, func([]Chosen) (sampler, error) { return p, nil })
	if s == nil || missing != nil {
		t.Fatal(missing)
	}
	d := s.Describe()
	if len(d.Missing) != 3 {
		t.Errorf("%+v", d.Missing)
	}
	if len(d.Channels) != 5 || d.Channels[0].Domain != trace.AppleGPU || d.Channels[1].Domain != trace.AppleCPU || d.Channels[3].Quantity != trace.Age || d.Channels[4].Quantity != trace.SpeedLimit {
		t.Fatalf("%+v", d.Channels)
	}
	want := [][]one{
		{{V: 5_000_000_000}, {V: 700}, {V: 1_000}, {V: 2_000_000_000}, {V: 100}},
		{{V: 5_100_000_000}, {V: 700}, {V: 1_000}, {V: 2_050_000_000}, {V: 80}},
		{{V: 5_200_000_000}, {E: "not-readable"}, {E: "not-said"}, {E: "not-readable"}, {V: 10}},
		{{E: "not-readable"}, {E: "not-readable"}, {E: "not-readable"}, {E: "not-readable"}, {V: 100}},
		{{V: 5_300_000_000}, {E: "implausible"}, {E: "not-said"}, {E: "implausible"}, {E: "implausible"}},
	}
	for i, w := range want {
		got := make([]one, len(d.Channels))
		s.Read(func(c int, v int64, code string) { got[c] = one{v, code} })
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("look %d: %s", i, diff)
		}
	}
	if err := s.Close(); err != nil || !p.closed {
		t.Error(err, p.closed)
	}
}

// The trace's own check takes the channels of every recorded list.
func TestChannelsAreOfTheTrace(t *testing.T) {
	for _, name := range []string{"m4-pro", "m1-ultra", "m3-max-frozen", "without-dcs"} {
		s, _ := newReader(name, recorded(t, name), func([]Chosen) (sampler, error) { return &played{}, nil })
		d := s.Describe()
		var b strings.Builder
		w, err := trace.NewWriter(&b, trace.Header{Made: "sample", Devices: d.Devices, Channels: d.Channels, Missing: d.Missing})
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trace.Read(strings.NewReader(b.String())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNothing(t *testing.T) {
	s, missing := newReader("", nil, nil)
	if s != nil || len(missing) != 5 {
		t.Error(s, missing)
	}
	s, missing = newReader("", []Channel{{"GPU", "mJ"}}, func([]Chosen) (sampler, error) { return nil, errors.New("no") })
	if s != nil || len(missing) != 5 || missing[4].Reason != "not-readable" {
		t.Error(s, missing)
	}
	if runtime.GOOS != "darwin" {
		if s, missing := Open(); s != nil || missing[0].Reason != "other-platform" {
			t.Error(s, missing)
		}
	}
}

func FuzzChoose(f *testing.F) {
	for _, name := range []string{"m4-pro", "m1-ultra", "without-dcs"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".tsv"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var list []Channel
		for line := range strings.Lines(text) {
			name, unit, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			list = append(list, Channel{name, unit})
		}
		chosen, missing := Choose(list)
		seen := map[trace.Domain]bool{}
		at := map[int]bool{}
		for _, c := range chosen {
			if at[c.At] {
				t.Fatalf("channel %d is in two rails", c.At)
			}
			at[c.At], seen[c.Domain] = true, true
		}
		if len(seen)+len(missing) != len(rails) {
			t.Fatalf("%d rails chosen, %d missing", len(seen), len(missing))
		}
	})
}
