package store

import (
	"cmp"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// nameIndex finds keys by step name. It is never on disk: it is derived from
// steps/ the first time it is needed, which reads every record once (0.2 s of
// CPU for 10,000), and kept for the life of the Store.
type nameIndex struct {
	mu    sync.Mutex
	built bool
	keys  map[string]map[step.Key]time.Time // name, key, newest Finished
}

func (x *nameIndex) add(r Record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.built {
		x.insert(r)
	}
}

func (x *nameIndex) insert(r Record) {
	of := x.keys[r.Name]
	if of == nil {
		of = map[step.Key]time.Time{}
		x.keys[r.Name] = of
	}
	if t, ok := of[r.Key]; !ok || r.Finished.After(t) {
		of[r.Key] = r.Finished
	}
}

// KeysByName returns the keys under which a step of this name was recorded,
// the one finished last first. What other processes record after the first
// call is not seen.
func (s *Store) KeysByName(stepName string) ([]step.Key, error) {
	x := &s.names
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.built {
		x.keys = map[string]map[step.Key]time.Time{}
		if err := s.eachKey(func(k step.Key) {
			records, _ := s.Records(k) // damage is for Latest and check to report
			for _, r := range records {
				x.insert(r)
			}
		}); err != nil {
			return nil, err
		}
		x.built = true
	}
	of := x.keys[stepName]
	out := make([]step.Key, 0, len(of))
	for k := range of {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b step.Key) int {
		return cmp.Or(of[b].Compare(of[a]), slices.Compare(a[:], b[:]))
	})
	return out, nil
}

// eachKey calls f for every key that has a directory of records.
func (s *Store) eachKey(f func(step.Key)) error {
	fans, err := os.ReadDir(s.path("steps"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, fan := range fans {
		dirs, err := os.ReadDir(s.path("steps", fan.Name()))
		if err != nil {
			continue // not a directory of ours; check reports it
		}
		for _, d := range dirs {
			if k, err := step.ParseKey(d.Name()); err == nil {
				f(k)
			}
		}
	}
	return nil
}
