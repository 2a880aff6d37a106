package library

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// replace puts a file in the place of another in one step.
func (k keeper) replace(name string, b []byte) error {
	f, err := os.CreateTemp(k.dir, ".new-*")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := os.Rename(f.Name(), filepath.Join(k.dir, name)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return syncDir(k.dir)
}

// syncDir makes names durable, where the file system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

// lock keeps a second import of the source out. The folder itself is locked, so
// that no file stays behind.
func lock(dir string) (unlock func(), err error) {
	l := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	switch err := l.Lock(); {
	case errors.Is(err, errors.ErrUnsupported):
		return func() {}, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be locked: %w", dir, err)
	}
	return func() { _ = l.Close() }, nil
}
