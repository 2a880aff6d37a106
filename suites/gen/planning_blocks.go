package gen

import (
	"fmt"
	"slices"
	"strings"
)

// maxBlocks bounds the world: seven blocks have 37,633 states.
const maxBlocks = 7

// stacks says what each block stands on. Blocks beyond those of the problem
// stand on themselves, where nothing sees them.
type stacks [maxBlocks]int8

const onTable = -1

// covered has a bit for each block on which another stands.
func (s *stacks) covered() (bits uint8) {
	for b, on := range s {
		if on >= 0 && int(on) != b {
			bits |= 1 << on
		}
	}
	return bits
}

// move is a block with what it is put on.
type move struct{ block, to int8 }

// moves calls f with what can be done with n blocks: one on which nothing stands
// goes onto the table or onto another of that kind.
func (s *stacks) moves(n int, f func(m move, then stacks)) {
	covered := s.covered()
	put := func(b, to int) {
		then := *s
		then[b] = int8(to)
		f(move{int8(b), int8(to)}, then)
	}
	for b := range n {
		if covered&(1<<b) != 0 {
			continue
		}
		if s[b] != onTable {
			put(b, onTable)
		}
		for to := range n {
			if to != b && to != int(s[b]) && covered&(1<<to) == 0 {
				put(b, to)
			}
		}
	}
}

// towers draws a state of n blocks in random order, in few towers.
func towers(d *draw, n, most int) stacks {
	var s stacks
	for b := range s {
		s[b] = int8(b)
	}
	var top []int
	for i, b := range shuffled(d, numbers(n)) {
		if i == 0 || len(top) < most && d.below(3) == 0 {
			s[b], top = onTable, append(top, b)
			continue
		}
		t := d.below(len(top))
		s[b], top[t] = int8(top[t]), b
	}
	return s
}

// distances are the moves from every state to the goal, as far as most.
func distances(goal stacks, n, most int) map[stacks]int {
	far, edge := map[stacks]int{goal: 0}, []stacks{goal}
	for depth := 1; depth <= most && len(edge) > 0; depth++ {
		var next []stacks
		for i := range edge {
			edge[i].moves(n, func(_ move, then stacks) { // moves can be taken back, so this is also the way there
				if _, known := far[then]; !known {
					far[then] = depth
					next = append(next, then)
				}
			})
		}
		edge = next
	}
	return far
}

// shortest lists all plans with the fewest moves, at most limit+1.
func shortest(start stacks, n int, far map[stacks]int, limit int) [][]move {
	var all [][]move
	var walk func(s stacks, done []move)
	walk = func(s stacks, done []move) {
		left := far[s]
		if len(all) > limit {
			return
		}
		if left == 0 {
			all = append(all, slices.Clone(done))
			return
		}
		s.moves(n, func(m move, then stacks) {
			if d, known := far[then]; known && d == left-1 {
				walk(then, append(done, m))
			}
		})
	}
	walk(start, nil)
	return all
}

// misplaced counts blocks that must move: each at least once, at most twice.
func misplaced(start, goal stacks, blocks int) (n int) {
	for b := range blocks {
		for at := int8(b); at != onTable; at = start[at] {
			if start[at] != goal[at] {
				n++
				break
			}
		}
	}
	return n
}

// blocksProblem asks for a shortest plan of n moves in the world of blocks.
func blocksProblem(d *draw, n int) (question, bool) {
	blocks := min(maxBlocks, (n+5)/2)
	start, goal := towers(d, blocks, 2), towers(d, blocks, 2)
	if n < 8 {
		goal = towers(d, blocks, 3)
	}
	if wrong := misplaced(start, goal, blocks); wrong > n || n > 2*wrong {
		return question{}, false
	}
	far := distances(goal, blocks, n)
	if far[start] != n {
		return question{}, false
	}
	all := shortest(start, blocks, far, maxPlans)
	if len(all) > maxPlans {
		return question{}, false
	}
	names := shuffled(d, strings.Split("ABCDEFGHJKLMNPRST", ""))[:blocks]
	prompt := fmt.Sprintf("Blocks stand on a table or on one another. A move takes one block on which nothing stands and puts it on the table or on another block on which nothing stands.\nNow: %s\nGoal: %s\nReach the goal with as few moves as possible, which is %d. Answer with a JSON array of the moves in order, each an array of the block and of what it is put on: another block, or \"table\". Write nothing else.",
		start.describe(names), goal.describe(names), n)
	return plan(prompt, moveLists(all, names)), true
}

// describe names every tower from the bottom up.
func (s *stacks) describe(names []string) string {
	var out []string
	for b, on := range s {
		if on != onTable {
			continue
		}
		text := names[b] + " is on the table"
		for at := b; ; {
			up := s.above(at)
			if up < 0 {
				break
			}
			text += fmt.Sprintf(", %s is on %s", names[up], names[at])
			at = up
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return strings.Join(out, "; ") + "."
}

// above is the block that stands on another, -1 for none.
func (s *stacks) above(block int) int {
	for b, on := range s {
		if int(on) == block && b != block {
			return b
		}
	}
	return -1
}

func moveLists(all [][]move, names []string) []any {
	out := make([]any, len(all))
	for i, moves := range all {
		list := make([][2]string, len(moves))
		for j, m := range moves {
			list[j] = [2]string{names[m.block], "table"}
			if m.to != onTable {
				list[j][1] = names[m.to]
			}
		}
		out[i] = list
	}
	return out
}
