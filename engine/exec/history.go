package exec

import (
	"cmp"
	"slices"

	"github.com/cupel-dev/cupel/engine/store"
)

// history returns the records of every key under which a step of this name was
// recorded, newest first.
func history(s *store.Store, name string) []store.Record {
	keys, err := s.KeysByName(name)
	if err != nil {
		return nil // for people only: without a history there is nothing to compare with
	}
	var out []store.Record
	for _, k := range keys {
		records, _ := s.Records(k)
		for _, r := range records {
			if r.Name == name {
				out = append(out, r)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b store.Record) int {
		return -cmp.Compare(a.Finished.UnixNano(), b.Finished.UnixNano())
	})
	return out
}
