package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/diskfile"
)

// flock is a held flock(2). The kernel gives it up with its process, so there
// is no stale lock and nothing to break.
type flock struct{ f *os.File }

// tryFlock takes the lock file at path, or returns a nil flock and whoever
// holds it.
func tryFlock(path string, shared bool) (*flock, Owner, error) {
	for range 1000 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o666)
		if err != nil {
			return nil, Owner{}, diskError("create", path, diskfile.Cause(err))
		}
		l, owner, err := lockFile(f, path, shared)
		if !errors.Is(err, errUnlinked) {
			return l, owner, err
		}
	}
	return nil, Owner{}, fmt.Errorf("lock %s: the file changes its identity all the time; locks do not work on this file system", path)
}

var errUnlinked = errors.New("lock file was unlinked meanwhile")

// lockFile locks f, which was opened at path, or closes it. The last holder
// may have unlinked it since: what counts is a lock on the file that has the
// name now.
func lockFile(f *os.File, path string, shared bool) (*flock, Owner, error) {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	err := flockRetry(f, how|syscall.LOCK_NB)
	if err == nil && hasName(f, path) {
		return &flock{f}, Owner{}, nil
	}
	defer f.Close()
	switch {
	case err == nil:
		return nil, Owner{}, errUnlinked
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, readOwner(f), nil
	}
	return nil, Owner{}, diskError("flock", path, err)
}

func flockRetry(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func hasName(f *os.File, path string) bool {
	a, errA := f.Stat()
	b, errB := os.Lstat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// sign writes the owner into the lock file. A full disk may prevent it: the
// lock holds all the same, and others read "another process".
func (l *flock) sign(o Owner) {
	if b, err := json.Marshal(o); err == nil && l.f.Truncate(0) == nil {
		_, _ = l.f.WriteAt(append(b, '\n'), 0)
	}
}

func (l *flock) unsign() { _ = l.f.Truncate(0) }

// unlock lets go of a lock whose file stays.
func (l *flock) unlock() { l.f.Close() }

// unlockAndRemove lets go of an exclusive lock and removes its file, while it
// is still held: nobody can then remove a file that someone else has locked.
func (l *flock) unlockAndRemove() {
	if hasName(l.f, l.f.Name()) {
		_ = os.Remove(l.f.Name()) // a lock file that stays is harmless
	}
	l.f.Close()
}
