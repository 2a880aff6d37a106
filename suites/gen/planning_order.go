package gen

import (
	"fmt"
	"slices"
	"strings"
)

// before says which steps must stand before which: before[b][a] is true when a
// must be done before b.
type before [][]bool

func newBefore(n int) before {
	out := make(before, n)
	for i := range out {
		out[i] = make([]bool, n)
	}
	return out
}

// orders returns all orders of n steps that hold, at most limit+1 of them: more
// than limit are too many to list. fits says whether a step may come next.
func orders(n, limit int, fits func(done []int, next int) bool) [][]int {
	var all [][]int
	used := make([]bool, n)
	var extend func(done []int)
	extend = func(done []int) {
		if len(all) > limit {
			return
		}
		if len(done) == n {
			all = append(all, slices.Clone(done))
			return
		}
		for next := range n {
			if used[next] || !fits(done, next) {
				continue
			}
			used[next] = true
			extend(append(done, next))
			used[next] = false
		}
	}
	extend(nil)
	return all
}

// free reports whether everything that must stand before next is done.
func (b before) free(done []int, next int) bool {
	for a, must := range b[next] {
		if must && !slices.Contains(done, a) {
			return false
		}
	}
	return true
}

// orderProblem asks for any order of n steps that holds all rules. Rules are
// added, each of them one that the hidden order holds, until few orders are left.
func orderProblem(d *draw, n int) (question, bool) {
	names, hidden := some(d, chores, n), shuffled(d, numbers(n))
	b, rules := newBefore(n), []string{}
	most := 2 + d.below(5) // orders that may be left
	for range 40 {
		i := d.below(n - 1)
		j := i + 1 + d.below(min(3, n-1-i))
		first, then := hidden[i], hidden[j]
		if b[then][first] {
			continue
		}
		b[then][first] = true
		rules = append(rules, rule(d, names[first], names[then]))
		if all := orders(n, maxPlans, b.free); len(all) <= most {
			prompt := fmt.Sprintf("Put these %d steps into an order that holds every rule.\nSteps: %s.\nRules:\n%s\nAnswer with the JSON array of all step names in the order in which they are done, and nothing else.",
				n, strings.Join(names, ", "), bullets(shuffled(d, rules)))
			return plan(prompt, named(all, names)), true
		}
	}
	return question{}, false
}

// named turns orders of numbers into lists of names.
func named(all [][]int, names []string) []any {
	out := make([]any, len(all))
	for i, order := range all {
		list := make([]string, len(order))
		for j, step := range order {
			list[j] = names[step]
		}
		out[i] = list
	}
	return out
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
