package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
)

var errKilled = errors.New("killed")

// trace records the points of a scenario as "point path", with what is random
// in a path replaced.
type trace struct {
	dir    string
	points []string
}

func (tr *trace) at(p Point, path string) error {
	elem := strings.Split(strings.TrimPrefix(path, tr.dir), "/")
	for i, e := range elem {
		switch {
		case strings.HasPrefix(e, tempPrefix):
			elem[i] = "TEMP"
		case len(e) >= 64:
			elem[i] = "HASH" + e[64:]
		case i > 0 && len(e) == 2 && elem[i-1] != "runs":
			elem[i] = "ab"
		}
	}
	tr.points = append(tr.points, string(p)+" "+strings.Join(elem, "/"))
	return nil
}

// points counts the changes of an undisturbed scenario.
func points(t *testing.T) int {
	t.Helper()
	n := 0
	check(t, scenario(t, newDir(t), Hooks{At: func(Point, string) error { n++; return nil }}))
	return n
}

// The write order is the promise that everything else rests on.
func TestWriteOrder(t *testing.T) {
	tr := &trace{}
	s := open(t, newDir(t), Options{Mode: ReadWrite, Hooks: Hooks{At: tr.at}})
	tr.dir, tr.points = s.Dir(), nil
	k, pre := preimage(t, 1)
	d := must[step.Digest](t)(s.PutBytes([]byte("content")))
	blob := tr.points
	tr.points = nil
	check(t, s.PutRecord(k, pre, recordOf("score", noon, Output{Name: "out", Digest: d, Size: 7})))
	if diff := cmp.Diff([]string{
		"make directory /tmp", "sync directory ",
		"create temporary file /tmp/TEMP", "write /tmp/TEMP", "sync /tmp/TEMP",
		"make directory /objects", "sync directory ",
		"make directory /objects/ab", "sync directory /objects",
		"rename to /objects/ab/HASH", "sync directory /objects/ab",
	}, blob); diff != "" {
		t.Errorf("blob:\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"make directory /keys", "sync directory ",
		"make directory /keys/ab", "sync directory /keys",
		"create temporary file /keys/ab/TEMP", "write /keys/ab/TEMP", "sync /keys/ab/TEMP",
		"rename to /keys/ab/HASH.json", "sync directory /keys/ab",
		"make directory /steps", "sync directory ",
		"make directory /steps/ab", "sync directory /steps",
		"make directory /steps/ab/HASH", "sync directory /steps/ab",
		"create temporary file /steps/ab/HASH/TEMP", "write /steps/ab/HASH/TEMP", "sync /steps/ab/HASH/TEMP",
		"link to /steps/ab/HASH/1.json", "remove /steps/ab/HASH/TEMP", "sync directory /steps/ab/HASH",
	}, tr.points); diff != "" {
		t.Errorf("record:\n%s", diff)
	}
}

// A full disk at any change: the error says so and where, nothing half-written
// is visible, no temporary file stays, and the next run finishes the work.
func TestNoSpaceAtEveryChange(t *testing.T) {
	for i := range points(t) {
		dir := newDir(t)
		n, failed := 0, Point("")
		err := scenario(t, dir, Hooks{At: func(p Point, path string) error {
			if n++; n == i+1 {
				failed = p
				return &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
			}
			return nil
		}})
		if !errors.Is(err, ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), filepath.Dir(dir)) {
			t.Fatalf("change %d (%s): %v", i, failed, err)
		}
		if left := temps(t, filepath.Dir(dir)); len(left) > 0 && failed != PointRemove {
			t.Errorf("change %d (%s) leaves %v", i, failed, left)
		}
		afterFault(t, dir, i, failed)
	}
}

// Half of a write reaches the disk, with and without an error.
func TestShortWrites(t *testing.T) {
	writes := 0
	check(t, scenario(t, newDir(t), Hooks{Write: func(f *os.File, p []byte) (int, error) { writes++; return f.Write(p) }}))
	for i := range writes {
		for _, cause := range []error{nil, syscall.ENOSPC} {
			dir := newDir(t)
			n := 0
			err := scenario(t, dir, Hooks{Write: func(f *os.File, p []byte) (int, error) {
				if n++; n != i+1 {
					return f.Write(p)
				}
				half, err := f.Write(p[:len(p)/2])
				return half, errors.Join(cause, err)
			}})
			want := cause
			if want == nil {
				want = io.ErrShortWrite
			}
			if !errors.Is(err, want) {
				t.Fatalf("write %d: %v, want %v", i, err, want)
			}
			if left := temps(t, filepath.Dir(dir)); len(left) > 0 {
				t.Errorf("write %d leaves %v", i, left)
			}
			afterFault(t, dir, i, PointWrite)
		}
	}
}

// Killed before any change: nothing after that change happens, no clean-up
// either. The next run finishes the work without being told.
func TestKilledBeforeEveryChange(t *testing.T) {
	for i := range points(t) {
		dir := newDir(t)
		n := 0
		err := scenario(t, dir, Hooks{At: func(Point, string) error {
			if n++; n > i {
				return errKilled
			}
			return nil
		}})
		if !errors.Is(err, errKilled) {
			t.Fatalf("change %d: %v", i, err)
		}
		afterFault(t, dir, i, "killed")
	}
}

func afterFault(t *testing.T, dir string, i int, p Point) {
	t.Helper()
	if err := scenarioHolds(t, dir); err != nil {
		t.Fatalf("after change %d (%s): %v", i, p, err)
	}
	if err := scenario(t, dir, Hooks{}); err != nil {
		t.Fatalf("again after change %d (%s): %v", i, p, err)
	}
	if err := scenarioDone(t, dir); err != nil {
		t.Fatalf("again after change %d (%s): %v", i, p, err)
	}
}

// The file is shorter than what was written: the disk lied.
func TestLostBytesAreNoticed(t *testing.T) {
	s := open(t, newDir(t), Options{Mode: ReadWrite, Hooks: Hooks{Write: func(f *os.File, p []byte) (int, error) {
		if strings.Contains(f.Name(), "/store/tmp/") {
			f.Write(p[1:])
			return len(p), nil
		}
		return f.Write(p)
	}}})
	if _, err := s.PutBytes([]byte("content")); err == nil || !strings.Contains(err.Error(), "bytes were written") {
		t.Errorf("error %v", err)
	}
	if st := must[Stats](t)(s.Stats()); st.Objects+st.Leftovers != 0 {
		t.Errorf("stats %+v", st)
	}
}
