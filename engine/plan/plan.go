// Package plan turns a campaign and the stages' steps into a DAG. It is pure:
// whether a step has to run is decided by engine/exec, with a store at hand.
package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
)

// Stages in the order of a campaign. Steps are listed in this order wherever
// the graph allows it.
var Stages = []string{"research", "pin", "preflight", "measure", "score", "compare", "publish", "decide"}

// Adder is a stage's contribution: the steps that it needs for a campaign.
type Adder func(*spec.Campaign) []step.Step

// Plan is a directed acyclic graph of steps.
type Plan struct {
	Steps []step.Step // in an order in which every step follows what it needs
	index map[string]int
}

// Build collects the steps of all stages, checks that they fit together and
// orders them. Any inconsistency is an error: a planner that guesses would say
// "up to date" about something that it does not understand.
func Build(c *spec.Campaign, stages ...Adder) (*Plan, error) {
	var steps []step.Step
	for _, add := range stages {
		steps = append(steps, add(c)...)
	}
	return New(steps)
}

// New orders steps. The result does not depend on the order of the argument.
func New(steps []step.Step) (*Plan, error) {
	steps = slices.Clone(steps)
	slices.SortStableFunc(steps, byStageThenName)
	byName := make(map[string]step.Step, len(steps))
	for _, s := range steps {
		if _, dup := byName[s.Name]; dup {
			return nil, fmt.Errorf("plan: two steps are called %q", s.Name)
		}
		if s.Name == "" || s.Kind == "" {
			return nil, fmt.Errorf("plan: a step has no name or no kind: %+v", s)
		}
		byName[s.Name] = s
	}
	if err := checkReferences(steps, byName); err != nil {
		return nil, err
	}
	return sortTopologically(steps, byName)
}

func checkReferences(steps []step.Step, byName map[string]step.Step) error {
	for _, s := range steps {
		for in, from := range s.Inputs {
			switch {
			case from.Step == "" && from.Blob.IsZero():
				return fmt.Errorf("plan: input %q of %s comes from nowhere", in, s.Name)
			case from.Step != "" && !from.Blob.IsZero():
				return fmt.Errorf("plan: input %q of %s comes from a step and a file", in, s.Name)
			case from.Step != "" && from.Output == "":
				return fmt.Errorf("plan: input %q of %s names no output of %s", in, s.Name, from.Step)
			case from.Step != "":
				if _, ok := byName[from.Step]; !ok {
					return fmt.Errorf("plan: input %q of %s comes from %q, which is no step", in, s.Name, from.Step)
				}
			}
		}
		for _, a := range slices.Concat(s.After, s.Behind) {
			if _, ok := byName[a]; !ok {
				return fmt.Errorf("plan: %s runs after %q, which is no step", s.Name, a)
			}
		}
	}
	return nil
}

// sortTopologically repeatedly takes the first step, in stage and name order,
// whose needs are all placed. It is iterative: a long chain must not exhaust
// the stack.
func sortTopologically(steps []step.Step, byName map[string]step.Step) (*Plan, error) {
	rank := make(map[string]int, len(steps))
	for i, s := range steps {
		rank[s.Name] = i
	}
	waits := make([]int, len(steps))
	users := make([][]int, len(steps))
	for i, s := range steps {
		for _, need := range Needs(s) {
			waits[i]++
			users[rank[need]] = append(users[rank[need]], i)
		}
	}
	var ready heap
	for i := range steps {
		if waits[i] == 0 {
			ready.push(i)
		}
	}
	p := &Plan{index: make(map[string]int, len(steps))}
	for len(ready) > 0 {
		i := ready.pop()
		p.index[steps[i].Name] = len(p.Steps)
		p.Steps = append(p.Steps, steps[i])
		for _, u := range users[i] {
			if waits[u]--; waits[u] == 0 {
				ready.push(u)
			}
		}
	}
	if len(p.Steps) < len(steps) {
		return nil, fmt.Errorf("plan: these steps wait for one another: %s", strings.Join(cycle(steps, p.index), ", "))
	}
	return p, nil
}

// Needs lists the steps that must have ended before s starts, each once,
// sorted.
func Needs(s step.Step) []string {
	out := append(Rests(s), s.Behind...)
	slices.Sort(out)
	return slices.Compact(out)
}

// Rests lists the steps whose outcome decides whether s runs and with what,
// each once, sorted.
func Rests(s step.Step) []string {
	var out []string
	for _, in := range s.Inputs {
		if in.Step != "" {
			out = append(out, in.Step)
		}
	}
	out = append(out, s.After...)
	slices.Sort(out)
	return slices.Compact(out)
}

// Step returns the step of that name.
func (p *Plan) Step(name string) (step.Step, bool) {
	i, ok := p.index[name]
	if !ok {
		return step.Step{}, false
	}
	return p.Steps[i], true
}

func cycle(steps []step.Step, placed map[string]int) []string {
	var left []string
	for _, s := range steps {
		if _, ok := placed[s.Name]; !ok {
			left = append(left, s.Name)
		}
	}
	return left
}

func byStageThenName(a, b step.Step) int {
	if d := slices.Index(Stages, a.Stage()) - slices.Index(Stages, b.Stage()); d != 0 {
		return d
	}
	if a.Rank != b.Rank {
		return a.Rank - b.Rank
	}
	return strings.Compare(a.Name, b.Name)
}

// heap is a binary min-heap of indices.
type heap []int

func (h *heap) push(x int) {
	*h = append(*h, x)
	for i := len(*h) - 1; i > 0; {
		up := (i - 1) / 2
		if (*h)[up] <= (*h)[i] {
			return
		}
		(*h)[up], (*h)[i] = (*h)[i], (*h)[up]
		i = up
	}
}

func (h *heap) pop() int {
	old := *h
	top, last := old[0], len(old)-1
	old[0] = old[last]
	*h = old[:last]
	for i := 0; ; {
		kid := 2*i + 1
		if kid >= last {
			return top
		}
		if kid+1 < last && old[kid+1] < old[kid] {
			kid++
		}
		if old[i] <= old[kid] {
			return top
		}
		old[i], old[kid] = old[kid], old[i]
		i = kid
	}
}

// Index returns the position of a step in Steps, -1 when there is none.
func (p *Plan) Index(name string) int {
	if i, ok := p.index[name]; ok {
		return i
	}
	return -1
}
