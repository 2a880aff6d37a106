package store

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
)

func TestFamilies(t *testing.T) {
	s := writable(t)
	family, other := step.Sum([]byte("family")), step.Sum([]byte("other"))
	a, _ := putOne(t, s, 1, "x")
	b, _ := putOne(t, s, 2, "y")
	gone, _ := preimage(t, 3)
	if got := s.Family(family); got != nil {
		t.Errorf("before: %v", got)
	}
	check(t, s.AddToFamily(family, a))
	check(t, s.AddToFamily(family, b))
	check(t, s.AddToFamily(family, b)) // again
	if err := s.AddToFamily(family, gone); !errors.Is(err, ErrMissing) {
		t.Errorf("a key without a record: %v", err)
	}
	check(t, os.WriteFile(s.familyDir(family)+"/notes", nil, 0o444))
	want := []step.Key{a, b}
	slices.SortFunc(want, func(a, b step.Key) int { return slices.Compare(a[:], b[:]) })
	if got := s.Family(family); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := s.Family(other); len(got) != 0 {
		t.Errorf("of another family: %v", got)
	}
	reading := open(t, s.Dir(), Options{})
	if err := reading.AddToFamily(other, a); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a store that is open read-only: %v", err)
	}
}
