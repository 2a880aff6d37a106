package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// Set is an item set: one .jsonl file, a split folder or a frozen suite.
type Set struct {
	Name     string    // as it was named
	Manifest *Manifest // of a frozen suite
	Split    *Split    // when a part is held out

	dir   string // "" for a file
	items string // file of the items that everybody may read
}

// Entry is what the index says of a held-out item.
type Entry struct {
	ID      string            `json:"id"`
	Strata  map[string]string `json:"strata,omitempty"`
	Source  string            `json:"source,omitempty"`
	Weight  *float64          `json:"weight,omitempty"`
	Cluster string            `json:"cluster,omitempty"`
}

// ErrTampered says that a folder does not hold what its digests say.
var ErrTampered = errors.New("is not what was frozen")

// Open finds an item set and checks everything that can be checked without an
// identity against its digests.
func Open(name string) (*Set, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return &Set{Name: name, items: name}, nil
	}
	s := &Set{Name: name, dir: name}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func (s *Set) load() error {
	var m Manifest
	err := readJSON(filepath.Join(s.dir, ManifestFile), &m, false)
	if err == nil {
		s.Manifest, s.Split = &m, m.Split
		return s.verify()
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.Split = &Split{}
	err = readJSON(filepath.Join(s.dir, SplitFile), s.Split, true)
	if errors.Is(err, os.ErrNotExist) {
		return step.WithHint(fmt.Errorf("there is neither %s nor %s", ManifestFile, SplitFile), "name a frozen suite, a split folder or a .jsonl file")
	}
	if err != nil {
		return err
	}
	return s.verifySplit()
}

func (s *Set) verify() error {
	m := s.Manifest
	if m.Name == "" || !filepath.IsLocal(m.Items) {
		return fmt.Errorf("%s: name and items are required, and items is a file inside the folder", ManifestFile)
	}
	if !m.Digest.IsZero() || m.Labels != nil || m.Split != nil { // a hand-written suite.json has none of these
		if d, err := m.contentDigest(); err != nil || d != m.Digest {
			return errors.Join(err, tampered(ManifestFile, m.Digest, d))
		}
	}
	if m.BuildReport != nil {
		if err := s.expect(ReportFile, *m.BuildReport); err != nil {
			return err
		}
	}
	if err := s.verifyMedia(); err != nil {
		return err
	}
	if s.Split != nil {
		if dev := s.Split.Development; dev != (Part{m.Items, m.Count, m.SHA256}) {
			return fmt.Errorf("%s: split.development and items disagree", ManifestFile)
		}
		return s.verifySplit()
	}
	s.items = filepath.Join(s.dir, m.Items)
	if m.SHA256.IsZero() && m.Digest.IsZero() {
		return nil
	}
	return s.expect(m.Items, m.SHA256)
}

func (s *Set) verifySplit() error {
	sp := s.Split
	for _, file := range []struct {
		name string
		sum  step.Digest
	}{{sp.Development.File, sp.Development.SHA256}, {sp.HeldOut.File, sp.HeldOut.Encrypted}, {sp.HeldOut.Index, sp.HeldOut.IndexSum}} {
		if err := s.expect(file.name, file.sum); err != nil {
			return err
		}
	}
	s.items = filepath.Join(s.dir, sp.Development.File)
	return nil
}

func (s *Set) expect(file string, want step.Digest) error {
	if !filepath.IsLocal(file) {
		return fmt.Errorf("%q is not a file inside the folder", file)
	}
	if info, err := os.Stat(filepath.Join(s.dir, file)); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", file) // reading a pipe would wait for ever
	}
	got, err := digestOf(filepath.Join(s.dir, file))
	if err == nil && got != want {
		err = tampered(file, want, got)
	}
	return err
}

func tampered(file string, want, got step.Digest) error {
	return step.WithHint(fmt.Errorf("%s %w: its digest is %s, recorded is %s", file, ErrTampered, got.Short(), want.Short()),
		"restore the folder; a change is a new version")
}

// Open reads the items that everybody may read, in file order.
func (s *Set) Open(f func(items.Item) error) error {
	r, err := os.Open(s.items)
	if err != nil {
		return err
	}
	defer r.Close()
	return items.ReadNamed(s.itemsName(), r, f)
}

// Lint is items.LintNamed for the items that everybody may read.
func (s *Set) lint(check func(items.Item) []error) ([]error, error) {
	r, err := os.Open(s.items)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return items.LintNamed(s.itemsName(), r, check), nil
}

func (s *Set) itemsName() string {
	if s.dir == "" {
		return s.Name
	}
	return filepath.Join(s.Name, filepath.Base(s.items))
}

// HasHeldOut reports whether items are held out.
func (s *Set) HasHeldOut() bool { return s.Split != nil && s.Split.HeldOut.Count > 0 }

// Index reads ids and labels of the held-out items, which needs no identity.
func (s *Set) Index(f func(Entry) error) error {
	if !s.HasHeldOut() {
		return nil
	}
	r, err := os.Open(filepath.Join(s.dir, s.Split.HeldOut.Index))
	if err != nil {
		return err
	}
	defer r.Close()
	return items.ReadRows(filepath.Join(s.Name, IndexFile), r, f)
}

// Report is the build report that stands beside the items, "" when there is
// none.
func (s *Set) Report() string {
	name := filepath.Join(filepath.Dir(s.items), ReportFile)
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return name
}
