package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// Stats counts what is in a store; sizes are in bytes on disk.
type Stats struct {
	Objects       int   `json:"objects"`
	ObjectBytes   int64 `json:"objectBytes"`
	Keys          int   `json:"keys"`
	Records       int   `json:"records"`
	RecordBytes   int64 `json:"recordBytes"` // with their preimages
	Observations  int   `json:"observations"`
	Refs          int   `json:"refs"`
	Runs          int   `json:"runs"`
	RunBytes      int64 `json:"runBytes"`
	Journals      int   `json:"journals"` // segments
	JournalBytes  int64 `json:"journalBytes"`
	Quarantined   int   `json:"quarantined"`
	Leftovers     int   `json:"leftovers"` // temporary files
	LeftoverBytes int64 `json:"leftoverBytes"`
}

// file is one file or odd thing found under the store directory.
type file struct {
	area string   // first element of its path
	elem []string // the other elements
	rel  string   // path inside the store
	path string
	mode fs.FileMode
	size int64
}

func (f file) name() string { return filepath.Base(f.rel) }

func (f file) leftover() bool {
	return strings.HasPrefix(f.name(), tempPrefix) || f.area == "tmp"
}

// walk calls f with everything in the store that is not a directory. What
// vanishes on the way was being finished or removed by another process.
func (s *Store) walk(f func(file) error) error {
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		st, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel := s.rel(path)
		elem := strings.Split(filepath.ToSlash(rel), "/")
		return f(file{area: elem[0], elem: elem[1:], rel: rel, path: path, mode: st.Mode(), size: st.Size()})
	})
	return err
}

// Stats counts without reading any content.
func (s *Store) Stats() (Stats, error) {
	var t Stats
	err := s.walk(func(f file) error { t.count(f); return nil })
	return t, err
}

func (t *Stats) count(f file) {
	if f.leftover() {
		t.Leftovers++
		t.LeftoverBytes += f.size
		return
	}
	switch f.area {
	case "objects":
		t.Objects++
		t.ObjectBytes += f.size
	case "keys":
		t.Keys++
		t.RecordBytes += f.size
	case "steps":
		t.Records++
		t.RecordBytes += f.size
	case "observations":
		t.Observations++
	case "refs":
		t.Refs++
	case "runs":
		if f.name() == "run.json" {
			t.Runs++
		}
		t.RunBytes += f.size
	case "journals":
		t.Journals++
		t.JournalBytes += f.size
	case "quarantine":
		if !strings.HasSuffix(f.rel, ".json") {
			t.Quarantined++
		}
	}
}
