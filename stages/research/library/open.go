package library

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/prior/table"
)

// maxSource bounds source.json.
const maxSource = 8 << 20

// ErrTampered marks a file whose content is not that of its digest.
var ErrTampered = errors.New("the content is not what source.json says")

// Open reads one source. The error is fs.ErrNotExist when there is none.
func Open(dir, id string) (Source, error) {
	var s Source
	if !ValidID(id) {
		return s, fmt.Errorf("%q is no id of a source", id)
	}
	b, err := diskfile.Read(filepath.Join(dir, id, "source.json"), maxSource)
	if err != nil {
		return s, err
	}
	if err := jsonv2.Unmarshal(b, &s, jsonv2.RejectUnknownMembers(true)); err != nil {
		return s, fmt.Errorf("%s/source.json: %w", id, err)
	}
	return s, s.check(id)
}

func (s *Source) check(id string) error {
	switch {
	case s.Schema != Schema:
		return step.WithHint(fmt.Errorf("%s/source.json: found the schema %q, allowed %s", id, s.Schema, Schema), "another version of cupel wrote it")
	case s.ID != id:
		return fmt.Errorf("%s/source.json is of source %q", id, s.ID)
	case len(s.Versions) == 0:
		return fmt.Errorf("%s/source.json has no version", id)
	}
	for _, v := range s.Versions {
		for _, f := range v.files() {
			if f.Name != filepath.Base(f.Name) || f.Name == "." || f.Name == ".." || strings.ContainsAny(f.Name, `/\`) {
				return fmt.Errorf("%s/source.json names the file %q, which is not beside it", id, f.Name)
			}
		}
	}
	return nil
}

func (v Version) files() []File {
	out := []File{v.Snapshot, v.Rows}
	if v.Skipped != nil {
		out = append(out, *v.Skipped)
	}
	return out
}

// List reads every source below dir, by id. A folder without source.json is
// none.
func List(dir string) ([]Source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Source
	for _, e := range entries {
		if !e.IsDir() || !ValidID(e.Name()) {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, e.Name(), "source.json")); errors.Is(err, os.ErrNotExist) {
			continue
		}
		s, err := Open(dir, e.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Source) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// Rows reads the rows of a version and verifies them.
func Rows(dir string, s Source, v Version) ([]table.Row, error) {
	return readLines[table.Row](dir, s.ID, v.Rows)
}

// Skipped reads what was not read of a version.
func Skipped(dir string, s Source, v Version) ([]table.Problem, error) {
	if v.Skipped == nil {
		return nil, nil
	}
	return readLines[table.Problem](dir, s.ID, *v.Skipped)
}

// Snapshot reads what the source said and verifies it.
func Snapshot(dir string, s Source, v Version) ([]byte, error) {
	return verified(dir, s.ID, v.Snapshot)
}

func readLines[T any](dir, id string, f File) ([]T, error) {
	b, err := verified(dir, id, f)
	if err != nil {
		return nil, err
	}
	var out []T
	for n, line := range bytes.Split(b, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var x T
		if err := jsonv2.Unmarshal(line, &x); err != nil {
			return nil, fmt.Errorf("%s/%s:%d: %w", id, f.Name, n+1, err)
		}
		out = append(out, x)
	}
	return out, nil
}

// maxKept bounds a file of rows, which is larger than the snapshot it was made of.
const maxKept = 512 << 20

func verified(dir, id string, f File) ([]byte, error) {
	b, err := diskfile.Read(filepath.Join(dir, id, f.Name), maxKept)
	if err != nil {
		return nil, err
	}
	if step.Sum(b) != f.Digest {
		return nil, step.WithHint(fmt.Errorf("%s/%s: %w", id, f.Name, ErrTampered), "restore the file from git, or import the source again")
	}
	return b, nil
}
