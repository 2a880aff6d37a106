package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
)

// scheduleProblem asks for the earliest start of n jobs that depend on one
// another and otherwise run side by side: exactly one answer is right.
func scheduleProblem(d *draw, n int) (question, bool) {
	names, takes := some(d, chores, n), make([]int, n)
	needs, start := make([][]int, n), make([]int, n)
	for i := range n {
		takes[i] = d.between(2, 9)
		if i == 0 {
			continue
		}
		needs[i] = some(d, numbers(i), min(i, d.between(1, 2)))
		slices.Sort(needs[i])
		for _, j := range needs[i] {
			start[i] = max(start[i], start[j]+takes[j])
		}
	}
	lines, answer := make([]string, n), map[string]int{}
	for i, name := range names {
		lines[i] = fmt.Sprintf("%s takes %d minutes%s", name, takes[i], waits(needs[i], names))
		answer[name] = start[i]
	}
	prompt := fmt.Sprintf("Jobs run side by side, each as soon as all jobs that it waits for have ended. The clock starts at minute 0.\n%s\nAt which minute does each job start? Answer with one JSON object that has each job's name with its starting minute as an integer, and nothing else.",
		bullets(shuffled(d, lines)))
	return question{input: ask("%s", prompt), scorers: items.Scorers{sameJSON}, answer: answer}, true
}

func waits(needs []int, names []string) string {
	if len(needs) == 0 {
		return " and waits for nothing."
	}
	var on []string
	for _, j := range needs {
		on = append(on, names[j])
	}
	return " and waits for " + strings.Join(on, " and ") + "."
}

// machineProblem asks for an order of n jobs on one machine, without breaks, in
// which each is done by its deadline and, for some, not begun before it may.
func machineProblem(d *draw, n int) (question, bool) {
	names, takes := some(d, chores, n), make([]int, n)
	hidden := shuffled(d, numbers(n))
	due, from, clock := make([]int, n), make([]int, n), 0
	for _, job := range hidden {
		takes[job] = d.between(1, 6)
		from[job] = max(0, clock-d.below(4)*d.below(4))
		clock += takes[job]
		due[job] = clock + d.below(3)*d.below(4)
	}
	all := orders(n, maxPlans, func(done []int, next int) bool {
		at := 0
		for _, j := range done {
			at += takes[j]
		}
		return at >= from[next] && at+takes[next] <= due[next]
	})
	if len(all) > 6 {
		return question{}, false
	}
	lines := make([]string, n)
	for i, name := range names {
		lines[i] = fmt.Sprintf("%s: takes %d, earliest start %d, deadline %d", name, takes[i], from[i], due[i])
	}
	prompt := fmt.Sprintf("One machine does these %d jobs one after the other. It starts at hour 0 and never stands still until all are done. No job may start before its earliest start or end after its deadline (ending at the deadline is in time). Times are in hours.\n%s\nFind an order that works. Answer with the JSON array of the job names in this order, and nothing else.",
		n, bullets(lines))
	return plan(prompt, named(all, names)), true
}
