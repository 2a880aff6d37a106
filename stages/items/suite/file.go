package suite

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cupel-dev/cupel/engine/step"
)

// hashed writes a file and keeps the digest of what was written.
type hashed struct {
	f   *os.File
	w   *bufio.Writer
	sum hash.Hash
}

func create(name string) (*hashed, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	return &hashed{f, bufio.NewWriterSize(f, 1<<16), sha256.New()}, nil
}

func (h *hashed) Write(p []byte) (int, error) {
	h.sum.Write(p)
	return h.w.Write(p)
}

// close makes the content durable.
func (h *hashed) close() (step.Digest, error) {
	err := h.w.Flush()
	if err == nil {
		err = h.f.Sync()
	}
	return step.Digest(h.sum.Sum(nil)), errors.Join(err, h.f.Close())
}

func writeFile(name string, b []byte) error {
	h, err := create(name)
	if err != nil {
		return err
	}
	if _, err = h.Write(b); err != nil {
		h.f.Close()
		return err
	}
	_, err = h.close()
	return err
}

func copyFile(from, to string) (step.Digest, error) {
	src, err := os.Open(from)
	if err != nil {
		return step.Digest{}, err
	}
	defer src.Close()
	h, err := create(to)
	if err != nil {
		return step.Digest{}, err
	}
	if _, err := io.Copy(h, src); err != nil {
		h.f.Close()
		return step.Digest{}, err
	}
	return h.close()
}

func digestOf(name string) (step.Digest, error) {
	f, err := os.Open(name)
	if err != nil {
		return step.Digest{}, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return step.Digest(h.Sum(nil)), err
}

// ErrExists says that a folder of that name is there already.
var ErrExists = errors.New("is there already, and folders of items are never overwritten")

// scratch begins the names of folders that are being made.
const scratch = ".cupel-items-"

// Publish makes a folder: fill writes into a scratch folder beside it, which
// then gets its name in one rename. Whoever is killed meanwhile leaves nothing
// under the name; what is left of it goes with the next one.
func Publish(dir string, fill func(tmp string) error) error {
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	lock, err := lockDir(parent)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := sweep(parent); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, scratch)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := fill(tmp); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := syncDir(tmp); err != nil {
		return err
	}
	return rename(tmp, dir, parent)
}

func rename(tmp, dir, parent string) error {
	switch err := os.Rename(tmp, dir); {
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s %w", dir, ErrExists)
	case err != nil:
		return err
	}
	return syncDir(parent)
}

// Free refuses a folder name that is taken, before long work is done for it.
func Free(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return step.WithHint(fmt.Errorf("%s %w", dir, ErrExists), "give another name")
	}
	return nil
}

// lockDir holds flock(2) on a folder until it is closed: who has it is the only
// one that makes folders in there, so any scratch folder is a dead one.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}

func sweep(parent string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), scratch) {
			if err := os.RemoveAll(filepath.Join(parent, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
