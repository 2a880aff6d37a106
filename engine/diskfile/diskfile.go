// Package diskfile reads files of bounded size, and words what the system says of them.
package diskfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read reads a regular file of at most limit bytes. Folders, devices and pipes, on
// which opening could wait for ever, are refused. Errors begin with the name.
func Read(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, Cause(err))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", name)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s: %d bytes, allowed %d", name, info.Size(), limit)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, Cause(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, Cause(err))
	case int64(len(b)) > limit: // it grew
		return nil, fmt.Errorf("%s: more than %d bytes", name, limit)
	}
	return b, nil
}

// Cause drops the operation and the paths that package os puts in front, for
// messages that name the file already.
func Cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
