package inventory

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
)

// maxBytes of an inventory file: 100,000 files with long names.
const maxBytes = 128 << 20

// ErrCorrupt marks an inventory that cannot be trusted.
var ErrCorrupt = errors.New("corrupt inventory")

// Load reads the inventory of a folder. Without one, errors.Is(err,
// fs.ErrNotExist) holds.
func Load(dir string) (*Inventory, error) {
	f, size, err := openRegular(filepath.Join(dir, File))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, File), err)
	}
	defer f.Close()
	if size > maxBytes {
		return nil, corrupt(dir, fmt.Errorf("%d bytes, and at most %d are read", size, maxBytes))
	}
	b, err := io.ReadAll(io.LimitReader(f, maxBytes))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, File), diskfile.Cause(err))
	}
	v, err := Decode(b)
	if err != nil {
		return nil, corrupt(dir, err)
	}
	return v, nil
}

func corrupt(dir string, err error) error {
	err = fmt.Errorf("inventory %s: %w", filepath.Join(dir, File), err)
	return step.Mark(ErrCorrupt, step.WithHint(err, "remove it, and write it again with `cupel models inventory`, which checks the files against the hub"))
}

// Save puts a sealed inventory into its folder: whole, or not at all. One that
// could not be read again is not written.
func (v *Inventory) Save(dir string) (err error) {
	b, err := v.Encode()
	if err != nil {
		return err
	}
	if _, err := Decode(b); err != nil {
		return fmt.Errorf("inventory of %s: %w", dir, err)
	}
	name := filepath.Join(dir, File)
	f, err := os.CreateTemp(dir, File+".*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", name, diskfile.Cause(err))
	}
	_, err = f.Write(b)
	err = errors.Join(diskfile.Cause(err), f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s cannot be written: %w", name, err), os.Remove(f.Name()))
	}
	return SyncDir(dir)
}

// SyncDir makes the names in a folder durable. Some file systems cannot; then
// the kernel does it in its own time.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

func sortedPaths(paths []string) []string {
	slices.Sort(paths)
	return paths
}
