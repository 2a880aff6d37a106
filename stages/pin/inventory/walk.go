package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
)

// MaxFiles bounds a folder and a listing.
const MaxFiles = 100_000

// Walk lists the files of a model folder with slashes, in the order of their
// bytes, without those that tools keep there. A link to a file counts as that
// file: what an engine reads is its content.
func Walk(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case own(rel) && d.IsDir():
			return filepath.SkipDir
		case own(rel) || d.IsDir():
			return nil
		case len(paths) == MaxFiles:
			return fmt.Errorf("%s holds more than %d files", dir, MaxFiles)
		}
		paths = append(paths, rel)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("folder %s: %w", dir, fs.ErrNotExist)
	}
	return sortedPaths(paths), err
}

// ErrFolder marks a folder that cannot be a model's.
var ErrFolder = errors.New("no model folder")

// Files is Walk of a folder that holds at least one file, all of them with names
// that an inventory can hold.
func Files(dir string) ([]string, error) {
	paths, err := Walk(dir)
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s holds no files of a model", dir)
	}
	for _, p := range paths {
		err = cmp.Or(err, CheckPath(p))
	}
	return paths, step.Mark(ErrFolder, err)
}

// Read hashes every file of a folder. look is told of each before it is read.
func Read(ctx context.Context, dir string, look func(path string)) (files []Entry, err error) {
	paths, err := Files(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		look(p)
		e, _, err := HashFile(ctx, dir, p)
		if err != nil {
			return nil, err
		}
		files = append(files, e)
	}
	return files, nil
}

// HashFile reads one file. Its size is that of what was read.
func HashFile(ctx context.Context, dir, path string) (e Entry, blob string, err error) {
	f, size, err := openRegular(filepath.Join(dir, filepath.FromSlash(path)))
	if err != nil {
		return Entry{}, "", fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	h := NewHasher(size)
	if err := h.Copy(ctx, f); err != nil {
		return Entry{}, "", fmt.Errorf("%s: %w", path, diskfile.Cause(err))
	}
	if h.Size() != size {
		return Entry{}, "", fmt.Errorf("%s had %d bytes and then %d: somebody is writing it", path, size, h.Size())
	}
	return Entry{Path: path, Size: size, SHA256: h.SHA256()}, h.GitBlob(), nil
}

var errNotRegular = errors.New("not a file, nor a link to one")

func openRegular(name string) (*os.File, int64, error) {
	st, err := os.Stat(name) // first: opening a pipe would wait for its writer
	if err != nil {
		return nil, 0, diskfile.Cause(err)
	}
	if !st.Mode().IsRegular() {
		return nil, 0, errNotRegular
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, diskfile.Cause(err)
	}
	st, err = f.Stat()
	if err != nil {
		return nil, 0, errors.Join(diskfile.Cause(err), f.Close())
	}
	return f, st.Size(), nil
}

// DigestFile is the SHA-256 of one file.
func DigestFile(ctx context.Context, name string) (step.Digest, error) {
	e, _, err := HashFile(ctx, filepath.Dir(name), filepath.Base(name))
	return e.SHA256, err
}
