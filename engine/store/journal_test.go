package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/step"
)

// attempt appends lines as one attempt at key k.
func attempt(t testing.TB, s *Store, k step.Key, lines ...string) {
	t.Helper()
	j := must[*Journal](t)(s.Journal(k))
	defer j.Close()
	for _, l := range lines {
		check(t, j.Append([]byte(l)))
	}
}

// earlier reads what a new attempt would.
func earlier(t testing.TB, s *Store, k step.Key) (lines []string, lost int) {
	t.Helper()
	j := must[*Journal](t)(s.Journal(k))
	check(t, j.Each(func(line []byte) error { lines = append(lines, string(line)); return nil }))
	return lines, j.Lost()
}

func TestJournalAcrossAttempts(t *testing.T) {
	s := writable(t)
	k, _ := preimage(t, 1)
	other, _ := preimage(t, 2)
	attempt(t, s, k, "a", "", "b\nc\x00")
	attempt(t, s, k) // writes nothing and leaves nothing
	j := must[*Journal](t)(s.Journal(k))
	check(t, j.Append([]byte("d")))
	var seen []string
	check(t, j.Each(func(line []byte) error { seen = append(seen, string(line)); return nil }))
	if want := []string{"a", "", "b\nc\x00"}; !slices.Equal(seen, want) {
		t.Errorf("own attempt sees %q, want %q", seen, want)
	}
	check(t, j.Close())
	if lines, lost := earlier(t, s, k); !slices.Equal(lines, []string{"a", "", "b\nc\x00", "d"}) || lost != 0 {
		t.Errorf("next attempt sees %q, %d lost", lines, lost)
	}
	if lines, _ := earlier(t, s, other); len(lines) != 0 {
		t.Errorf("another step sees %q", lines)
	}
	check(t, j.Remove())
	if lines, _ := earlier(t, s, k); len(lines) != 0 {
		t.Errorf("after removal: %q", lines)
	}
	check(t, j.Remove())
	if _, err := os.Stat(j.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("directory: %v", err)
	}
}

func TestJournalEndsWithItsReader(t *testing.T) {
	s := writable(t)
	k, _ := preimage(t, 1)
	attempt(t, s, k, "a", "b")
	boom := errors.New("boom")
	calls := 0
	j := must[*Journal](t)(s.Journal(k))
	if err := j.Each(func([]byte) error { calls++; return boom }); err != boom || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestJournalRefusesALongLine(t *testing.T) {
	s := writable(t)
	k, _ := preimage(t, 1)
	j := must[*Journal](t)(s.Journal(k))
	if err := j.Append(make([]byte, MaxLine+1)); err == nil {
		t.Error("accepted")
	}
	check(t, j.Append(nil))
}

// segmentOf returns the bytes of a segment with these lines, and where each
// frame begins; the last element is the length.
func segmentOf(id segmentID, lines []string) (b []byte, at []int) {
	for _, l := range lines {
		at = append(at, len(b))
		b = id.appendFrame(b, int64(len(b)), []byte(l))
	}
	return b, append(at, len(b))
}

func scanLines(t testing.TB, id segmentID, b []byte) (lines []string, lost int) {
	t.Helper()
	lost, err := id.scan(bytes.NewReader(b), int64(len(b)), func(l []byte) error { lines = append(lines, string(l)); return nil })
	check(t, err)
	return lines, lost
}

var someLines = []string{"first", "", "with\nnewline\n", "\n", "last"}

func TestJournalTornAtEveryByte(t *testing.T) {
	id := segmentID{key: step.Key{1}, n: 3}
	b, at := segmentOf(id, someLines)
	for n := range len(b) + 1 {
		whole, _ := slices.BinarySearch(at, n+1)
		whole--
		lines, lost := scanLines(t, id, b[:n])
		torn := 0
		if n > at[whole] {
			torn = 1
		}
		if !slices.Equal(lines, someLines[:whole]) || lost != torn {
			t.Errorf("cut at %d: %q, %d lost; want %q, %d", n, lines, lost, someLines[:whole], torn)
		}
	}
}

// One changed bit costs exactly the line it is in.
func TestJournalEveryFlippedBit(t *testing.T) {
	id := segmentID{key: step.Key{1}, n: 3}
	b, at := segmentOf(id, someLines)
	for i := range 8 * len(b) {
		c := bytes.Clone(b)
		c[i/8] ^= 1 << (i % 8)
		hit, _ := slices.BinarySearch(at, i/8+1)
		hit--
		want := slices.Delete(slices.Clone(someLines), hit, hit+1)
		// The LF that ends a frame is also what the next one is found by.
		if i/8 == at[hit+1]-1 && hit+1 < len(someLines) {
			want = slices.Delete(want, hit, hit+1)
		}
		lines, lost := scanLines(t, id, c)
		if !slices.Equal(lines, want) || lost != 1 {
			t.Errorf("bit %d of byte %d: %q, %d lost, want %q", i%8, i/8, lines, lost, want)
		}
	}
}

// A response may quote a journal. After damage the copy must not be read.
func TestJournalCopiedFramesAreNoLines(t *testing.T) {
	id := segmentID{key: step.Key{1}, n: 1}
	inner, _ := segmentOf(id, []string{"forged"})
	b, at := segmentOf(id, []string{"before", "quote:\n" + string(inner) + string(inner), "after"})
	b[at[1]] ^= 1
	if lines, lost := scanLines(t, id, b); !slices.Equal(lines, []string{"before", "after"}) || lost != 1 {
		t.Errorf("%q, %d lost", lines, lost)
	}
	for _, elsewhere := range []segmentID{{key: step.Key{2}, n: 1}, {key: step.Key{1}, n: 2}} {
		if lines, _ := scanLines(t, elsewhere, inner); len(lines) != 0 {
			t.Errorf("a segment in another place gives %q", lines)
		}
	}
}

func TestJournalScanProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := segmentID{key: step.Key{byte(rapid.Uint8().Draw(rt, "key"))}, n: rapid.IntRange(1, 9).Draw(rt, "n")}
		lines := rapid.SliceOf(rapid.String()).Draw(rt, "lines")
		b, _ := segmentOf(id, lines)
		if got, lost := scanLines(t, id, b); !slices.Equal(got, lines) || lost != 0 {
			rt.Fatalf("%q, %d lost", got, lost)
		}
	})
}

