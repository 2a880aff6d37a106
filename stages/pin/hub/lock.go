package hub

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

// writing takes a folder for one pull. The lock is on the folder itself, so that
// no file stays behind. A network file system may lock only what is open for
// writing, which a folder never is: there a file among the unfinished ones is
// locked instead.
func writing(dir string) (unlock func(), err error) {
	unlock, err = take(dir, flock.New(dir, flock.SetFlag(os.O_RDONLY)), true)
	if !errors.Is(err, errNoLocks) {
		return unlock, err
	}
	return writingFile(dir)
}

// writingFile takes a folder by a file in it.
func writingFile(dir string) (unlock func(), err error) {
	parts := filepath.Join(dir, inventory.PullDir)
	if st, err := os.Lstat(parts); err == nil && !st.IsDir() {
		return nil, step.Mark(ErrConflict, fmt.Errorf("%s is there and is no folder", parts))
	}
	if err := os.MkdirAll(parts, 0o777); err != nil {
		return nil, diskError(fmt.Errorf("%s: %w", parts, diskfile.Cause(err)))
	}
	l := flock.New(filepath.Join(parts, "lock"))
	if unlock, err = take(dir, l, true); errors.Is(err, errNoLocks) {
		return nil, step.WithHint(fmt.Errorf("folder %s cannot be locked, and two pulls at once would spoil one another", dir), "pull into a folder of a file system with locks")
	}
	return unlock, err
}

// Reading keeps a folder from being pulled into while it is read, where folders
// can be locked.
func Reading(dir string) (unlock func(), err error) {
	unlock, err = take(dir, flock.New(dir, flock.SetFlag(os.O_RDONLY)), false)
	if errors.Is(err, errNoLocks) {
		return func() {}, nil
	}
	return unlock, err
}

// errNoLocks marks that there are no such locks here.
var errNoLocks = errors.New("no locks")

func take(dir string, l *flock.Flock, write bool) (func(), error) {
	try := l.TryRLock
	if write {
		try = l.TryLock
	}
	ok, err := try()
	switch {
	case isNoLock(err):
		return nil, errNoLocks
	case err != nil:
		return nil, fmt.Errorf("folder %s cannot be locked: %w", dir, diskfile.Cause(err))
	case !ok:
		return nil, step.WithHint(fmt.Errorf("another process works on %s", dir), "wait until it has ended")
	}
	return func() { _ = l.Close() }, nil
}

// isNoLock reports errors of file systems that cannot lock this.
func isNoLock(err error) bool {
	for _, e := range []error{errors.ErrUnsupported, syscall.EBADF, syscall.EISDIR, syscall.EINVAL, syscall.ENOLCK, syscall.ENOTSUP, syscall.ENOSYS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
