package store

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// Objects returns the digests of the objects whose name begins with prefix, at
// least two digits of it, sorted.
func (s *Store) Objects(prefix string) ([]step.Digest, error) {
	if len(prefix) < 2 {
		return nil, errors.New("objects: a prefix has at least 2 digits")
	}
	entries, err := os.ReadDir(s.path("objects", prefix[:2]))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []step.Digest
	for _, e := range entries {
		if d, err := step.ParseDigest(e.Name()); err == nil && strings.HasPrefix(e.Name(), prefix) {
			out = append(out, d)
		}
	}
	return out, err
}
