package llm

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// frame returns the payloads that a stream holds when it is read in pieces.
func frame(f framing, pieces ...string) (payloads []string, err error) {
	rec := newRecording(f)
	defer rec.release()
	readers := make([]io.Reader, len(pieces))
	for i, p := range pieces {
		readers[i] = strings.NewReader(p)
	}
	clock := int64(0)
	_, err = rec.readAll(io.MultiReader(readers...), func() int64 { clock++; return clock })
	for _, e := range rec.log.events {
		payloads = append(payloads, fmt.Sprintf("%q failed=%v open=%v", rec.log.payload(e), e.failed, e.open))
	}
	return payloads, err
}

// split cuts s at random places.
func split(t *rapid.T, s string) []string {
	var out []string
	for len(s) > 0 {
		n := rapid.IntRange(1, len(s)).Draw(t, "n")
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

var sseBits = []string{"\n", "\r", "\r\n", "\n\n", "data:", "data: ", ": c", "event: error", "event:x", "id: 1", "error: e", "data", "x", " ",
	"{\"a\":1}", "[DONE]", "\xef\xbb\xbf", "é", "\u2028", "\x00", "\xff"}

var ndjsonBits = []string{"\n", "\r\n", `{"done":false}`, `{"done":true}`, `{"a":{"done":true}}`, `{"done" : true}`, `"done"`, ":", "true", "{", "}", "\\", "\"", "x", " ", "é"}

// However a stream is cut into reads, the events are the same.
func TestFramingDoesNotDependOnReads(t *testing.T) {
	for f, bits := range map[framing][]string{frameSSE: sseBits, frameNDJSON: ndjsonBits} {
		rapid.Check(t, func(t *rapid.T) {
			stream := strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 60).Draw(t, "bits"), "")
			whole, errW := frame(f, stream)
			pieces, errP := frame(f, split(t, stream)...)
			bytewise, _ := frame(f, strings.Split(stream, "")...)
			if diff := cmp.Diff(whole, pieces); diff != "" || errW != errP {
				t.Fatalf("whole against pieces of %q: %s %v %v", stream, diff, errW, errP)
			}
			if diff := cmp.Diff(whole, bytewise); diff != "" {
				t.Fatalf("whole against bytes of %q: %s", stream, diff)
			}
		})
	}
}

// The line-based framer agrees with a plain reading of the HTML standard.
func TestSSEAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := slices.DeleteFunc(slices.Clone(sseBits), func(s string) bool { return s == "[DONE]" || s == "error: e" })
		stream := strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 60).Draw(t, "bits"), "") + "\n\n"
		got, _ := frame(frameSSE, split(t, stream)...)
		if diff := cmp.Diff(referenceSSE(stream), got); diff != "" {
			t.Fatalf("%q: %s", stream, diff)
		}
	})
}

func referenceSSE(s string) (out []string) {
	s = strings.TrimPrefix(s, "\xef\xbb\xbf")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var data []string
	failed := false
	for _, line := range strings.Split(s, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if joined := strings.Join(data, "\n"); len(bytes.TrimSpace([]byte(joined))) > 0 {
				out = append(out, fmt.Sprintf("%q failed=%v open=false", joined, failed))
			}
			data, failed = nil, false
		case name == "data":
			data = append(data, value)
		case name == "event":
			failed = failed || value == "error"
		}
	}
	return out
}

