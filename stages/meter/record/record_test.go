package record

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

const ms = int64(time.Millisecond)

// script is a clock that moves when it is waited for, or when a test moves it.
// Moments in at come up while it is waited for.
type script struct {
	mono, wall int64
	late       int64 // every wait ends so much later
	at         map[int64]func()
}

func (c *script) now() (int64, int64) { return c.mono, c.wall }

func (c *script) pass(d int64) { c.mono, c.wall = c.mono+d, c.wall+d }

func (c *script) wait(until int64, s stops) {
	for t := c.mono; t <= until; t += ms {
		if f := c.at[t]; f != nil {
			delete(c.at, t)
			c.pass(t - c.mono)
			if f(); s.why() != "" {
				return
			}
		}
	}
	c.pass(max(0, until+c.late-c.mono))
}

func (c *script) quality() trace.Clock { return trace.Clock{Synchronised: true, ErrorNS: 7} }

// begun is a script that does not start at zero, as no clock does.
func begun() *script {
	return &script{mono: 5_000 * ms, wall: 1_700_000_000_000 * ms, at: map[int64]func(){}}
}

// meter is a source made of functions.
type meter struct {
	d      source.Description
	read   func(source.Put)
	states func() []trace.State
}

func (m *meter) Describe() source.Description { return m.d }
func (m *meter) Close() error                 { return nil }
func (m *meter) Read(put source.Put) {
	if m.read != nil {
		m.read(put)
	}
}
func (m *meter) States() []trace.State {
	if m.states == nil {
		return nil
	}
	return m.states()
}

// counter is a GPU whose counter says the time, and whose looks take as long as cost says.
func counter(c *script, id string, cost func() int64) *meter {
	return &meter{
		d: source.Description{
			Driver:   "570",
			Devices:  []trace.Device{{ID: id, Kind: trace.GPU}},
			Channels: []trace.Channel{{Device: id, Domain: trace.NVGPU, Quantity: trace.Energy, Unit: "mJ", Source: "test"}},
		},
		read: func(put source.Put) {
			if cost != nil {
				c.pass(cost())
			}
			put(0, c.mono/ms, "")
		},
	}
}

