package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/cupel-dev/cupel/engine/diskfile"
)

// disk is the one gate through which everything under the store directory is
// changed. A read-only store stays so because its gate is shut.
type disk struct {
	hooks    Hooks
	readOnly bool
}

func (d *disk) at(p Point, path string) error {
	if d.readOnly {
		return diskError(p, path, ErrReadOnly)
	}
	if d.hooks.At == nil {
		return nil
	}
	if err := d.hooks.At(p, path); err != nil {
		return diskError(p, path, err)
	}
	return nil
}

// do passes the gate and makes the change.
func (d *disk) do(p Point, path string, change func() error) error {
	if err := d.at(p, path); err != nil {
		return err
	}
	if err := change(); err != nil {
		return diskError(p, path, diskfile.Cause(err))
	}
	return nil
}

// mkdirs makes dir and what is missing above it, each made durable in its
// parent.
func (d *disk) mkdirs(dir string) error {
	if st, err := os.Stat(dir); err == nil && st.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := d.mkdirs(parent); err != nil {
			return err
		}
	}
	err := d.do(PointMkdir, dir, func() error { return os.Mkdir(dir, 0o777) })
	if errors.Is(err, fs.ErrExist) {
		if st, statErr := os.Stat(dir); statErr == nil && st.IsDir() {
			err = nil // another process was first
		}
	}
	if err != nil {
		return err
	}
	return d.syncDir(parent)
}

// syncDir makes the names in dir durable.
func (d *disk) syncDir(dir string) error {
	return d.do(PointSyncDir, dir, func() error {
		f, err := os.Open(dir)
		if err != nil {
			return err
		}
		defer f.Close()
		err = d.fsync(f)
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
			return nil // this file system has no such thing, and needs none
		}
		return err
	})
}

func (d *disk) remove(path string) error {
	return d.do(PointRemove, path, func() error { return os.Remove(path) })
}

// rename moves old to path and makes that durable.
func (d *disk) rename(old, path string) error {
	if err := d.do(PointRename, path, func() error { return os.Rename(old, path) }); err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(path))
}

// write writes all of p to f or says why not.
func (d *disk) write(f *os.File, p []byte) (n int, err error) {
	err = d.do(PointWrite, f.Name(), func() (err error) {
		if d.hooks.Write != nil {
			n, err = d.hooks.Write(f, p)
		} else {
			n, err = f.Write(p)
		}
		if err == nil && n < len(p) {
			err = io.ErrShortWrite
		}
		return err
	})
	return n, err
}

func (d *disk) sync(f *os.File) error {
	return d.do(PointSync, f.Name(), func() error { return d.fsync(f) })
}

func (d *disk) fsync(f *os.File) error {
	if d.hooks.Sync != nil {
		return d.hooks.Sync(f)
	}
	return f.Sync()
}

// appendTo creates the append-only file path, which must not exist.
func (d *disk) appendTo(path string) (f *os.File, err error) {
	err = d.do(PointCreate, path, func() (err error) {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
		return err
	})
	return f, err
}

// Modes of published files.
const (
	frozen  fs.FileMode = 0o444 // never changed
	renewed fs.FileMode = 0o644 // replaced as a whole
)

// temp is a file under a temporary name on its way to a final one. Exactly one
// of replace, publish and discard ends it.
type temp struct {
	d    *disk
	f    *os.File
	path string
	n    int64
}

// temp creates a temporary file in dir, and dir when it is missing.
func (d *disk) temp(dir string) (*temp, error) {
	if err := d.mkdirs(dir); err != nil {
		return nil, err
	}
	t := &temp{d: d, path: filepath.Join(dir, tempPrefix+randomName())}
	err := d.do(PointTemp, t.path, func() (err error) {
		t.f, err = os.OpenFile(t.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func randomName() string {
	var b [12]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program first
	return hex.EncodeToString(b[:])
}

// Write implements io.Writer.
func (t *temp) Write(p []byte) (int, error) {
	n, err := t.d.write(t.f, p)
	t.n += int64(n)
	return n, err
}

// settle checks the length, sets the mode and makes the content durable.
func (t *temp) settle(mode fs.FileMode) error {
	st, err := t.f.Stat()
	if err != nil {
		return err
	}
	if st.Size() != t.n {
		return fmt.Errorf("%s: %d bytes were written, the file has %d", t.path, t.n, st.Size())
	}
	if err := t.f.Chmod(mode); err != nil {
		return err
	}
	if err := t.d.sync(t.f); err != nil {
		return err
	}
	return t.f.Close()
}

// replace gives the settled file its name, in place of what had it before.
func (t *temp) replace(path string) error {
	if err := t.d.mkdirs(filepath.Dir(path)); err != nil {
		return err
	}
	return t.d.rename(t.path, path)
}

// publish gives the settled file its name unless something has it already:
// then the error is fs.ErrExist.
func (t *temp) publish(path string) error {
	if err := t.d.do(PointLink, path, func() error { return os.Link(t.path, path) }); err != nil {
		return err
	}
	if err := t.d.remove(t.path); err != nil {
		return err
	}
	return t.d.syncDir(filepath.Dir(path))
}

// discard removes the temporary file if it still has its temporary name.
func (t *temp) discard() {
	t.f.Close()
	if _, err := os.Lstat(t.path); err == nil {
		_ = t.d.remove(t.path) // what stays is a leftover that check reports
	}
}

// writeFile puts b under path. When replace is false and path exists, the
// error is fs.ErrExist.
func (d *disk) writeFile(path string, b []byte, mode fs.FileMode, replace bool) error {
	if len(b) > maxSmall {
		return fmt.Errorf("%s: %d bytes are more than a reader accepts (%d)", path, len(b), maxSmall)
	}
	t, err := d.temp(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer t.discard()
	if _, err := t.Write(b); err != nil {
		return err
	}
	if err := t.settle(mode); err != nil {
		return err
	}
	if replace {
		return t.replace(path)
	}
	return t.publish(path)
}