func TestTopLevelTrue(t *testing.T) {
	for line, want := range map[string]bool{
		`{"done":true}`:                    true,
		`{"a":[{}],"done" : true ,"b":1}`:  true,
		`{"done":false,"b":true}`:          false,
		`{"a":{"done":true},"done":false}`: false,
		`{"a":"\"done\":true"}`:            false,
		`{"a":"done","b":true}`:            false,
		`{"a":"x\\","done":true}`:          true,
		`{"done":`:                         false,
		`{"done`:                           false,
		`{"a\`:                             false,
	} {
		if got := topLevelTrue([]byte(line), "done"); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	long := strings.Repeat("x", maxEvent)
	for name, c := range map[string]struct {
		f      framing
		stream io.Reader
		want   error
	}{
		"long line":           {frameSSE, strings.NewReader("data: " + long), errLongEvent},
		"long comment":        {frameSSE, strings.NewReader(":" + long), errLongEvent},
		"many data lines":     {frameSSE, strings.NewReader("data: " + long[:maxEvent/2] + "\ndata:" + long[:maxEvent/2] + "\n\n"), errLongEvent},
		"long document line":  {frameNDJSON, strings.NewReader(long + "x\n"), errLongEvent},
		"endless lines":       {frameNDJSON, endless("{}\n"), errManyEvents},
		"endless document":    {frameWhole, endless(" "), errLongAnswer},
		"a reader that stops": {frameSSE, stuck{}, io.ErrNoProgress},
		"as much as allowed":  {frameNDJSON, strings.NewReader(long[:maxEvent-1] + "\n"), io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			rec := newRecording(c.f)
			defer rec.release()
			if _, err := rec.readAll(c.stream, func() int64 { return 1 }); err != c.want {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// endless repeats a piece for ever.
func endless(piece string) io.Reader { return &repeat{piece: []byte(strings.Repeat(piece, 4096))} }

type repeat struct {
	piece []byte
	at    int
}

func (r *repeat) Read(b []byte) (int, error) {
	n := copy(b, r.piece[r.at:])
	r.at = (r.at + n) % len(r.piece)
	return n, nil
}

// An event carries the time of the read that brought its last byte, not of the
// blank line after it, and tells which events came together.
func TestStamps(t *testing.T) {
	rec := newRecording(frameSSE)
	defer rec.release()
	pieces := []string{"data: a\n", "\ndata: b\n\ndata: c\n\nda", "ta: d\n\n"}
	clock := int64(0)
	body := io.MultiReader(strings.NewReader(pieces[0]), strings.NewReader(pieces[1]), strings.NewReader(pieces[2]))
	if _, err := rec.readAll(body, func() int64 { clock += 10; return clock }); err != io.EOF {
		t.Fatal(err)
	}
	var got [][2]int64
	for _, e := range rec.log.events {
		got = append(got, [2]int64{e.at, int64(e.read)})
	}
	if diff := cmp.Diff([][2]int64{{10, 1}, {20, 2}, {20, 2}, {30, 3}}, got); diff != "" {
		t.Error(diff)
	}
}

// A read is stamped right after it returned: before its bytes are looked at,
// and once, whatever they hold.
func TestStampIsTheRead(t *testing.T) {
	for kind, piece := range map[framing]string{frameSSE: "data: {}\n\ndata: {}\n\n", frameNDJSON: "{}\n{}\n", frameWhole: "{}"} {
		rec := newRecording(kind)
		var order strings.Builder
		body := &loop{piece: []byte(piece), left: 3}
		reader := readerFunc(func(b []byte) (int, error) {
			fmt.Fprintf(&order, "read %d, ", len(rec.log.events))
			return body.Read(b)
		})
		_, _ = rec.readAll(reader, func() int64 { fmt.Fprintf(&order, "stamp %d, ", len(rec.log.events)); return 1 })
		perRead := map[framing]int{frameSSE: 2, frameNDJSON: 2}[kind]
		var want strings.Builder
		for n := range 4 {
			fmt.Fprintf(&want, "read %d, stamp %d, ", n*perRead, n*perRead)
		}
		if order.String() != want.String() {
			t.Errorf("framing %d: %s\nwant %s", kind, order.String(), want.String())
		}
		rec.release()
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func fuzzFraming(f *testing.F, kind framing, bits []string) {
	for _, b := range bits {
		f.Add([]byte(b + bits[0] + b))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole, _ := frame(kind, string(stream))
		rec := newRecording(kind)
		defer rec.release()
		_, _ = rec.readAll(iotest.OneByteReader(bytes.NewReader(stream)), func() int64 { return 1 })
		if len(whole) != len(rec.log.events) {
			t.Fatalf("%d events whole, %d byte by byte", len(whole), len(rec.log.events))
		}
		for i, e := range rec.log.events {
			if p := fmt.Sprintf("%q failed=%v open=%v", rec.log.payload(e), e.failed, e.open); p != whole[i] {
				t.Fatalf("event %d: %s whole, %s byte by byte", i, whole[i], p)
			}
		}
	})
}

func FuzzSSE(f *testing.F)    { fuzzFraming(f, frameSSE, sseBits) }
func FuzzNDJSON(f *testing.F) { fuzzFraming(f, frameNDJSON, ndjsonBits) }
