package suite

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// side of a split.
type side int

const (
	undecided side = iota
	development
	heldOut
	leftOut // near items of both sides: it would carry one over to the other
)

// member is an item as far as a split looks at it.
type member struct{ id, cluster string }

// unit is what is hashed: a cluster moves as one, whoever joins it.
func (m member) unit() string {
	if m.cluster != "" {
		return "cluster\x00" + m.cluster
	}
	return "item\x00" + m.id
}

// assign puts every group on one side. Groups are clusters and items that near
// joins, transitively. The hash of one unit of the group decides, so a side
// depends neither on the order nor on other groups; fixed holds sides that were
// published and do not move. A newcomer that joins items of both sides is left
// out.
func assign(all []member, near [][]int, salt string, share float64, fixed func(id string) side) []side {
	g := newGroups(len(all))
	first := map[string]int{}
	for i, m := range all {
		u := m.unit()
		if j, ok := first[u]; ok {
			g.join(i, j)
		} else {
			first[u] = i
		}
	}
	for _, together := range near {
		for _, i := range together {
			g.join(together[0], i)
		}
	}
	decided := make([]groupSide, len(all))
	for i, m := range all {
		decided[g.root(i)].add(m, salt, fixed(m.id))
	}
	out := make([]side, len(all))
	for i, m := range all {
		out[i] = decided[g.root(i)].of(fixed(m.id), salt, share)
	}
	return out
}

// groupSide collects what decides a group.
type groupSide struct {
	unit        string // with the smallest rank
	rank        uint64
	dev, sealed bool // members that are fixed there
}

func (s *groupSide) add(m member, salt string, fixed side) {
	s.dev = s.dev || fixed == development
	s.sealed = s.sealed || fixed == heldOut
	u := m.unit()
	if r := keyed(salt, "rank\x00"+u); s.unit == "" || r < s.rank || r == s.rank && u < s.unit {
		s.unit, s.rank = u, r
	}
}

func (s *groupSide) of(fixed side, salt string, share float64) side {
	switch {
	case fixed != undecided:
		return fixed
	case s.dev && s.sealed:
		return leftOut
	case s.dev:
		return development
	case s.sealed:
		return heldOut
	case float64(keyed(salt, "side\x00"+s.unit)) < share*math.MaxUint64:
		return heldOut
	}
	return development
}

func keyed(salt, text string) uint64 {
	h := hmac.New(sha256.New, []byte(salt))
	h.Write([]byte(text))
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// groups is a union-find.
type groups []int

func newGroups(n int) groups {
	g := make(groups, n)
	for i := range g {
		g[i] = i
	}
	return g
}

func (g groups) root(i int) int {
	for g[i] != i {
		g[i] = g[g[i]]
		i = g[i]
	}
	return i
}

func (g groups) join(a, b int) { g[g.root(a)] = g.root(b) }