// While one fsync runs, everyone else's lines gather for the next one.
func TestAppendersShareAnFsync(t *testing.T) {
	const n = 50
	var syncs atomic.Int32
	first := make(chan struct{})
	hooks := Hooks{Sync: func(f *os.File) error {
		if strings.HasSuffix(f.Name(), segmentSuffix) && syncs.Add(1) == 1 {
			<-first
		}
		return nil
	}}
	s := open(t, newDir(t), Options{Mode: ReadWrite, Hooks: hooks})
	k, _ := preimage(t, 1)
	synctest.Test(t, func(t *testing.T) {
		first = make(chan struct{}) // of this bubble, so that waiting for it counts
		j := must[*Journal](t)(s.Journal(k))
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				if err := j.Append([]byte(fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(first)
		wg.Wait()
		check(t, j.Close())
	})
	if lines, lost := earlier(t, s, k); len(lines) != n || lost != 0 {
		t.Errorf("%d lines, %d lost", len(lines), lost)
	}
	if got := syncs.Load(); got != 2 {
		t.Errorf("%d lines took %d syncs, want 2", n, got)
	}
}

// After a failed write or fsync nothing in that segment is trusted any more;
// the next line is safe in a new one.
func TestJournalGoesOnAfterAFailure(t *testing.T) {
	k, _ := preimage(t, 1)
	fail := false
	half := func(f *os.File, p []byte) (int, error) {
		if !fail {
			return f.Write(p)
		}
		n, _ := f.Write(p[:len(p)/2])
		return n, syscall.ENOSPC
	}
	noSync := func(f *os.File) error {
		if fail {
			return syscall.EIO
		}
		return nil
	}
	for name, c := range map[string]struct {
		hooks Hooks
		err   error
	}{
		"write": {Hooks{Write: half}, ErrNoSpace},
		"sync":  {Hooks{Sync: noSync}, syscall.EIO},
	} {
		s := open(t, newDir(t), Options{Mode: ReadWrite, Hooks: c.hooks})
		j := must[*Journal](t)(s.Journal(k))
		check(t, j.Append([]byte("before")))
		fail = true
		if err := j.Append([]byte("failed")); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		fail = false
		check(t, j.Append([]byte("after")))
		check(t, j.Close())
		lines, _ := earlier(t, s, k)
		lines = slices.DeleteFunc(lines, func(l string) bool { return l == "failed" }) // may be read back
		if !slices.Equal(lines, []string{"before", "after"}) {
			t.Errorf("%s: %q", name, lines)
		}
		if n := must[[]int](t)(numbered(j.dir, segmentSuffix)); !slices.Equal(n, []int{1, 2}) {
			t.Errorf("%s: segments %v", name, n)
		}
	}
}

func TestJournalOfADamagedFile(t *testing.T) {
	s := writable(t)
	k, _ := preimage(t, 1)
	attempt(t, s, k, "a")
	j := must[*Journal](t)(s.Journal(k))
	check(t, os.Remove(j.segmentPath(1)))
	check(t, os.Symlink("/dev/zero", j.segmentPath(1)))
	var damaged *Damaged
	if err := j.Each(func([]byte) error { return nil }); !errors.As(err, &damaged) {
		t.Errorf("error %v", err)
	}
}
