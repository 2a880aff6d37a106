package suite

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// MediaFile is a file that items show.
type MediaFile struct {
	File   string      `json:"file"` // path in the folder, with slashes
	Size   int64       `json:"size"` // bytes
	SHA256 step.Digest `json:"sha256"`
}

// showing copies what items show into a folder that is being frozen, each file
// once, and writes its digest into them: so the items' digest covers it.
type showing struct {
	from, to string
	done     map[string]MediaFile
}

func (s *showing) item(it *items.Item) error {
	for i := range it.Input {
		list := slices.Clone(it.Input[i].Media)
		for j := range list {
			if err := s.file(&list[j]); err != nil {
				return fmt.Errorf("item %s: %w", it.ID, err)
			}
		}
		it.Input[i].Media = list
	}
	return nil
}

func (s *showing) file(m *items.Media) error {
	f, ok := s.done[m.Path()]
	if !ok {
		var err error
		if f, err = s.copy(m); err != nil {
			return err
		}
		s.done[m.Path()] = f
	}
	if !m.SHA256.IsZero() && m.SHA256 != f.SHA256 {
		return fmt.Errorf("%s has the digest %s, the item says %s", m.Path(), f.SHA256.Short(), m.SHA256.Short())
	}
	m.SHA256 = f.SHA256
	return nil
}

// copy takes regular files below the folder alone: a link could lead anywhere.
func (s *showing) copy(m *items.Media) (f MediaFile, err error) {
	root, err := os.OpenRoot(s.from)
	if err != nil {
		return f, err
	}
	defer root.Close()
	info, err := root.Lstat(m.Path())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return f, step.WithHint(fmt.Errorf("there is no file %s", m.Path()), "media are named from the folder of the item file")
	case err != nil:
		return f, err
	case !info.Mode().IsRegular():
		return f, fmt.Errorf("%s is not a regular file", m.Path())
	case info.Size() == 0 || info.Size() > m.MaxBytes():
		return f, fmt.Errorf("%s has %d bytes, a %s has 1 to %d", m.Path(), info.Size(), m.Kind(), m.MaxBytes())
	}
	r, err := root.Open(m.Path())
	if err != nil {
		return f, err
	}
	defer r.Close()
	to := filepath.Join(s.to, filepath.FromSlash(m.Path()))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return f, err
	}
	w, err := create(to)
	if err != nil {
		return f, err
	}
	f = MediaFile{File: m.Path()}
	if f.Size, err = io.Copy(w, io.LimitReader(r, m.MaxBytes()+1)); err != nil {
		w.f.Close()
		return f, err
	}
	f.SHA256, err = w.close()
	return f, err
}

// files lists what was copied, by name.
func (s *showing) files() []MediaFile {
	var out []MediaFile
	for _, f := range s.done {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b MediaFile) int { return cmp.Compare(a.File, b.File) })
	return out
}

// verifyMedia compares every file that is listed.
func (s *Set) verifyMedia() error {
	for _, f := range s.Manifest.Media {
		if err := s.expect(filepath.FromSlash(f.File), f.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// noMedia refuses items that show something where a part is held out: files
// beside it would show them to everybody.
func noMedia(it *items.Item) error {
	if len(it.Shown()) == 0 {
		return nil
	}
	return step.WithHint(fmt.Errorf("item %s shows media, and sets with media cannot be split yet", it.ID), "freeze it without a held-out part")
}
