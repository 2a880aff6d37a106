package trace

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// looked is a second of two counters: one that changes every 100 ms and one that
// changed once, looked at every 10 ms, with two failures.
func looked() *Trace {
	t := &Trace{Header: header(), Samples: make([][]Sample, 2), LastT: 1e9}
	for at := int64(0); at <= 1000; at += 10 {
		t.Samples[0] = append(t.Samples[0], Sample{T: at * 1e6, V: at / 100})
		t.Samples[1] = append(t.Samples[1], Sample{T: at * 1e6, V: at / 700})
	}
	t.Samples[0][3] = Sample{T: 30e6, E: "gpu-lost"}
	t.Samples[0][4] = Sample{T: 40e6, E: "gpu-lost"}
	return t
}

func fifty(period int64) int64 { return 50 * period }

func TestProbe(t *testing.T) {
	p := NewProbe(looked())
	p.Base("nv.gpu", []int{0}, fifty)
	p.Base("nv.gpu+rapl.package", []int{0, 1}, fifty)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadProbe(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, got); d != "" {
		t.Error(d)
	}
	c := got.Channels[0]
	want := Period{Mean: 100e6, Max: 100e6, Ticks: 10, Looks: 99, Look: 1_000_000_000 / 98}
	if c.Period != want || *c.Last != 10 || !maps.Equal(c.Failures, map[string]int{"gpu-lost": 2}) || c.Domain != NVGPU {
		t.Errorf("%+v", c)
	}
	if p := got.Channels[1].Period; p.Mean != 0 || p.Ticks != 1 {
		t.Errorf("one change has no period: %+v", p)
	}
	one, both := got.Bases[0], got.Bases[1]
	if *one.PeriodNS != 100e6 || *one.WindowNS != 5e9 || one.Reason != "" {
		t.Errorf("%+v", one)
	}
	if both.PeriodNS != nil || both.WindowNS != nil || both.Reason != NoPeriod {
		t.Errorf("%+v", both)
	}
}

// A list without looks, and a machine without counters.
func TestProbeLists(t *testing.T) {
	for _, h := range []Header{header(), {None: &Missing{Reason: "no-nvml"}}} {
		p := NewProbe(&Trace{Header: h})
		text, _ := json.Marshal(p)
		got, err := ReadProbe(bytes.NewReader(text))
		if err != nil || got.DurationNS != 0 || len(got.Channels) != len(h.Channels) || (got.None == nil) != (h.None == nil) {
			t.Errorf("%v %+v", err, got)
		}
		if slices.ContainsFunc(got.Channels, func(c Probed) bool { return c.Last != nil }) {
			t.Errorf("a value that nobody read: %+v", got.Channels)
		}
	}
}

func TestBadProbe(t *testing.T) {
	p := NewProbe(looked())
	p.Base("nv.gpu", []int{0}, fifty)
	text, _ := json.Marshal(p)
	good := string(text)
	swap := func(old, with string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %s in %s", old, good)
		}
		return strings.Replace(good, old, with, 1)
	}
	for what, c := range map[string]struct{ text, want string }{
		"empty":              {"", "not JSON of the form"},
		"other schema":       {swap(ProbeSchema, "x"), `its schema is "x"`},
		"two documents":      {good + good, "not JSON of the form"},
		"twice a name":       {swap(`"meter":`, `"schema":"a","meter":`), "not JSON of the form"},
		"device":             {swap(`"id":"GPU-1"`, `"id":"GPU-2"`), `channel 0 is of device "GPU-1", which is not there`},
		"negative duration":  {swap(`"duration_ns":1000000000`, `"duration_ns":-1`), "it looked for -1 ns"},
		"negative period":    {swap(`"mean_ns":100000000`, `"mean_ns":-1`), "channel 0 has a period that cannot be"},
		"mean above longest": {swap(`"max_ns":100000000`, `"max_ns":1`), "channel 0 has a period that cannot be"},
		"failures":           {swap(`"gpu-lost":2`, `"gpu-lost":0`), "channel 0 has failures that cannot be"},
		"channel of base":    {swap(`"channels":[0]`, `"channels":[2]`), "base 0 is of channels that are not there"},
		"base of nothing":    {swap(`"channels":[0]`, `"channels":[]`), "base 0 is of channels that are not there"},
		"period and reason":  {swap(`"window_1pct_ns":5000000000`, `"window_1pct_ns":5000000000,"reason":"x"`), "base 0 has a period or a reason, and not both"},
		"neither":            {swap(`"period_ns":100000000,"window_1pct_ns":5000000000`, `"period_ns":null,"window_1pct_ns":null`), "base 0 has a period or a reason, and not both"},
		"long":               {strings.Repeat(" ", MaxProbe+1), "longer than"},
	} {
		if _, err := ReadProbe(strings.NewReader(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

// What is read can be written and read again.
func FuzzReadProbe(f *testing.F) {
	p := NewProbe(looked())
	p.Base("nv.gpu", []int{0, 1}, fifty)
	text, _ := json.Marshal(p)
	f.Add(text)
	f.Add([]byte(`{"schema":"cupel/meter-probe/v1","none":{"reason":"no-nvml"}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := ReadProbe(bytes.NewReader(in))
		if err != nil {
			return
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadProbe(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		twice, err := json.Marshal(again)
		if err != nil || len(twice) != len(text) {
			t.Errorf("%v: %s is not %s", err, twice, text)
		}
	})
}
