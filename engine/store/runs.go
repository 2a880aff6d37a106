package store

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"
)

// RunHead is run.json: who began a run, and when.
type RunHead struct {
	Format  int       `json:"format"`
	ID      string    `json:"id"` // a ULID; sorts by time
	Started time.Time `json:"started"`
	Owner   Owner     `json:"owner"`
}

// Run is one execution of a plan, as told to people. Nothing is decided by it,
// so it is not synced line by line. Its methods may be called concurrently.
type Run struct {
	s    *Store
	head RunHead
	dir  string

	mu     sync.Mutex
	events *appender
	log    *appender
}

// NewRun begins a run at now. The caller closes it.
func (s *Store) NewRun(now time.Time) (*Run, error) {
	id, err := ulid.New(ulid.Timestamp(now), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("new run: %w", err)
	}
	r := &Run{s: s, head: RunHead{Format: Format, ID: id.String(), Started: now.UTC(), Owner: s.owner()}}
	r.dir = s.path("runs", r.head.ID)
	if err := r.create(); err != nil {
		r.Close()
		return nil, fmt.Errorf("new run: %w", err)
	}
	return r, nil
}

// create makes run.json last: a directory without it is no run.
func (r *Run) create() (err error) {
	if err := r.s.disk.mkdirs(r.dir); err != nil {
		return err
	}
	if r.events, err = r.s.newAppender(filepath.Join(r.dir, "events.jsonl")); err != nil {
		return err
	}
	if r.log, err = r.s.newAppender(filepath.Join(r.dir, "log")); err != nil {
		return err
	}
	// Held for as long as the process lives; readers see by it that it does.
	if err := flockRetry(r.events.f, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	b, err := seal(r.head)
	if err != nil {
		return err
	}
	return r.s.disk.writeFile(filepath.Join(r.dir, "run.json"), b, frozen, false)
}

// ID returns the run's ULID.
func (r *Run) ID() string { return r.head.ID }

// Event appends v, encoded as JSON, to events.jsonl.
func (r *Run) Event(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("event of run %s: %w", r.head.ID, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events.append(b.Bytes())
}

// Logf appends a line with the time to the log. A log that cannot be written
// stops nothing; Event reports a full disk.
func (r *Run) Logf(format string, args ...any) {
	line := r.s.clock().UTC().Format("15:04:05.000 ") + fmt.Sprintf(format, args...) + "\n"
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.log.append([]byte(line))
}

// Close ends the run.
func (r *Run) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.events.close(), r.log.close())
}

// appender appends whole lines to a file.
type appender struct {
	d    *disk
	f    *os.File
	torn bool // the last line was not written to its end
}

func (s *Store) newAppender(path string) (*appender, error) {
	f, err := s.disk.appendTo(path)
	if err != nil {
		return nil, err
	}
	return &appender{d: s.disk, f: f}, nil
}

// append writes line, which ends in LF, in one write: a reader sees it whole
// or not at all, unless the disk is full.
func (a *appender) append(line []byte) error {
	if a.torn {
		line = append([]byte{'\n'}, line...) // the torn line ends here, and is skipped
	}
	n, err := a.d.write(a.f, line)
	if n > 0 {
		a.torn = n < len(line)
	}
	return err
}

func (a *appender) close() error {
	if a == nil {
		return nil
	}
	err := a.f.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
