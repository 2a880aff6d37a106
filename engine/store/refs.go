package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// Ref is a named reason to keep something: gc keeps what refs name and what
// the records of the named keys name.
type Ref struct {
	Format  int           `json:"format"` // set by the store
	Name    string        `json:"name"`   // set by the store
	Keys    []step.Key    `json:"keys,omitzero"`
	Objects []step.Digest `json:"objects,omitzero"`
	Note    string        `json:"note,omitzero"`
	Set     time.Time     `json:"set,omitzero"`
}

const refSuffix = ".json"

// checkRefName accepts elements of letters, digits and "._-" between slashes.
// An element neither starts with a dot, so that none leads elsewhere or looks
// unfinished, nor ends like a ref's file.
func checkRefName(name string) error {
	if name == "" || len(name) > 512 {
		return fmt.Errorf("ref name %q: want 1 to 512 bytes", name)
	}
	for elem := range strings.SplitSeq(name, "/") {
		if elem == "" || elem[0] == '.' || len(elem) > 200 || strings.HasSuffix(elem, refSuffix) || strings.ContainsFunc(elem, notInRef) {
			return fmt.Errorf("ref name %q: element %q: want letters, digits, '.', '_' and '-', no dot in front and no %q behind", name, elem, refSuffix)
		}
	}
	return nil
}

func notInRef(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r))
}

func (s *Store) refPath(name string) string { return s.path("refs", name+refSuffix) }

// SetRef points the ref name at what r names, in place of what it named
// before. What r names must be in the store (ErrMissing): refs come last.
func (s *Store) SetRef(name string, r Ref) error {
	if err := checkRefName(name); err != nil {
		return err
	}
	if missing := s.missingOf(r); missing != "" {
		return fmt.Errorf("ref %s: %s: %w", name, missing, ErrMissing)
	}
	r.Format, r.Name, r.Set = Format, name, r.Set.UTC()
	b, err := seal(r)
	if err != nil {
		return fmt.Errorf("ref %s: %w", name, err)
	}
	return s.disk.writeFile(s.refPath(name), b, renewed, true)
}

// missingOf names the first target of r that is not in the store.
func (s *Store) missingOf(r Ref) string {
	for _, d := range r.Objects {
		if !s.Has(d) {
			return "object " + d.Short()
		}
	}
	for _, k := range r.Keys {
		if n, _ := numbered(s.recordDir(k), ".json"); len(n) == 0 {
			return "record of key " + k.Short()
		}
	}
	return ""
}

// Ref returns the ref called name: ErrMissing or *Damaged otherwise.
func (s *Store) Ref(name string) (Ref, error) {
	if err := checkRefName(name); err != nil {
		return Ref{}, err
	}
	var r Ref
	err := readSealed(s.refPath(name), &r)
	if err == nil && r.Name != name {
		err = &Damaged{Path: s.refPath(name), Why: fmt.Sprintf("it is the ref %q", r.Name)}
	}
	if err != nil {
		return Ref{}, fmt.Errorf("ref %s: %w", name, err)
	}
	return r, nil
}

// Refs returns all readable refs sorted by name, and one note for each that
// cannot be read: to gc that is a reason to stop.
func (s *Store) Refs() ([]Ref, []error) {
	var out []Ref
	var notes []error
	root := s.path("refs")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), tempPrefix) {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		r, err := s.Ref(strings.TrimSuffix(filepath.ToSlash(rel), refSuffix))
		if err != nil {
			notes = append(notes, err)
			return nil
		}
		out = append(out, r)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		notes = append(notes, err)
	}
	return out, notes
}

// RemoveRef removes a ref; removing one that is absent is ErrMissing.
func (s *Store) RemoveRef(name string) error {
	if err := checkRefName(name); err != nil {
		return err
	}
	err := s.disk.remove(s.refPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ref %s: %w", name, ErrMissing)
	}
	if err != nil {
		return err
	}
	return s.disk.syncDir(filepath.Dir(s.refPath(name)))
}
