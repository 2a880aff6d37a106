package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/items/suite"
)

// accessRef names how far the access log of a suite went when this store last
// saw it. A log that was cut or deleted is noticed by that alone.
func accessRef(suite step.Digest) string { return "access/" + suite.String() }

// logDoubts says what is wrong with the access logs of the suites whose held-out
// part a campaign takes. s may be nil: then nothing was seen earlier.
func logDoubts(l *spec.Loaded, s *store.Store) (out []string, err error) {
	err = eachHeldOut(l, func(name string, set *suite.Set) error {
		log, err := set.AccessLog()
		if err != nil {
			return err
		}
		kept, err := keptMark(s, set)
		if err != nil {
			return err
		}
		for _, d := range log.Doubts(kept) {
			out = append(out, set.Name+": "+d)
		}
		return nil
	})
	return out, err
}

// eachHeldOut calls f for each suite once.
func eachHeldOut(l *spec.Loaded, f func(name string, s *suite.Set) error) error {
	seen := map[string]bool{}
	for _, name := range heldOutWorkloads(l.Campaign) {
		q := l.Campaign.Measure[name].Quality
		if seen[q.Suite.Dir] {
			continue
		}
		seen[q.Suite.Dir] = true
		s, err := heldOutSet(q)
		if err != nil {
			return err
		}
		if err := f(name, s); err != nil {
			return err
		}
	}
	return nil
}

func keptMark(s *store.Store, set *suite.Set) (m suite.Mark, err error) {
	if s == nil {
		return m, nil
	}
	ref, err := s.Ref(accessRef(set.Manifest.Digest))
	if errors.Is(err, store.ErrMissing) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(ref.Note), &m)
	}
	return m, err
}

// keepMarks writes down how far the access logs go now. A log that was found
// wrong keeps its mark, so that it is found wrong again.
func keepMarks(l *spec.Loaded, s *store.Store) error {
	return eachHeldOut(l, func(_ string, set *suite.Set) error {
		log, err := set.AccessLog()
		if err != nil {
			return err
		}
		kept, err := keptMark(s, set)
		if now := log.Mark(); err == nil && now != kept && len(log.Doubts(kept)) == 0 {
			b, _ := json.Marshal(now) // a number and a digest
			err = s.SetRef(accessRef(set.Manifest.Digest), store.Ref{Note: string(b), Set: time.Now().UTC()})
		}
		return err
	})
}

// storeIfThere opens the store of a campaign for reading, nil when there is none.
func (a *app) storeIfThere(l *spec.Loaded) (*store.Store, error) {
	dir := a.storeDir
	if dir == "" {
		dir = filepath.Join(l.Dir, ".cupel")
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, nil
	}
	return a.openStore(dir, store.ReadOnly)
}
