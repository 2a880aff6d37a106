package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/step"
)

func TestBlobRoundTrip(t *testing.T) {
	s := writable(t)
	for name, content := range map[string][]byte{
		"empty": {}, "byte": {0}, "text": []byte("hello\n"),
		"repeats": bytes.Repeat([]byte("abc"), 1<<20), "beyond the window": bytes.Repeat(randomBytes(9<<20), 2),
	} {
		d := must[step.Digest](t)(s.PutBytes(content))
		if d != step.Sum(content) {
			t.Errorf("%s: digest %s", name, d)
		}
		if got := must[[]byte](t)(s.Read(d)); !bytes.Equal(got, content) {
			t.Errorf("%s: read %d bytes, want %d", name, len(got), len(content))
		}
		st, err := os.Lstat(s.objectPath(d))
		if err != nil || st.Mode() != 0o444 || !s.Has(d) {
			t.Errorf("%s: mode %v, has %v, %v", name, st.Mode(), s.Has(d), err)
		}
		check(t, s.Verify(d))
	}
	wantSound(t, s)
	if left := temps(t, s.Dir()); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// randomBytes does not compress and is the same every time.
func randomBytes(n int) []byte {
	var out []byte
	for i := step.Sum(nil); len(out) < n; i = step.Sum(i[:]) {
		out = append(out, i[:]...)
	}
	return out[:n]
}

func TestWriterTakesAnyChunks(t *testing.T) {
	s := writable(t)
	rapid.Check(t, func(rt *rapid.T) {
		chunks := rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(rt, "chunks")
		w := must[*Writer](t)(s.Create())
		for _, c := range chunks {
			must[int](t)(w.Write(c))
		}
		d, n, err := w.Commit()
		all := bytes.Join(chunks, nil)
		if err != nil || d != step.Sum(all) || n != int64(len(all)) {
			rt.Fatalf("commit: %s, %d, %v", d, n, err)
		}
		if got, err := s.Read(d); err != nil || !bytes.Equal(got, all) {
			rt.Fatalf("read %q, %v", got, err)
		}
	})
}

func TestAbortLeavesNothing(t *testing.T) {
	s := writable(t)
	w := must[*Writer](t)(s.Create())
	must[int](t)(w.Write([]byte("x")))
	w.Abort()
	w.Abort()
	if _, err := w.Write([]byte("y")); !errors.Is(err, errWriterEnded) {
		t.Errorf("write after abort: %v", err)
	}
	if _, _, err := w.Commit(); !errors.Is(err, errWriterEnded) {
		t.Errorf("commit after abort: %v", err)
	}
	if st := must[Stats](t)(s.Stats()); st.Objects+st.Leftovers != 0 {
		t.Errorf("stats %+v", st)
	}
}

func TestAbortAfterCommitDoesNothing(t *testing.T) {
	s := writable(t)
	w := must[*Writer](t)(s.Create())
	d, _, err := w.Commit()
	check(t, err)
	w.Abort()
	check(t, s.Verify(d))
}

func TestPutFailsWithItsReader(t *testing.T) {
	s := writable(t)
	boom := errors.New("boom")
	if _, err := s.Put(io.MultiReader(strings.NewReader("abc"), errReader{boom})); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if st := must[Stats](t)(s.Stats()); st.Objects+st.Leftovers != 0 {
		t.Errorf("stats %+v", st)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestPutFileTakesRegularFilesOnly(t *testing.T) {
	s := writable(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	check(t, os.WriteFile(path, []byte("content"), 0o600))
	if d := must[step.Digest](t)(s.PutFile(path)); d != step.Sum([]byte("content")) {
		t.Errorf("digest %s", d)
	}
	fifo := filepath.Join(dir, "fifo")
	check(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{dir, fifo, filepath.Join(dir, "absent")} {
		if _, err := s.PutFile(path); err == nil {
			t.Errorf("%s was stored", path)
		}
	}
}

// Every writer is told the same digest, and one object is there.
func TestConcurrentWritersOfTheSameContent(t *testing.T) {
	s := writable(t)
	other := open(t, s.Dir(), Options{Mode: ReadWrite})
	content := randomBytes(100_000)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			d, err := []*Store{s, other}[i%2].PutBytes(content)
			if err != nil || d != step.Sum(content) {
				t.Errorf("put: %s, %v", d, err)
			}
			if got, err := s.Read(d); err != nil || !bytes.Equal(got, content) {
				t.Errorf("read: %d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
	if st := must[Stats](t)(s.Stats()); st.Objects != 1 || st.Leftovers+st.Quarantined != 0 {
		t.Errorf("stats %+v", st)
	}
}

func TestReadsOfAbsentObjects(t *testing.T) {
	s := writable(t)
	d := step.Sum([]byte("absent"))
	_, errOpen := s.Open(d)
	_, errRead := s.Read(d)
	for _, err := range []error{errOpen, errRead, s.Verify(d), s.Quarantine(d)} {
		if !errors.Is(err, ErrMissing) {
			t.Errorf("error %v", err)
		}
	}
	if s.Has(d) {
		t.Error("has it")
	}
}

func TestReadAfterClose(t *testing.T) {
	s := writable(t)
	r := must[io.ReadCloser](t)(s.Open(must[step.Digest](t)(s.PutBytes([]byte("abc")))))
	check(t, r.Close())
	check(t, r.Close())
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v", err)
	}
}
