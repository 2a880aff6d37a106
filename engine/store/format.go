package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
)

// Format is the number of the on-disk format that this package writes.
const Format = 1

const formatFile = `{"format":1,"hash":"sha256"}` + "\n"

// readFormat reports whether the directory is a store. A directory that does
// not exist or holds nothing finished is one that has yet to be created.
func (s *Store) readFormat() (exists bool, err error) {
	b, err := readSmall(s.path("format"))
	if errors.Is(err, ErrMissing) || isNotDir(err) {
		return false, s.mayCreate()
	}
	if err != nil {
		return false, fmt.Errorf("store %s: %w", s.dir, err)
	}
	var f struct {
		Format int    `json:"format"`
		Hash   string `json:"hash"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		err = fmt.Errorf("store %s: %w: its file \"format\" cannot be read", s.dir, ErrFormat)
		return false, step.WithHint(err, "if the rest is sound, write "+strings.TrimSpace(formatFile)+" into it and run `cupel store check`")
	}
	if f.Format != Format || f.Hash != "sha256" {
		err := fmt.Errorf("store %s: %w: it has format %d with hash %q, this cupel knows format %d with hash \"sha256\"", s.dir, ErrFormat, f.Format, f.Hash, Format)
		return false, step.WithHint(err, "use the cupel that wrote it, or name another directory with --store")
	}
	return true, nil
}

func isNotDir(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) && errors.Is(pe.Err, syscall.ENOTDIR)
}

// mayCreate refuses a directory that holds anything of someone else's.
func (s *Store) mayCreate() error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", s.dir, diskfile.Cause(err))
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) {
			err := fmt.Errorf("store %s: %w: it has no file \"format\", but %q", s.dir, ErrFormat, e.Name())
			return step.WithHint(err, "name an empty or a new directory with --store")
		}
	}
	return nil
}

func (s *Store) writeFormat() error {
	if err := s.disk.mkdirs(s.dir); err != nil {
		return err
	}
	return s.disk.writeFile(s.path("format"), []byte(formatFile), renewed, true)
}
