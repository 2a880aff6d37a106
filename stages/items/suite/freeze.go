package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// FreezeOptions name a version.
type FreezeOptions struct {
	Name, Version string
	Parent        *Set                                   // the version that this one refreshes, or nil
	BuildReport   string                                 // file name of build-report.json, or ""
	Readme        []byte                                 // goes along as README.md for people, and is in no digest
	Scorer        func(name string) (id string, ok bool) // name/version of a scorer
}

// ErrPublished says that the version exists with other content.
var ErrPublished = errors.New("is published with other content, and a version never changes")

// Freeze publishes a set as the folder dir. fresh is false when exactly this
// version is there already: freezing twice is no error, and writes nothing.
func Freeze(ctx context.Context, from *Set, dir string, o FreezeOptions) (m Manifest, fresh bool, err error) {
	if m, err = describe(from, o); err != nil {
		return m, false, err
	}
	err = Publish(dir, func(tmp string) error {
		if err := fillFrozen(from, tmp, o.BuildReport, &m); err != nil {
			return err
		}
		if o.Readme != nil {
			if err := writeFile(filepath.Join(tmp, ReadmeFile), o.Readme); err != nil {
				return err
			}
		}
		if err := unpublished(dir, &m); err != nil {
			return err
		}
		return errors.Join(ctx.Err(), WriteJSON(filepath.Join(tmp, ManifestFile), m))
	})
	if errors.Is(err, errSame) {
		return m, false, nil
	}
	return m, err == nil, err
}

func describe(from *Set, o FreezeOptions) (Manifest, error) {
	m := Manifest{Name: o.Name, Version: o.Version, Items: ItemsFile, Split: from.Split}
	if from.Manifest != nil {
		return m, fmt.Errorf("%s is frozen already, as %s version %s", from.Name, from.Manifest.Name, from.Manifest.Version)
	}
	if err := errors.Join(CheckName("name", o.Name), CheckName("version", o.Version)); err != nil {
		return m, err
	}
	if err := m.follow(o.Parent); err != nil {
		return m, err
	}
	if err := keepsSides(from, o.Parent); err != nil {
		return m, err
	}
	c, err := from.Census()
	if err != nil {
		return m, err
	}
	m.Count, m.Labels, m.Sources, m.Strata = c.Development, c.Labels, c.Sources, c.DevelopmentLabels[PrimaryLabel]
	if m.Strata == nil {
		m.Strata = map[string]int{}
	}
	for _, name := range c.Scorers {
		id, ok := o.Scorer(name)
		if !ok {
			return m, step.WithHint(fmt.Errorf("there is no scorer %q", name), "`cupel items lint` says which items name it")
		}
		m.Scorers = append(m.Scorers, id)
	}
	if o.BuildReport != "" {
		m.BuildReport = &step.Digest{}
	}
	return m, nil
}

func (m *Manifest) follow(parent *Set) error {
	if parent == nil {
		return nil
	}
	p := parent.Manifest
	switch {
	case p == nil || p.Digest.IsZero():
		return fmt.Errorf("the parent %s is not a frozen suite", parent.Name)
	case p.Name != m.Name:
		return fmt.Errorf("the parent %s is a version of %s, not of %s", parent.Name, p.Name, m.Name)
	case p.Version == m.Version:
		return step.WithHint(fmt.Errorf("the parent %s is version %s already", parent.Name, p.Version), "a refresh is a new version")
	}
	m.Parent, m.ParentDigest = p.Version, &p.Digest
	return nil
}

// keepsSides refuses a refresh that moves items: what was held out would stand
// in the open, and what was open could be called held out.
func keepsSides(from, parent *Set) error {
	if parent == nil || parent.Split == nil {
		return nil
	}
	fixed, err := published(parent)
	if err != nil {
		return err
	}
	now, err := published(from)
	if err != nil {
		return err
	}
	var moved []string
	for id, s := range now {
		if was := fixed[id]; was != undecided && was != s {
			moved = append(moved, id)
		}
	}
	if len(moved) == 0 && from.Split != nil {
		return nil
	}
	slices.Sort(moved)
	what := fmt.Errorf("%s is not split, and its parent %s is", from.Name, parent.Name)
	if len(moved) > 0 {
		what = fmt.Errorf("%d item(s) changed sides since %s: %s", len(moved), parent.Name, strings.Join(moved[:min(5, len(moved))], ", "))
	}
	return step.WithHint(what, "split the items with --parent "+parent.Name)
}

