package suite

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func free(string) side { return undecided }

func sidesOf(all []member, near [][]int, fixed func(string) side) map[string]side {
	out := map[string]side{}
	for i, s := range assign(all, near, "salt", 0.3, fixed) {
		out[all[i].id] = s
	}
	return out
}

func drawMembers(t *rapid.T) []member {
	n := rapid.IntRange(1, 30).Draw(t, "n")
	all := make([]member, n)
	for i := range all {
		all[i].id = fmt.Sprint("i", i)
		if c := rapid.IntRange(0, 6).Draw(t, "cluster"); c < 3 {
			all[i].cluster = fmt.Sprint("c", c)
		}
	}
	return all
}

func drawNear(t *rapid.T, n int) (near [][]int) {
	for range rapid.IntRange(0, 4).Draw(t, "groups") {
		near = append(near, rapid.SliceOfN(rapid.IntRange(0, n-1), 2, 4).Draw(t, "group"))
	}
	return near
}

// TestAssign: groups stay together, the order does not matter, other items do
// not matter, and published sides do not move.
func TestAssign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawMembers(t)
		near := drawNear(t, len(all))
		sides := sidesOf(all, near, free)
		byCluster := map[string]side{}
		for _, m := range all {
			if s, ok := byCluster[m.cluster]; ok && m.cluster != "" && s != sides[m.id] {
				t.Fatalf("cluster %s is on both sides", m.cluster)
			}
			byCluster[m.cluster] = sides[m.id]
		}
		for _, g := range near {
			for _, i := range g {
				if sides[all[i].id] != sides[all[g[0]].id] {
					t.Fatalf("group %v is on both sides", g)
				}
			}
		}
		perm := rapid.Permutation(all).Draw(t, "order")
		at := map[string]int{}
		for i, m := range perm {
			at[m.id] = i
		}
		moved := make([][]int, len(near))
		for i, g := range near {
			for _, j := range g {
				moved[i] = append(moved[i], at[all[j].id])
			}
		}
		if d := cmp.Diff(sides, sidesOf(perm, moved, free)); d != "" {
			t.Fatalf("the order decides: %s", d)
		}
		// Items of their own are added: nobody moves.
		more := append(append([]member(nil), all...), member{"new1", ""}, member{"new2", "c0"}, member{"new3", "c9"})
		grown := sidesOf(more, near, free)
		for id, s := range sides {
			if grown[id] != s {
				t.Fatalf("%s moved when items were added", id)
			}
		}
		// Anything may join them now: published sides stay.
		joined := sidesOf(more, append(near, drawNear(t, len(more))...), func(id string) side { return sides[id] })
		for id, s := range sides {
			if joined[id] != s {
				t.Fatalf("%s was published as %v and is %v", id, s, joined[id])
			}
		}
	})
}

func TestAssignBridge(t *testing.T) {
	all := []member{{"old-dev", ""}, {"old-held", ""}, {"bridge", ""}, {"beside-dev", ""}}
	fixed := map[string]side{"old-dev": development, "old-held": heldOut}
	got := assign(all, [][]int{{0, 2}, {2, 1}}, "s", 0.5, func(id string) side { return fixed[id] })
	if got[0] != development || got[1] != heldOut || got[2] != leftOut || got[3] == leftOut {
		t.Error(got)
	}
	got = assign(all, [][]int{{0, 3}}, "s", 0.999999, func(id string) side { return fixed[id] })
	if got[3] != development || got[2] != heldOut {
		t.Error(got)
	}
}

// TestAssignShare: the share is that of groups, and another salt is another
// split.
func TestAssignShare(t *testing.T) {
	all := make([]member, 20000)
	for i := range all {
		all[i].id = fmt.Sprint("item-", i)
	}
	a, b := assign(all, nil, "a", 0.2, free), assign(all, nil, "b", 0.2, free)
	held, both := 0, 0
	for i := range all {
		if a[i] == heldOut {
			held++
			if b[i] == heldOut {
				both++
			}
		}
	}
	if held < 3830 || held > 4170 || both < 690 || both > 910 { // 3 standard deviations
		t.Errorf("%d held out of 20000, %d with both salts; want about 4000 and 800", held, both)
	}
}
