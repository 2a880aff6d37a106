package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/oklog/ulid/v2"
)

// RunLog is what can be read of a run, which another process may be writing.
type RunLog struct {
	RunHead
	Alive  bool              // the process that writes it has it open
	Events []json.RawMessage // oldest first
	Torn   int               // lines left out because they are no JSON
	Offset int64             // where events begin that are not in Events; see Store.Events
}

// LatestRun returns the id of the run that began last, before all others one
// whose process is alive: another may have begun later and been refused.
// ErrMissing without any run.
func (s *Store) LatestRun() (string, error) {
	entries, err := os.ReadDir(s.path("runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	latest, looked := "", 0
	for _, e := range slices.Backward(entries) {
		if _, err := ulid.ParseStrict(e.Name()); err != nil {
			continue
		}
		if st, err := os.Lstat(s.path("runs", e.Name(), "run.json")); err != nil || !st.Mode().IsRegular() {
			continue
		}
		if s.runAlive(e.Name()) {
			return e.Name(), nil
		}
		if latest == "" {
			latest = e.Name()
		}
		if looked++; looked == recentRuns {
			break
		}
	}
	if latest == "" {
		return "", fmt.Errorf("latest run: %w", ErrMissing)
	}
	return latest, nil
}

// recentRuns bounds how far back LatestRun looks for one that is alive.
const recentRuns = 50

// ReadRun reads the run with this id.
func (s *Store) ReadRun(id string) (*RunLog, error) {
	if err := checkRunID(id); err != nil {
		return nil, err
	}
	path := s.path("runs", id, "run.json")
	var l RunLog
	err := readSealed(path, &l.RunHead)
	if err == nil && l.ID != id {
		err = &Damaged{Path: path, Why: "it is the run " + l.ID}
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	l.Alive = s.runAlive(id) // before the events: a dead run's are all there
	l.Events, l.Torn, l.Offset, err = s.Events(id, 0)
	return &l, err
}

// checkRunID accepts a ULID in its only spelling, so that no id is a path.
func checkRunID(id string) error {
	if u, err := ulid.ParseStrict(id); err != nil || u.String() != id {
		return fmt.Errorf("run %q: not a run id: want 26 characters such as 01JQ8Z5T3V0000000000000000", id)
	}
	return nil
}

// Events returns the whole events of a run from a byte offset on, how many
// lines were no JSON, and the offset to go on from later. A line that has no
// end yet is left for then.
func (s *Store) Events(id string, from int64) (events []json.RawMessage, torn int, next int64, err error) {
	if err := checkRunID(id); err != nil {
		return nil, 0, from, err
	}
	f, size, err := openRegular(s.path("runs", id, "events.jsonl"))
	if err != nil {
		return nil, 0, from, fmt.Errorf("run %s: %w", id, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, from, max(0, size-from)))
	if err != nil {
		return nil, 0, from, fmt.Errorf("run %s: %w", id, err)
	}
	whole := b[:bytes.LastIndexByte(b, '\n')+1]
	for line := range bytes.Lines(whole) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if json.Valid(line) {
			events = append(events, json.RawMessage(line))
		} else {
			torn++
		}
	}
	return events, torn, from + int64(len(whole)), nil
}

// runAlive asks the kernel whether the writer still holds its events file.
func (s *Store) runAlive(id string) bool {
	f, _, err := openRegular(s.path("runs", id, "events.jsonl"))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flockRetry(f, syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
