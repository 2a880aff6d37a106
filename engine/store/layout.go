package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/cupel-dev/cupel/engine/step"
)

// tempPrefix starts the name of every file that is not finished; no finished
// file has a name that starts with a dot.
const tempPrefix = ".tmp-"

// Names under the store directory. Every path is built from a digest, a key, a
// number, a ULID or a checked ref name, so none can lead outside.
func (s *Store) path(elem ...string) string {
	return filepath.Join(s.dir, filepath.Join(elem...))
}

func (s *Store) objectPath(d step.Digest) string {
	x := d.String()
	return s.dir + "/objects/" + x[:2] + "/" + x
}

func (s *Store) preimagePath(k step.Key) string {
	x := k.String()
	return s.dir + "/keys/" + x[:2] + "/" + x + ".json"
}

func (s *Store) recordDir(k step.Key) string {
	x := k.String()
	return s.dir + "/steps/" + x[:2] + "/" + x
}

func recordName(n int) string { return strconv.Itoa(n) + ".json" }

// rel shortens a path for messages to one inside the store.
func (s *Store) rel(path string) string {
	return strings.TrimPrefix(path, s.dir+string(filepath.Separator))
}

// parseNumber reads "<n><suffix>" with n > 0 in its only spelling.
func parseNumber(name, suffix string) (int, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && strconv.Itoa(n) == digits
}

// numbered lists the numbers of the files "<n><suffix>" in dir, ascending.
func numbered(dir, suffix string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []int
	for _, e := range entries {
		if n, ok := parseNumber(e.Name(), suffix); ok {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, err
}

// openRegular opens a file for reading. It follows no link and opens nothing
// but a regular file: that is *Damaged. Absence is ErrMissing.
func openRegular(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, &fs.PathError{Op: "open", Path: path, Err: ErrMissing}
	case errors.Is(err, syscall.ELOOP):
		return nil, 0, &Damaged{Path: path, Why: "it is a symbolic link"}
	case err != nil:
		return nil, 0, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &Damaged{Path: path, Why: "it is not a regular file"}
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// maxSmall bounds what is read into memory as one JSON file.
const maxSmall = 64 << 20

// readSmall reads a whole regular file.
func readSmall(path string) ([]byte, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > maxSmall {
		return nil, &Damaged{Path: path, Why: strconv.FormatInt(size, 10) + " bytes are too many"}
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return b, nil
}
