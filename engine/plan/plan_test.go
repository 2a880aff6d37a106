package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/step"
)

func TestNewRefuses(t *testing.T) {
	ok := step.Step{Name: "pin/a", Kind: "pin"}
	in := func(i step.Input) step.Step {
		return step.Step{Name: "score/a", Kind: "score", Inputs: map[string]step.Input{"x": i}}
	}
	for want, steps := range map[string][]step.Step{
		"two steps are called": {ok, ok},
		"no name or no kind":   {{Name: "pin/a"}},
		"comes from nowhere":   {in(step.Input{})},
		"a step and a file":    {ok, in(step.Input{Step: "pin/a", Output: "o", Blob: step.Sum(nil)})},
		"names no output":      {ok, in(step.Input{Step: "pin/a"})},
		"which is no step":     {in(step.Input{Step: "pin/b", Output: "o"})},
		"runs after":           {{Name: "pin/a", Kind: "pin", After: []string{"pin/z"}}},
		"wait for one another": {{Name: "pin/a", Kind: "pin", After: []string{"pin/b"}}, {Name: "pin/b", Kind: "pin", After: []string{"pin/a"}}},
	} {
		if _, err := New(steps); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// Whatever the order in which stages add steps, the plan is the same, every
// step once, each after what it needs.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		steps := make([]step.Step, n)
		for i := range steps {
			steps[i] = step.Step{Name: fmt.Sprintf("%s/%03d", Stages[i%len(Stages)], i), Kind: "k"}
			for range rapid.IntRange(0, min(i, 3)).Draw(t, "needs") {
				steps[i].After = append(steps[i].After, steps[rapid.IntRange(0, i-1).Draw(t, "need")].Name)
			}
		}
		p, err := New(steps)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Steps) != n {
			t.Fatalf("%d steps of %d", len(p.Steps), n)
		}
		for i, s := range p.Steps {
			for _, need := range Needs(s) {
				if j := p.index[need]; j >= i {
					t.Fatalf("%s at %d needs %s at %d", s.Name, i, need, j)
				}
			}
		}
		shuffled := slices.Clone(steps)
		rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		q, err := New(shuffled)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Steps {
			if p.Steps[i].Name != q.Steps[i].Name {
				t.Fatalf("order depends on the order of addition at %d: %s, %s", i, p.Steps[i].Name, q.Steps[i].Name)
			}
		}
	})
}

// A chain of 50,000 steps must neither be missed nor exhaust the stack.
func TestLongChain(t *testing.T) {
	const n = 50_000
	steps := make([]step.Step, n)
	for i := range steps {
		steps[i] = step.Step{Name: fmt.Sprintf("score/%06d", n-i), Kind: "k"}
		if i > 0 {
			steps[i].After = []string{steps[i-1].Name}
		}
	}
	p, err := New(steps)
	if err != nil || len(p.Steps) != n {
		t.Fatalf("%d steps, %v", len(p.Steps), err)
	}
	if p.Steps[0].Name != steps[0].Name {
		t.Errorf("first is %s", p.Steps[0].Name)
	}
}