// fillFrozen writes the files of the version and completes m.
func fillFrozen(from *Set, tmp, report string, m *Manifest) (err error) {
	if m.BuildReport != nil {
		if *m.BuildReport, err = copyFile(report, filepath.Join(tmp, ReportFile)); err != nil {
			return err
		}
	}
	if from.Split == nil {
		m.SHA256, m.Media, err = rewrite(from, tmp)
	} else {
		m.SHA256, err = copySplit(from, tmp)
	}
	if err == nil {
		m.Digest, err = m.contentDigest()
	}
	return err
}

// rewrite writes the items and the files that they show.
func rewrite(from *Set, tmp string) (sum step.Digest, media []MediaFile, err error) {
	h, err := create(filepath.Join(tmp, ItemsFile))
	if err != nil {
		return sum, nil, err
	}
	shown := &showing{filepath.Dir(from.items), tmp, map[string]MediaFile{}}
	err = from.Open(func(it items.Item) error {
		if err := shown.item(&it); err != nil {
			return err
		}
		return writeItem(h, &it)
	})
	if err != nil {
		h.f.Close()
		return sum, nil, err
	}
	sum, err = h.close()
	return sum, shown.files(), err
}

// copySplit copies what Open verified, and verifies that it did. Openings so
// far go along.
func copySplit(from *Set, tmp string) (dev step.Digest, err error) {
	sp := from.Split
	for _, file := range []struct {
		from, to string
		want     step.Digest
	}{{sp.Development.File, ItemsFile, sp.Development.SHA256}, {sp.HeldOut.File, SealedFile, sp.HeldOut.Encrypted}, {sp.HeldOut.Index, IndexFile, sp.HeldOut.IndexSum}} {
		got, err := copyFile(filepath.Join(from.dir, file.from), filepath.Join(tmp, file.to))
		if err == nil && got != file.want {
			err = tampered(file.from, file.want, got)
		}
		if err != nil {
			return dev, err
		}
	}
	_, err = copyFile(filepath.Join(from.dir, AccessFile), filepath.Join(tmp, AccessFile))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return sp.Development.SHA256, err
}

var errSame = errors.New("this version is there already")

// unpublished looks for the version in the target folder and beside it.
func unpublished(dir string, m *Manifest) error {
	if _, err := os.Lstat(dir); err == nil {
		return compareVersion(dir, m, true)
	}
	parent := filepath.Dir(filepath.Clean(dir))
	siblings, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, s := range siblings {
		if err := compareVersion(filepath.Join(parent, s.Name()), m, false); err != nil {
			return err
		}
	}
	return nil
}

// compareVersion compares with the version in a folder; same is what counts
// for the target, where anything else is in the way.
func compareVersion(dir string, m *Manifest, target bool) error {
	var old Manifest
	if err := readJSON(filepath.Join(dir, ManifestFile), &old, false); err != nil {
		if target {
			return fmt.Errorf("%s %w", dir, ErrExists)
		}
		return nil
	}
	same := old.Name == m.Name && old.Version == m.Version
	switch {
	case !same && !target:
		return nil
	case !same:
		return fmt.Errorf("%s holds %s version %s: it %w", dir, old.Name, old.Version, ErrExists)
	case old.Digest != m.Digest:
		return step.WithHint(fmt.Errorf("%s version %s in %s %w", m.Name, m.Version, dir, ErrPublished), "freeze under a new version, with --parent "+dir)
	case !target:
		return nil
	}
	if _, err := Open(dir); err != nil { // the manifest alone could agree
		return err
	}
	return errSame
}
