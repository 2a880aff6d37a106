package gen

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
)

// Numbers of the planning suite.
const (
	perKind  = 8  // items of a kind in a stratum
	maxPlans = 24 // valid plans that an item may have: they are all in it
)

// stretch is a stratum of the planning suite: plans of lo to hi steps.
type stretch struct {
	task   string
	lo, hi int
}

var stretches = []stretch{{"steps-04-05", 4, 5}, {"steps-06-07", 6, 7}, {"steps-08-09", 8, 9}, {"steps-10-12", 10, 12}}

// planner makes one problem with a plan of n steps, or none from what it drew.
type planner struct {
	kind string
	make func(d *draw, n int) (question, bool)
}

var planners = []planner{{"order", orderProblem}, {"schedule", scheduleProblem}, {"machine", machineProblem}, {"blocks", blocksProblem}}

// planning makes problems whose answer a program can check without running a
// planner: the generator searches exhaustively, and the item holds every valid
// plan, or the only one.
func planning() []items.Item {
	var out []items.Item
	for _, s := range stretches {
		for k, p := range planners {
			for i := range perKind {
				number := k*perKind + i + 1
				q := p.draw(s, number, s.lo+i*(s.hi-s.lo+1)/perKind)
				q.labels = map[string]string{"kind": p.kind}
				out = append(out, q.item(s.task, number))
			}
		}
	}
	return out
}

// draw tries until a problem comes out. All streams are fixed, so that this ends
// is known once the suite exists.
func (p planner) draw(s stretch, number, n int) question {
	for try := 0; ; try++ {
		d := newDraw("planning", s.task, p.kind, fmt.Sprint(number), fmt.Sprint(try))
		if q, ok := p.make(d, n); ok {
			return q
		}
	}
}

// plan is a question that is answered by one of several JSON values.
func plan(prompt string, valid []any) question {
	return question{
		input: ask("%s", prompt), scorers: items.Scorers{validJSON},
		answer: valid[0], schema: map[string]any{"enum": valid},
	}
}

// rule is a sentence that puts one step before another.
func rule(d *draw, before, after string) string {
	return fmt.Sprintf(pick(d, []string{"%s must be done before %s.", "%s comes earlier than %s.", "Finish %s before you begin %s."}), before, after)
}

func bullets(lines []string) string { return "- " + strings.Join(lines, "\n- ") }
