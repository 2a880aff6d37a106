package store

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newDir returns a directory that does not exist yet.
func newDir(t testing.TB) string { return filepath.Join(t.TempDir(), "store") }

func open(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	if opts.Clock == nil {
		opts.Clock = func() time.Time { return noon }
	}
	s, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// writable opens a new store for writing.
func writable(t testing.TB) *Store { return open(t, newDir(t), Options{Mode: ReadWrite}) }

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// preimage returns the i-th key of a family and what it is the hash of.
func preimage(t testing.TB, i int) (step.Key, []byte) {
	t.Helper()
	p := must[step.Preimage](t)(step.NewPreimage(step.Step{
		Name: "score", Kind: "score", Revision: 1, Params: json.RawMessage(fmt.Sprintf(`{"i":%d}`, i)),
	}, map[string]step.Digest{"in": step.Sum([]byte("in"))}))
	return must[step.Key](t)(p.Key()), must[[]byte](t)(p.Canonical())
}

func recordOf(name string, finished time.Time, outputs ...Output) Record {
	return Record{
		Kind: "score", Name: name, Outcome: Done, Outputs: outputs,
		Started: finished.Add(-time.Second), Finished: finished, Host: "h", Version: "v0", RunID: "r",
	}
}

// putOne stores content and a record of key i that names it.
func putOne(t testing.TB, s *Store, i int, content string) (step.Key, step.Digest) {
	t.Helper()
	d := must[step.Digest](t)(s.PutBytes([]byte(content)))
	k, pre := preimage(t, i)
	check(t, s.PutRecord(k, pre, recordOf("score", noon, Output{Name: "out", Digest: d, Size: int64(len(content))})))
	return k, d
}

// overwrite changes a file in place, as nothing in the store would.
func overwrite(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check(t, os.WriteFile(path, b, 0o444))
}

// temps lists the leftovers under dir.
func temps(t testing.TB, dir string) (out []string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(e.Name(), tempPrefix) {
			out = append(out, path)
		}
		return err
	}))
	return out
}

// problems returns what a full check finds, notes aside.
func problems(t testing.TB, s *Store) (found, notes []Problem) {
	t.Helper()
	_, err := s.Check(true, func(p Problem) {
		if p.Kind == ProblemNote {
			notes = append(notes, p)
		} else {
			found = append(found, p)
		}
	})
	check(t, err)
	return found, notes
}

func wantSound(t testing.TB, s *Store) {
	t.Helper()
	if found, _ := problems(t, s); len(found) > 0 {
		t.Fatalf("check found %v", found)
	}
}
