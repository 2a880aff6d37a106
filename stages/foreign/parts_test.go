package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// Results come in the order of the input for any number of workers.
func TestOrdered(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, workers := rapid.IntRange(0, 300).Draw(rt, "n"), rapid.IntRange(0, 8).Draw(rt, "workers")
		stopAt := rapid.IntRange(-1, 300).Draw(rt, "stopAt")
		stop := errors.New("stop")
		var got []int
		err := Ordered(workers, func(yield func(int) error) error {
			for i := range n {
				if err := yield(i); err != nil {
					return err
				}
			}
			return nil
		}, func() func(int) int { return func(i int) int { return i * i } }, func(sq int) error {
			if len(got) == stopAt {
				return stop
			}
			got = append(got, sq)
			return nil
		})
		want := n
		if stopAt >= 0 && stopAt < n {
			want = stopAt
			if err != stop {
				rt.Fatalf("error %v", err)
			}
		}
		for i, sq := range got {
			if sq != i*i {
				rt.Fatalf("result %d is %d", i, sq)
			}
		}
		if len(got) != want {
			rt.Fatalf("%d results, want %d", len(got), want)
		}
	})
}

// An error of the producer comes after the results that it had yielded.
func TestOrderedProducer(t *testing.T) {
	bad := errors.New("bad")
	n := 0
	err := Ordered(2, func(yield func(int) error) error {
		yield(1)
		return bad
	}, func() func(int) int { return func(i int) int { return i } }, func(int) error { n++; return nil })
	if err != bad || n != 1 {
		t.Errorf("error %v after %d results", err, n)
	}
}

// Blocks are the file, cut after ends of lines, with the right line numbers.
func TestBlocks(t *testing.T) {
	long := strings.Repeat("x", blockSize+10)
	for _, text := range []string{"", "a", "a\n", "a\nb", long, long + "\nb\n", strings.Repeat("ab\n", blockSize), "\n\n\n"} {
		var all []byte
		line := 1
		err := Blocks(iotest.HalfReader(strings.NewReader(text)), func(b Block) error {
			if b.First != line {
				t.Errorf("a block begins at line %d, want %d", b.First, line)
			}
			line += bytes.Count(b.Text, newline)
			all = append(all, b.Text...)
			return nil
		})
		if err != nil || string(all) != text {
			t.Errorf("%d bytes of %d, error %v", len(all), len(text), err)
		}
	}
	if err := Blocks(iotest.ErrReader(io.ErrClosedPipe), func(Block) error { return nil }); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}

// endless is a line that does not end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("x"), len(p))), nil }

func TestBlocksEndlessLine(t *testing.T) {
	if err := Blocks(io.LimitReader(endless{}, 3*maxLine), func(Block) error { return nil }); err == nil || !strings.Contains(err.Error(), "line 1: the line is longer than 64 MiB") {
		t.Errorf("error %v", err)
	}
}

// The stream and the held form replace the same words.
func TestNaN(t *testing.T) {
	cases := map[string]string{
		`{"a":NaN,"b":-Infinity,"c":Infinity,"d":-1}`: `{"a":null,"b":null,"c":null,"d":-1}`,
		`"NaN \" Infinity"`:                           `"NaN \" Infinity"`,
		`["\\",NaN]`:                                  `["\\",null]`,
		`[NaN`:                                        `[null`,
		`-`:                                           `-`,
	}
	for in, want := range cases {
		if got, _ := withoutNaN([]byte(in)); string(got) != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	words := []string{"NaN", "Infinity", "-", "-Infinity", `"`, `\`, "N", "1", ",", "x"}
	rapid.Check(t, func(rt *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 30).Draw(rt, "words"), "")
		want, _ := withoutNaN([]byte(in))
		if insideOnly(in) {
			return
		}
		got, err := io.ReadAll(newNaNReader(iotest.OneByteReader(strings.NewReader(in))))
		if err != nil || string(got) != string(want) {
			rt.Fatalf("%q: stream %q, held %q, error %v", in, got, want, err)
		}
	})
}

// insideOnly reports an escape outside strings, which is no JSON: the two read
// on differently there.
func insideOnly(in string) bool {
	inside := false
	for i := 0; i < len(in); i++ {
		switch {
		case in[i] == '\\' && !inside:
			return true
		case in[i] == '\\':
			i++
		case in[i] == '"':
			inside = !inside
		}
	}
	return false
}

func TestTheirs(t *testing.T) {
	cases := map[string]string{
		`1`: "s=1", `0.25`: "s=0.25", `true`: "s=1", `false`: "s=0", `"C"`: "s=1", `"I"`: "s=0", `"P"`: "s=0.5", `"Yes"`: "s=1", `"0.5"`: "s=0.5",
		`"maybe"`: "s?not a number", `null`: "s?not a number (null or NaN)", `1e999`: "s?out of range", `"NaN"`: "s?not a number", `[1]`: "s?not a number",
		`{"a":1,"b":{"c":1}}`: "s.a=1 s.b?not a number", `{}`: "",
	}
	for in, want := range cases {
		var got []string
		for _, th := range theirs("s", []byte(in)) {
			if th.Value != nil {
				got = append(got, fmt.Sprintf("%s=%v", th.Name, *th.Value))
			} else {
				got = append(got, th.Name+"?"+th.Reason)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", in, s, want)
		}
	}
}

// Every format of the table is told by some signature, and none by two names.
func TestFormats(t *testing.T) {
	var seen []string
	for _, f := range Formats {
		if slices.Contains(seen, f.Name) || f.Doc == "" || f.parse == nil && !f.archive {
			t.Errorf("format %+v", f)
		}
		seen = append(seen, f.Name)
		if !f.archive && !slices.ContainsFunc(signatures, func(s struct {
			format string
			all    []string
		}) bool {
			return s.format == f.Name
		}) {
			t.Errorf("nothing tells the format %s", f.Name)
		}
	}
}
