package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

//go:embed template
var templateFiles embed.FS

// copyTree writes every file of src below dir, under rename(name). A file that
// is there already is left as it is: it may have been edited. It returns what
// was written, relative to dir.
func copyTree(src fs.FS, dir string, rename func(string) string) ([]string, error) {
	var written []string
	err := fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(src, name)
		if err != nil {
			return err
		}
		to := rename(name)
		ok, err := writeNew(filepath.Join(dir, filepath.FromSlash(to)), b)
		if ok {
			written = append(written, to)
		}
		return err
	})
	return written, err
}

// writeNew writes a file that is not there yet, whole or not at all.
func writeNew(name string, b []byte) (bool, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return false, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".cupel-new-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(b); err != nil {
		f.Close()
		return false, fmt.Errorf("%s: %w", name, err)
	}
	if err := errors.Join(f.Chmod(0o666&^umask), f.Close()); err != nil {
		return false, err
	}
	err = os.Link(f.Name(), name) // unlike a rename it does not replace
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// umask leaves files readable and writable for their owner and readable for
// others, as an editor would.
const umask = 0o022

func under(prefix string) func(string) string {
	return func(name string) string { return path.Join(prefix, name) }
}
