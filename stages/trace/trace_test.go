package trace

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func header() Header {
	return Header{
		Meter: "test", Made: "sample", Hz: 20, WallNS: 1_700_000_000_000_000_000,
		Devices:  []Device{{ID: "GPU-1", Kind: GPU}, {ID: "package-0", Kind: CPU}},
		Channels: []Channel{{Device: "GPU-1", Domain: NVGPU, Quantity: Energy, Unit: "mJ", Source: "a"}, {Device: "package-0", Domain: RAPLPackage, Quantity: Energy, Unit: "uJ", Source: "b", Range: 262143328850}},
	}
}

// What is written is what is read.
func TestRoundTrip(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, header())
	if err != nil {
		t.Fatal(err)
	}
	mig, pids := false, 1
	for _, err := range []error{
		w.State(0, State{Device: "GPU-1", PIDs: []int{7}, Processes: &pids, MIG: &mig}),
		w.Sync(0, 1_700_000_000_000_000_000),
		w.Sample(0, 1, 100, ""), w.Sample(1, 2, 0, "no-permission"), w.Sample(0, 50, math.MaxInt64/2, ""), w.Sample(1, 51, -5, ""),
		w.Offset(60, Offset{1, 2, 3}),
		w.End(70, End{Why: "asked", Late: 1, MaxGap: 49}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	h := header()
	h.Schema = Schema
	want := &Trace{
		Header:  h,
		Samples: [][]Sample{{{T: 1, V: 100}, {T: 50, V: math.MaxInt64 / 2}}, {{T: 2, E: "no-permission"}, {T: 51, V: -5}}},
		States:  []Noted[State]{{0, State{Device: "GPU-1", PIDs: []int{7}, Processes: &pids, MIG: &mig}}},
		Syncs:   []Noted[int64]{{0, 1_700_000_000_000_000_000}}, Offsets: []Noted[Offset]{{60, Offset{1, 2, 3}}},
		End: &End{Why: "asked", Late: 1, MaxGap: 49}, LastT: 70,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A recording whose writer was killed is read up to the last whole line.
func TestCut(t *testing.T) {
	var b bytes.Buffer
	w, _ := NewWriter(&b, header())
	for i := range 3 {
		_ = w.Sample(0, int64(i), int64(100*i), "")
	}
	_ = w.Flush()
	whole := b.String()
	got, err := Read(strings.NewReader(whole + `{"t":9,"c":0,"v":9`))
	if err != nil || got.End != nil || len(got.Samples[0]) != 3 {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestBad(t *testing.T) {
	var b bytes.Buffer
	w, _ := NewWriter(&b, header())
	_ = w.Flush()
	good := b.String()
	for what, c := range map[string]struct{ text, want string }{
		"empty":            {"", "line 1: there is no header"},
		"not JSON":         {"hello\n", "line 1: the header is not JSON"},
		"other schema":     {`{"schema":"x"}` + "\n", `line 1: its schema is "x"`},
		"twice a name":     {`{"schema":"a","schema":"b"}` + "\n", "line 1: the header is not JSON"},
		"unknown unit":     {strings.Replace(good, `"mJ"`, `"cal"`, 1), `line 1: channel 0 has the unit "cal"`},
		"unknown device":   {strings.Replace(good, `"device":"GPU-1"`, `"device":"GPU-2"`, 1), `line 1: channel 0 is of device "GPU-2", which is not there`},
		"two of one id":    {strings.Replace(good, `"id":"package-0"`, `"id":"GPU-1"`, 1), "line 1: device 1 has no id of its own"},
		"no such channel":  {good + `{"t":1,"c":2,"v":3}` + "\n", "line 2: channel 2 of 2"},
		"back in time":     {good + `{"t":2,"c":0,"v":3}` + "\n" + `{"t":1,"c":0,"v":3}` + "\n", "line 3: channel 0 goes back in time"},
		"negative time":    {good + `{"t":-1,"c":0,"v":3}` + "\n", "line 2: t is -1"},
		"nothing said":     {good + `{"t":1}` + "\n", "line 2: it says 0 things"},
		"two things":       {good + `{"t":1,"sync":1,"end":{"why":"asked"}}` + "\n", "line 2: it says 2 things"},
		"value and reason": {good + `{"t":1,"c":0,"v":1,"e":"x"}` + "\n", "line 2: a sample has a value or a reason"},
		"neither":          {good + `{"t":1,"c":0}` + "\n", "line 2: a sample has a value or a reason"},
		"no number":        {good + `{"t":1,"c":0,"v":1.5}` + "\n", "line 2: not JSON of the form"},
		"too large":        {good + `{"t":1,"c":0,"v":99999999999999999999}` + "\n", "line 2: not JSON of the form"},
		"after the end":    {good + `{"t":1,"end":{"why":"asked"}}` + "\n" + `{"t":2,"sync":1}` + "\n", "line 3: there is something after the end"},
		"clock":            {good + `{"t":1,"offset":{"sent":2,"there":1,"received":1}}` + "\n", "line 2: an answer that came before the question"},
		"long":             {good + strings.Repeat("x", MaxLine+1) + "\n", "line 2: longer than"},
	} {
		_, err := Read(strings.NewReader(c.text))
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

// What could not be read is not written.
func TestLongLine(t *testing.T) {
	var b bytes.Buffer
	h := header()
	h.Missing = make([]Missing, 20_000)
	if _, err := NewWriter(&b, h); err == nil || !strings.HasPrefix(err.Error(), "a line of ") || b.Len() > 0 {
		t.Errorf("%v, %d bytes", err, b.Len())
	}
}

// A counter that is published every 100 ms and looked at every 30 ms.
func TestPeriod(t *testing.T) {
	tr := &Trace{Samples: make([][]Sample, 1)}
	for at := int64(0); at <= 10_000; at += 30 {
		tr.Samples[0] = append(tr.Samples[0], Sample{T: at * 1e6, V: at / 100})
	}
	tr.Samples[0][7] = Sample{T: tr.Samples[0][7].T, E: "nvml-error"}
	p := tr.Period(0, 0, 10e9)
	if p.Ticks != 99 || p.Looks != 333 || p.Mean < 99.5e6 || p.Mean > 100.5e6 || p.Max > 130e6 || p.Look < 30e6 || p.Look > 30.1e6 {
		t.Errorf("%+v", p)
	}
	if p := tr.Period(0, 0, 130e6); p.Ticks != 1 || p.Mean != 0 {
		t.Errorf("one change has no period: %+v", p)
	}
	if p := tr.Period(0, 20e9, 30e9); p != (Period{}) {
		t.Errorf("nothing was seen: %+v", p)
	}
}

// The quick reading of a line and the thorough one agree.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	w, _ := NewWriter(&b, header())
	_ = w.Sample(0, 1, 2, "")
	_ = w.Sample(1, 1, 2, "no-permission")
	_ = w.Sync(3, 4)
	_ = w.End(9, End{Why: "asked"})
	f.Add(b.Bytes())
	f.Add([]byte(`{"t":-0,"c":0,"v":007}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if tt, c, v, ok := parseSample(in); ok {
			if again := fmt.Sprintf(`{"t":%d,"c":%d,"v":%d}`, tt, c, v); again != string(in) {
				t.Errorf("%q was read as %s", in, again)
			}
		}
		tr, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		for i, of := range tr.Samples {
			for j := 1; j < len(of); j++ {
				if of[j].T < of[j-1].T || of[j].T > tr.LastT {
					t.Errorf("channel %d goes back in time", i)
				}
			}
		}
	})
}
