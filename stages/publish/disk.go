package publish

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cupel-dev/cupel/engine/diskfile"
)

// tempPrefix begins the name of whatever is not complete yet.
const tempPrefix = ".tmp-finding-"

// file is a new file: what Close returned nil for is on the disk.
type file interface {
	io.Writer
	Close() error
}

type syncedFile struct{ *os.File }

func createFile(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	return syncedFile{f}, err
}

// Close makes the content durable before the folder gets its name.
func (f syncedFile) Close() error { return errors.Join(f.Sync(), f.File.Close()) }

// put writes one file whole.
func (w *writer) put(path string, content []byte) error {
	f, err := w.create(path)
	if err != nil {
		return fmt.Errorf("%s cannot be created: %w", filepath.Base(path), diskfile.Cause(err))
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s cannot be written: %w", filepath.Base(path), diskfile.Cause(err))
	}
	return nil
}

// replace puts a file in the place of another in one step; a file with the
// same content is left alone.
func (w *writer) replace(name string, content []byte) error {
	to := filepath.Join(w.root, name)
	if old, err := os.ReadFile(to); err == nil && string(old) == string(content) {
		return nil
	}
	tmp := filepath.Join(w.root, tempPrefix+name)
	err := w.put(tmp, content)
	if err == nil {
		w.at("new " + name)
		err = diskfile.Cause(os.Rename(tmp, to))
	}
	if err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("findings folder %s: %s: %w", w.root, name, err)
	}
	return syncDir(w.root)
}

// sweep removes what a crash left. Only the holder of the lock makes such
// files, so whatever is there belongs to nobody.
func (w *writer) sweep() error {
	entries, err := os.ReadDir(w.root)
	if err != nil {
		return fmt.Errorf("findings folder %s: %w", w.root, diskfile.Cause(err))
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(w.root, e.Name())); err != nil {
			return fmt.Errorf("findings folder %s: %s of an earlier run cannot be removed: %w", w.root, e.Name(), diskfile.Cause(err))
		}
	}
	return nil
}

// syncDir makes names durable. Some file systems cannot; then the kernel does
// it in its own time.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return diskfile.Cause(err)
	}
	_ = d.Sync()
	return d.Close()
}
