package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// familyEntry says that a key belongs to a family. The same stands in the
// entry's path, which is what a look-up reads.
type familyEntry struct {
	Format int         `json:"format"`
	Family step.Digest `json:"family"`
	Key    step.Key    `json:"key"`
}

const familySuffix = ".json"

// familyDir holds one entry for each key of a family.
func (s *Store) familyDir(family step.Digest) string {
	return s.path("families", family.String())
}

// AddToFamily notes that key, which has a record, belongs to a family. Nothing
// is kept by it, and nobody has to believe it: whoever uses a family looks at
// the preimages of its keys.
func (s *Store) AddToFamily(family step.Digest, key step.Key) error {
	if numbers, err := numbered(s.recordDir(key), ".json"); err != nil || len(numbers) == 0 {
		return errors.Join(err, fmt.Errorf("family %s: record of key %s: %w", family.Short(), key.Short(), ErrMissing))
	}
	path := filepath.Join(s.familyDir(family), key.String()+familySuffix)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	b, err := seal(familyEntry{Format, family, key})
	if err != nil {
		return fmt.Errorf("family %s: %w", family.Short(), err)
	}
	if err := s.disk.writeFile(path, b, frozen, false); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // another process was first
}

// Family returns the keys that were noted for a family, sorted. One of them may
// have no record any more.
func (s *Store) Family(family step.Digest) []step.Key {
	entries, err := os.ReadDir(s.familyDir(family))
	if err != nil {
		return nil // an index that cannot be read costs work, and nothing else
	}
	var out []step.Key
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), familySuffix)
		if k, err := step.ParseKey(name); ok && err == nil {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b step.Key) int { return slices.Compare(a[:], b[:]) })
	return out
}

// family checks an entry of the index. A record that it names may be gone: it
// was there when the entry was made, and whoever misses it goes on without.
func (c *checker) family(f file) {
	var want familyEntry
	err := errNotSealed
	if len(f.elem) == 2 {
		var name string
		if want.Family, err = step.ParseDigest(f.elem[0]); err == nil {
			name, _ = strings.CutSuffix(f.elem[1], familySuffix)
			want.Key, err = step.ParseKey(name)
		}
	}
	if err != nil || !strings.HasSuffix(f.rel, familySuffix) {
		c.problem(f, ProblemMisnamed, "entries are named families/<family>/<key>.json")
		return
	}
	c.frozen(f)
	var got familyEntry
	if err := readSealed(f.path, &got); err != nil {
		c.fail(f, err)
		return
	}
	if got.Family != want.Family || got.Key != want.Key {
		c.problem(f, ProblemDamaged, "it belongs elsewhere")
		return
	}
	if numbers, err := numbered(c.s.recordDir(want.Key), ".json"); err == nil && len(numbers) == 0 {
		c.problem(f, ProblemNote, "no record of the key is there; nothing uses the entry")
	}
}
