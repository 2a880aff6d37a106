// Package store keeps what cupel has found out: blobs named by their content,
// one record per execution of a step, unfinished work, and who is at work now.
//
// It promises four things. What was recorded is complete: a record appears
// only after everything it names. What is read is what was written: content is
// hashed while it is read. Nothing recorded is ever changed in place. And a
// process may be killed at any moment without leaving anything to clear up.
//
// The bytes on disk are specified in docs/format.md. Only this package writes
// them. It needs a Unix: flock(2), and rename and link that are atomic.
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// Mode says what a store is opened for.
type Mode int

const (
	// ReadOnly never writes a byte, takes no lock, and leaves the directory
	// identical. A directory that does not exist reads as an empty store.
	ReadOnly Mode = iota
	// ReadWrite creates the store when it does not exist. Any number of
	// processes may have it open so.
	ReadWrite
	// Exclusive is ReadWrite while no other process writes: for repair and gc.
	Exclusive
)

// Options of Open. The zero value opens read-only.
type Options struct {
	Mode Mode
	// AllowNetworkFS accepts NFS, SMB and FUSE, where flock and rename may not
	// hold between machines.
	AllowNetworkFS bool
	// LeaseDir is shared by all stores of a machine; see Store.Lease.
	// Empty: cupel/leases in the user's cache directory.
	LeaseDir string
	// Hooks are for tests; the zero value does nothing.
	Hooks Hooks
	// Clock dates lock owners, log lines and quarantine notes, never a
	// decision. Nil: time.Now.
	Clock func() time.Time
}

// Store is an open store directory. Its methods may be called concurrently.
type Store struct {
	dir      string
	opts     Options
	disk     *disk
	clock    func() time.Time
	lock     *flock // locks/store; nil when read-only
	keyLocks keyLocks
	names    nameIndex
	closed   sync.Once
}

// Open opens the store at dir. It returns ErrFormat for a directory that holds
// something else or another format, ErrNetworkFS for a file system it does not
// trust, and *Busy when another process has the store open exclusively.
func Open(dir string, opts Options) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
	s := &Store{dir: abs, opts: opts, clock: opts.Clock}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.disk = &disk{hooks: opts.Hooks, readOnly: opts.Mode == ReadOnly}
	if !opts.AllowNetworkFS {
		if err := refuseNetworkFS(abs, opts.Hooks.FSType); err != nil {
			return nil, err
		}
	}
	exists, err := s.readFormat()
	if err != nil {
		return nil, err
	}
	if opts.Mode == ReadOnly {
		return s, nil
	}
	if !exists {
		if err := s.writeFormat(); err != nil {
			return nil, err
		}
	}
	if err := s.lockStore(); err != nil {
		return nil, err
	}
	return s, nil
}

// lockStore takes locks/store: shared by everyone who writes, so that whoever
// removes things can be alone.
func (s *Store) lockStore() error {
	if err := s.disk.mkdirs(s.path("locks")); err != nil {
		return err
	}
	l, owner, err := tryFlock(s.path("locks", "store"), s.opts.Mode != Exclusive)
	if err != nil {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	if l == nil {
		return step.WithHint(&Busy{Resource: "store " + s.dir, Owner: owner}, "wait until the other command has ended")
	}
	if s.opts.Mode == Exclusive {
		l.sign(s.owner())
	} else {
		l.unsign() // an exclusive holder that was killed left its name
	}
	s.lock = l
	return nil
}

// Dir returns the absolute path of the store.
func (s *Store) Dir() string { return s.dir }

// Close gives up the store's lock. What was returned by other methods is to be
// closed by whoever got it. Close may be called again.
func (s *Store) Close() error {
	s.closed.Do(func() {
		if s.lock != nil {
			s.lock.unlock()
		}
	})
	return nil
}

// nearestExisting returns path or its closest ancestor that exists.
func nearestExisting(path string) string {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}
