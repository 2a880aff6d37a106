package judge

import (
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/items"
)

// By is the scorer's parameter that names the judge.
const By = "by"

// Of returns the judge of a quality workload: the one that its scorers name or,
// where the campaign declares one alone, that one. ok is false when no judge
// scores the workload. A name that is no judge is the caller's to refuse.
func Of(c *spec.Campaign, q *spec.Quality) (name string, ok bool) {
	params, ok := q.Scorers[items.JudgeScorer]
	if !ok {
		return "", false
	}
	if by, given := params[By].(string); given {
		return by, true
	}
	if len(c.Judges) == 1 {
		for name := range c.Judges {
			return name, true
		}
	}
	return "", true
}
