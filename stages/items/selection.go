package items

import "slices"

// Selector decides, item by item in file order, which items are used. Two
// selectors made alike and given the same items decide alike: generation and
// scoring rely on it.
type Selector struct {
	where    map[string][]string
	limit    int
	stratify string
	taken    map[string]int
}

// NewSelector returns a selector that keeps the items whose labels all have one
// of the values of where, and of these the first limit of each value of the
// label stratify (0 = all). Items without that label are one stratum of their
// own.
func NewSelector(where map[string][]string, limit int, stratify string) *Selector {
	return &Selector{where: where, limit: limit, stratify: stratify, taken: map[string]int{}}
}

// Keep reports whether the next item of the file is used.
func (s *Selector) Keep(it *Item) bool {
	for label, values := range s.where {
		if !slices.Contains(values, it.Strata[label]) {
			return false
		}
	}
	stratum := it.Stratum(s.stratify)
	if s.limit > 0 && s.taken[stratum] >= s.limit {
		return false
	}
	s.taken[stratum]++
	return true
}

// Select returns the items that a new Selector keeps, in their order.
func Select(all []Item, where map[string][]string, limit int, stratify string) []Item {
	s := NewSelector(where, limit, stratify)
	var kept []Item
	for i := range all {
		if s.Keep(&all[i]) {
			kept = append(kept, all[i])
		}
	}
	return kept
}
