package exec

import (
	"maps"
	"slices"
)

// schedule decides which sessions are open. It only keeps books: the owner
// goroutine asks it and tells it what became of what it asked for.
//
//	closed ── begin ──▶ moving ── opened ──▶ open ── leave ──▶ moving ── closed ──▶ closed
//	                      └───── broke ────▶ broken (for the rest of the run)
type schedule struct {
	excludes func(a, b string) bool
	state    map[string]sessionState // absent = closed
	users    map[string]int          // running steps
	left     map[string]int          // steps that are not settled
	lookers  map[string]int          // running steps that look at it as it stands, opened by nobody here
}

type sessionState int

const (
	isClosed sessionState = iota
	isMoving              // being opened or closed
	isOpen
	isBroken // could not be opened
)

func newSchedule(excludes func(a, b string) bool) *schedule {
	return &schedule{excludes: excludes, state: map[string]sessionState{}, users: map[string]int{}, left: map[string]int{}, lookers: map[string]int{}}
}

// opens reports whether name may be opened now: it is closed, and so is all
// that it excludes. What is looked at as it stands is not taken away meanwhile: half
// an answer would be taken for what it is.
func (s *schedule) opens(name string) bool {
	return s.state[name] == isClosed && len(s.inTheWay(name)) == 0 && !s.watched(name)
}

func (s *schedule) watched(name string) bool {
	for other, n := range s.lookers {
		if n > 0 && other != name && s.excludes(name, other) {
			return true
		}
	}
	return false
}

// still reports whether name can be looked at as it stands: nothing that excludes
// it is on its way.
func (s *schedule) still(name string) bool {
	for other, st := range s.state {
		if st == isMoving && (other == name || s.excludes(name, other)) {
			return false
		}
	}
	return true
}

// inTheWay lists the sessions that must be closed before name is opened, sorted.
func (s *schedule) inTheWay(name string) (out []string) {
	for _, other := range slices.Sorted(maps.Keys(s.state)) {
		if st := s.state[other]; other != name && (st == isOpen || st == isMoving) && s.excludes(name, other) {
			out = append(out, other)
		}
	}
	return out
}

// done lists the open sessions that no step needs any more, sorted.
func (s *schedule) done() (out []string) {
	for _, name := range s.opened() {
		if s.users[name] == 0 && s.left[name] == 0 {
			out = append(out, name)
		}
	}
	return out
}

// opened lists the open sessions, sorted.
func (s *schedule) opened() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(s.state)) {
		if s.state[name] == isOpen {
			out = append(out, name)
		}
	}
	return out
}
