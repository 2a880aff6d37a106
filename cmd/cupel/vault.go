package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items/suite"
)

// vault is the only way to held-out texts: who has one opens them, and that is
// on record before anything is read. Texts go from here to the runners as they
// are decrypted, and to no file.
type vault struct {
	unlock
	command string

	mu       sync.Mutex
	openings map[[2]string]*suite.Opening // suite's folder and reason
	sets     map[string]*suite.Set        // verified, by folder

	inspection sync.Once
	inspected  error
}

func (u unlock) vault(command string) *vault {
	return &vault{unlock: u, command: command, openings: map[[2]string]*suite.Opening{}, sets: map[string]*suite.Set{}}
}

// set is heldOutSet once: reading verifies the text again, not the whole folder.
func (v *vault) set(q *spec.Quality) (*suite.Set, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.sets[q.Suite.Dir]; s != nil {
		return s, nil
	}
	s, err := heldOutSet(q)
	if err == nil {
		v.sets[q.Suite.Dir] = s
	}
	return s, err
}

// locked reports whether nobody gave an identity.
func (v *vault) locked() bool { return v == nil || v.identity == "" }

const giveIdentity = "give --identity FILE or set $CUPEL_AGE_IDENTITY"

// open opens the held-out part of a suite. One reason makes one line in the
// access log, however often its texts are read for it.
func (v *vault) open(s *suite.Set, why string, n int) (*suite.Opening, error) {
	if v.locked() {
		return nil, fmt.Errorf("%s: %w", s.Name, suite.ErrLocked)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	at := [2]string{s.Name, why}
	if o := v.openings[at]; o != nil {
		return o, nil
	}
	k, err := v.key(v.command, why)
	if err != nil {
		return nil, err
	}
	o, err := s.Begin(k, n)
	if err == nil {
		v.openings[at] = o
	}
	return o, err
}

// key reads the identity.
func (u *unlock) key(command, why string) (suite.Key, error) {
	if len(u.as) > 100 || strings.ContainsFunc(u.as, unicode.IsControl) {
		return suite.Key{}, errors.New("--as: a name has at most 100 bytes and no control characters")
	}
	ids, err := suite.ReadIdentities(u.identity)
	return suite.Key{Identities: ids, As: u.as, Command: command, Why: why, Now: time.Now().UTC().Format(time.RFC3339)}, err
}

// unseal opens a sealed input of a step for a run. A step that was not expected
// to run, because its endpoint changed meanwhile, is inspected first like any
// other.
func (w *wiring) unseal(run string, in step.Input) (io.ReadCloser, error) {
	for _, wl := range w.loaded.Campaign.Measure {
		if wl.Quality == nil || wl.Quality.Suite.HeldOut == nil || wl.Quality.Suite.Items.Path != in.Path {
			continue
		}
		if w.vault.locked() {
			return nil, step.WithHint(suite.ErrLocked, giveIdentity)
		}
		if err := w.vault.inspectOnce(w.loaded); err != nil {
			return nil, err
		}
		s, err := w.vault.set(wl.Quality)
		if err != nil {
			return nil, err
		}
		o, err := w.vault.open(s, "run "+run, s.Split.HeldOut.Count)
		if err != nil {
			return nil, err
		}
		return o.Reader()
	}
	return nil, fmt.Errorf("%s belongs to no workload", in.Path)
}

// heldOutSet opens the suite of a workload, verified, with what the campaign
// says of it: a suite that changed since the campaign was read is another one.
func heldOutSet(q *spec.Quality) (*suite.Set, error) {
	s, err := suite.Open(q.Suite.Dir)
	if err != nil {
		return nil, err
	}
	if s.Manifest == nil || s.Manifest.Digest != q.Suite.HeldOut.Suite || !s.HasHeldOut() || s.Split.HeldOut.SHA256 != q.Suite.HeldOut.Content {
		return nil, step.WithHint(fmt.Errorf("%s changed while the campaign was being read", s.Name), "run again")
	}
	return s, nil
}
