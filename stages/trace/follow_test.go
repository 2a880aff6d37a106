package trace

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A trace that comes in pieces of any length is handed on byte by byte, and is
// known as Read knows it.
func TestFollow(t *testing.T) {
	var b bytes.Buffer
	w, _ := NewWriter(&b, header())
	for i := range 40 {
		_ = w.Sample(i%2, int64(i), int64(i*i), "")
	}
	_ = w.Sample(1, 50, 0, "no-permission")
	_ = w.State(51, State{Device: "GPU-1"})
	_ = w.End(60, End{Why: "asked"})
	whole := b.Bytes()
	want, err := Read(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 2, 7, 64, len(whole)} {
		var out bytes.Buffer
		f := Follow(&out)
		for rest := whole; len(rest) > 0; {
			n, err := f.Write(rest[:min(size, len(rest))])
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if d := cmp.Diff(want, f.Trace()); d != "" || !bytes.Equal(out.Bytes(), whole) {
			t.Errorf("in pieces of %d: %s", size, d)
		}
	}
}

// What is not a line of a trace is not handed on, nor anything after it.
func TestFollowBad(t *testing.T) {
	var b bytes.Buffer
	w, _ := NewWriter(&b, header())
	_ = w.Sample(0, 1, 1, "")
	_ = w.Flush()
	good := b.String()
	for what, c := range map[string]struct{ tail, want string }{
		"garbage":       {"hello\n", "line 3: not JSON"},
		"back in time":  {`{"t":0,"c":0,"v":1}` + "\n", "line 3: channel 0 goes back in time"},
		"after the end": {`{"t":2,"end":{"why":"asked"}}` + "\n" + `{"t":3,"c":0,"v":1}` + "\n", "line 4: there is something after the end"},
		"endless":       {strings.Repeat("x", MaxLine+1), "line 3: longer than"},
	} {
		var out bytes.Buffer
		f := Follow(&out)
		_, err := f.Write([]byte(good + c.tail))
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
		if _, again := f.Write([]byte(`{"t":9,"c":0,"v":1}` + "\n")); again != err {
			t.Errorf("%s: then %v", what, again)
		}
		if _, err := Read(bytes.NewReader(out.Bytes())); err != nil || !strings.HasPrefix(out.String(), good) {
			t.Errorf("%s: what was handed on cannot be read: %v", what, err)
		}
	}
	if f := Follow(&b); f.Trace() != nil {
		t.Error("there is a trace before its header")
	}
}

// However long it lasts, no more than so many readings are kept.
func TestFollowForgets(t *testing.T) {
	var b bytes.Buffer
	f := Follow(&b)
	w, _ := NewWriter(f, header())
	for i := range 3 * keptSamples {
		_ = w.Sample(0, int64(i), int64(i), "")
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	got := f.Trace().Samples[0]
	if n := len(got); n < keptSamples/2 || n >= keptSamples || got[n-1].V != 3*keptSamples-1 {
		t.Errorf("%d readings are kept", n)
	}
	if all, err := Read(&b); err != nil || len(all.Samples[0]) != 3*keptSamples {
		t.Errorf("%v", err)
	}
}

// Whatever comes, and in whatever pieces: what is handed on can be read.
func FuzzFollow(f *testing.F) {
	var b bytes.Buffer
	w, _ := NewWriter(&b, header())
	_ = w.Sample(0, 1, 1, "")
	_ = w.State(1, State{Device: "GPU-1"})
	_ = w.End(2, End{Why: "asked"})
	f.Add(b.Bytes(), uint8(3))
	f.Add([]byte("{}\n{}\n"), uint8(1))
	f.Fuzz(func(t *testing.T, src []byte, size uint8) {
		var out bytes.Buffer
		fl := Follow(&out)
		for rest := src; len(rest) > 0; {
			n := min(int(size)+1, len(rest))
			if _, err := fl.Write(rest[:n]); err != nil {
				break
			}
			rest = rest[n:]
		}
		if out.Len() == 0 {
			return
		}
		if _, err := Read(&out); err != nil {
			t.Errorf("what was handed on cannot be read: %v", err)
		}
	})
}
