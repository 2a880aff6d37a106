package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
)

// snapshot lists names, sizes, modes, mtimes, inodes and contents.
func snapshot(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	check(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st := must[fs.FileInfo](t)(os.Lstat(path))
		line := fmt.Sprint(path, st.Size(), st.Mode(), st.ModTime(), st.Sys().(*syscall.Stat_t).Ino)
		if st.Mode().IsRegular() {
			line += step.Sum(must[[]byte](t)(os.ReadFile(path))).String()
		}
		out = append(out, line)
		return nil
	}))
	return out
}

// useAll calls every method. Those that would write must say ErrReadOnly.
func useAll(t *testing.T, s *Store, k step.Key, pre []byte, d step.Digest) {
	t.Helper()
	id, _ := s.LatestRun()
	s.ReadRun(id)
	s.Read(d)
	s.Verify(d)
	s.Records(k)
	s.Latest(k)
	s.Preimage(k)
	s.Observation(d)
	s.Refs()
	must[[]step.Key](t)(s.KeysByName("score"))
	must[Stats](t)(s.Stats())
	must[Stats](t)(s.Check(true, func(Problem) {}))
	j := must[*Journal](t)(s.Journal(k))
	check(t, j.Each(func([]byte) error { return nil }))

	_, errPut := s.PutBytes([]byte("new"))
	_, errRun := s.NewRun(noon)
	_, errLock := s.LockKey(context.Background(), k, nil)
	_, errLease := s.Lease("x")
	r := recordOf("score", noon)
	for i, err := range []error{
		errPut, errRun, errLock, errLease, s.PutRecord(k, pre, r), s.PutObservation(d, r),
		s.SetRef("a", Ref{}), s.RemoveRef("campaigns/a"), j.Append([]byte("x")),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("write %d: %v", i, err)
		}
	}
	check(t, s.Close())
}

func TestReadOnlyLeavesTheDirectoryIdentical(t *testing.T) {
	dir := newDir(t)
	check(t, scenario(t, dir, Hooks{}))
	w := open(t, dir, Options{Mode: ReadWrite})
	k, pre := preimage(t, 1)
	attempt(t, w, k, "unfinished")
	d := step.Sum([]byte("content"))
	must[step.Digest](t)(w.PutBytes([]byte("broken")))
	broken := step.Sum([]byte("broken"))
	overwrite(t, w.objectPath(broken), []byte("garbage"))
	check(t, w.Close())

	before := snapshot(t, dir)
	s := open(t, dir, Options{LeaseDir: t.TempDir()})
	useAll(t, s, k, pre, d)
	if err := s.Quarantine(broken); !errors.Is(err, ErrReadOnly) {
		t.Errorf("quarantine: %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// A plan in a fresh checkout finds an empty store and makes none.
func TestReadOnlyOfAnAbsentDirectory(t *testing.T) {
	dir := newDir(t)
	k, pre := preimage(t, 1)
	useAll(t, open(t, dir, Options{}), k, pre, step.Sum(nil))
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
}

func TestOpenRefusesWhatIsNoStore(t *testing.T) {
	for name, c := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"a later format": {func(dir string) error { return writeFormatOf(dir, `{"format":2,"hash":"sha256"}`) }, "format 2"},
		"another hash":   {func(dir string) error { return writeFormatOf(dir, `{"format":1,"hash":"blake3"}`) }, "blake3"},
		"torn format":    {func(dir string) error { return writeFormatOf(dir, `{"format":`) }, "cannot be read"},
		"empty format":   {func(dir string) error { return writeFormatOf(dir, ``) }, "cannot be read"},
		"someone else's": {func(dir string) error { return os.MkdirAll(dir+"/src", 0o755) }, `"src"`},
	} {
		for _, mode := range []Mode{ReadOnly, ReadWrite, Exclusive} {
			dir := newDir(t)
			check(t, c.make(dir))
			before := snapshot(t, dir)
			_, err := Open(dir, Options{Mode: mode})
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s: %v", name, err)
			}
			if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
				t.Errorf("%s: changed:\n%s", name, diff)
			}
		}
	}
}

func writeFormatOf(dir, s string) error {
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(dir+"/format", []byte(s), 0o644))
}

func TestOpenOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	check(t, os.WriteFile(path, nil, 0o644))
	for _, mode := range []Mode{ReadOnly, ReadWrite} {
		if _, err := Open(path, Options{Mode: mode}); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
}

func TestOpenRefusesNetworkFileSystems(t *testing.T) {
	hooks := Hooks{FSType: func(path string) (string, error) {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("asked about %s: %v", path, err)
		}
		return "NFS", nil
	}}
	dir := newDir(t) + "/below/what/exists"
	for _, mode := range []Mode{ReadOnly, ReadWrite} {
		if _, err := Open(dir, Options{Mode: mode, Hooks: hooks}); !errors.Is(err, ErrNetworkFS) || !strings.Contains(err.Error(), "NFS") {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
	open(t, dir, Options{Mode: ReadWrite, Hooks: hooks, AllowNetworkFS: true})
	if kind := must[string](t)(networkFS(dir)); kind != "" {
		t.Errorf("the test directory is on %s", kind)
	}
}