func record(t *testing.T, o Options, sources ...source.Source) *trace.Trace {
	t.Helper()
	var b bytes.Buffer
	if err := Record(t.Context(), &b, sources, o); err != nil {
		t.Fatal(err)
	}
	got, err := trace.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func times(s []trace.Sample) (out []int64) {
	for _, x := range s {
		out = append(out, x.T/ms)
	}
	return out
}

// Looks stand on a grid that begins with the header, however long one takes, and
// the last is at the end.
func TestGrid(t *testing.T) {
	c := begun()
	got := record(t, Options{Hz: 20, For: 220 * time.Millisecond, clock: c, Meter: "m 1"}, counter(c, "a", func() int64 { return 3 * ms }))
	if d := cmp.Diff([]int64{3, 53, 103, 153, 203, 223}, times(got.Samples[0])); d != "" {
		t.Error(d)
	}
	if got.Samples[0][1].V != 5053 {
		t.Errorf("%+v", got.Samples[0][1])
	}
	want := &trace.End{Why: "duration", MaxGap: 50 * ms}
	if d := cmp.Diff(want, got.End); d != "" {
		t.Error(d)
	}
	if got.WallNS != 1_700_000_000_000*ms || got.Meter != "m 1" || got.Made != "sample" || got.Hz != 20 || got.Driver != "570" || !got.Clock.Synchronised || got.Clock.ErrorNS != 7 {
		t.Errorf("%+v", got.Header)
	}
}

// One look that took 180 ms: those of 100 and 150 are left out, the one of 200
// comes in time, and 50 was not late.
func TestLeftOut(t *testing.T) {
	c := begun()
	n := 0
	got := record(t, Options{Hz: 20, For: 300 * time.Millisecond, clock: c}, counter(c, "a", func() int64 {
		if n++; n == 2 {
			return 140 * ms
		}
		return 0
	}))
	if d := cmp.Diff([]int64{0, 190, 190, 200, 250, 300}, times(got.Samples[0])); d != "" {
		t.Error(d) // the look of 150 comes at 190
	}
	if got.End.Late != 2 || got.End.MaxGap != 140*ms {
		t.Errorf("%+v", got.End)
	}
}

// A machine that wakes the meter late every time: each look is counted, none moves
// the next.
func TestLate(t *testing.T) {
	c := begun()
	c.late = 30 * ms
	got := record(t, Options{Hz: 20, For: 200 * time.Millisecond, clock: c}, counter(c, "a", nil))
	if d := cmp.Diff([]int64{30, 80, 130, 180, 230}, times(got.Samples[0])); d != "" {
		t.Error(d)
	}
	if got.End.Late != 4 {
		t.Errorf("%+v", got.End)
	}
}

// A look so long that the end passes under it.
func TestLookOverTheEnd(t *testing.T) {
	c := begun()
	got := record(t, Options{Hz: 20, For: 100 * time.Millisecond, clock: c}, counter(c, "a", func() int64 { return 1000 * ms }))
	if d := cmp.Diff([]int64{1000, 2000}, times(got.Samples[0])); d != "" {
		t.Error(d)
	}
	if got.End.Late != 1 || got.End.Why != "duration" {
		t.Errorf("%+v", got.End) // the look of 50
	}
}

// Every reason to stop ends the recording with a last look and an end line.
func TestStop(t *testing.T) {
	for want, why := range map[string]string{"stop": "asked", "context": "asked", "input": "input-ended"} {
		c := begun()
		stop, input := make(chan struct{}), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c.at[c.mono+70*ms] = map[string]func(){"stop": func() { close(stop) }, "context": cancel, "input": func() { close(input) }}[want]
		var b bytes.Buffer
		if err := Record(ctx, &b, []source.Source{counter(c, "a", nil)}, Options{Hz: 20, clock: c, Stop: stop, Input: input}); err != nil {
			t.Fatal(want, err)
		}
		got, err := trace.Read(&b)
		if err != nil || got.End == nil || got.End.Why != why || !slices.Equal(times(got.Samples[0]), []int64{0, 50, 70}) {
			t.Errorf("%s: %v %+v %v", want, err, got.End, times(got.Samples[0]))
		}
	}
}

// States are written at the start, when they change, and at the end; the wall
// clock about once a second, also when it was set meanwhile.
func TestNotes(t *testing.T) {
	c := begun()
	m := counter(c, "a", nil)
	pid := 1
	m.states = func() []trace.State { return []trace.State{{Device: "a", PIDs: []int{pid}}} }
	c.at[c.mono+1500*ms] = func() { pid = 2; c.wall += 60_000 * ms }
	got := record(t, Options{Hz: 20, For: 4 * time.Second, clock: c}, m)
	type seen struct {
		T int64
		P int
	}
	var states []seen
	for _, s := range got.States {
		states = append(states, seen{s.T / ms, s.V.PIDs[0]})
	}
	if d := cmp.Diff([]seen{{0, 1}, {2000, 2}, {4000, 2}}, states); d != "" {
		t.Error(d)
	}
	var syncs [][2]int64
	for _, s := range got.Syncs {
		syncs = append(syncs, [2]int64{s.T / ms, s.V/ms - 1_700_000_000_000})
	}
	if d := cmp.Diff([][2]int64{{0, 0}, {1000, 1000}, {2000, 62000}, {3000, 63000}, {4000, 64000}}, syncs); d != "" {
		t.Error(d)
	}
}

// Channels of several sources are numbered in the order of the sources.
func TestSources(t *testing.T) {
	c := begun()
	a, b := counter(c, "a", nil), counter(c, "b", nil)
	b.d.Channels = append(b.d.Channels, trace.Channel{Device: "b", Domain: trace.NVGPU, Quantity: trace.Temperature, Unit: "C", Source: "test"})
	b.d.Missing = []trace.Missing{{Device: "b", Domain: trace.NVMemory, Reason: "not-supported"}}
	b.read = func(put source.Put) { put(1, 40, ""); put(0, 0, "gpu-lost") }
	extra := trace.Missing{Domain: trace.RAPLPackage, Reason: "no-permission"}
	got := record(t, Options{Hz: 20, For: time.Millisecond, clock: c, Extra: []trace.Missing{extra}}, a, b)
	if len(got.Channels) != 3 || got.Channels[2].Quantity != trace.Temperature || len(got.Missing) != 2 || got.Missing[0] != extra {
		t.Fatalf("%+v", got.Header)
	}
	if got.Samples[2][0].V != 40 || got.Samples[1][0].E != "gpu-lost" || got.Samples[0][0].V != 5000 {
		t.Errorf("%+v", got.Samples)
	}
}

// Nothing to read is a header that says why, and no recording.
func TestNone(t *testing.T) {
	load := &meter{d: source.Description{
		Devices:  []trace.Device{{ID: "system", Kind: trace.Machine}},
		Channels: []trace.Channel{{Device: "system", Domain: trace.System, Quantity: trace.Load1, Unit: "milli", Source: "loadavg"}},
	}}
	rapl := trace.Missing{Domain: trace.RAPLPackage, Reason: hardware.NoPermission}
	gpus := trace.Missing{Domain: trace.NVGPU, Reason: hardware.NoNVML}
	for _, c := range []struct {
		extra []trace.Missing
		want  string
	}{{nil, hardware.NotReadable}, {[]trace.Missing{rapl}, hardware.NoPermission}, {[]trace.Missing{rapl, gpus}, hardware.NoNVML}} {
		got := record(t, Options{Hz: 20, clock: begun(), Extra: c.extra}, load)
		if got.None == nil || got.None.Reason != c.want || len(got.Channels) != 0 || got.End != nil || len(got.Syncs) != 0 || len(got.Missing) != len(c.extra) {
			t.Errorf("%+v", got)
		}
	}
}

// full is a disk that has room for so many bytes.
type full int

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), int(*f))
	*f -= full(n)
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// An error of the writer ends the recording, wherever it comes.
func TestWriterFails(t *testing.T) {
	for room := 0; ; room += 37 {
		c := begun()
		f := full(room)
		err := Record(t.Context(), &f, []source.Source{counter(c, "a", nil)}, Options{Hz: 20, For: 2500 * time.Millisecond, clock: c})
		if err == nil {
			if room < 500 {
				t.Errorf("all fits into %d bytes", room)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "writing the trace: ") {
			t.Fatalf("%d: %v", room, err)
		}
	}
}

// A recording that nobody could read is not made.
func TestFull(t *testing.T) {
	c := begun()
	var b bytes.Buffer
	err := Record(t.Context(), &b, []source.Source{counter(c, "a", nil)}, Options{Hz: 20, clock: c, most: 10})
	got, bad := trace.Read(&b)
	if !errors.Is(err, ErrFull) || bad != nil || got.End == nil || got.End.Why != "full" || len(got.Samples[0]) != 11 {
		t.Errorf("%v %v %+v", err, bad, got.End)
	}
}

func TestBroken(t *testing.T) {
	c := begun()
	m := counter(c, "a", nil)
	m.read = func(put source.Put) { put(1, 1, "") }
	for want, of := range map[string]struct {
		o Options
		s []source.Source
	}{
		"a source has 1 channels and read channel 1": {Options{Hz: 20, clock: c}, []source.Source{m}},
		"device 1 has no id of its own":              {Options{Hz: 20, clock: c}, []source.Source{counter(c, "a", nil), counter(c, "a", nil)}},
		"0 looks a second, want more than none":      {Options{}, nil},
	} {
		if err := Record(t.Context(), io.Discard, of.s, of.o); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The system's clocks, for one look.
func TestSystem(t *testing.T) {
	got := record(t, Options{Hz: 200, For: time.Millisecond}, &meter{
		d: counter(begun(), "a", nil).d, read: func(put source.Put) { put(0, 1, "") },
	})
	before := time.Now().Add(-time.Minute).UnixNano()
	if got.WallNS < before || got.End == nil || len(got.Samples[0]) < 2 || got.Clock.ErrorNS < 0 {
		t.Errorf("%+v %+v", got.Header, got.End)
	}
}

// What a look costs the recorder itself: eight GPUs of ten channels.
func BenchmarkLook(b *testing.B) {
	var sources []source.Source
	for _, id := range strings.Split("abcdefgh", "") {
		m := counter(begun(), id, nil)
		for range 9 {
			m.d.Channels = append(m.d.Channels, m.d.Channels[0])
		}
		m.read = func(put source.Put) {
			for i := range 10 {
				put(i, 123456789012+int64(i), "")
			}
		}
		sources = append(sources, m)
	}
	c := begun()
	o := Options{Hz: 1000, For: time.Duration(b.N) * time.Millisecond, clock: c, most: 1 << 60}
	b.ReportAllocs()
	b.ResetTimer()
	if err := Record(b.Context(), io.Discard, sources, o); err != nil {
		b.Fatal(err)
	}
}
