package score

import (
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/judge"
)

// JudgeProblem is what is wrong with a field of a judge.
type JudgeProblem struct {
	Judge, Field string
	Err          error
}

// CheckJudges looks at each judge's template and labels.
func CheckJudges(c *spec.Campaign, open func(spec.File) (io.ReadCloser, error)) (problems []JudgeProblem) {
	for _, name := range keys(c.Judges) {
		form := judge.FormOf(c.Judges[name])
		if err := form.Check(); err != nil {
			problems = append(problems, JudgeProblem{name, "template", err})
		}
		if f := c.Judges[name].Labels; f != nil {
			if err := checkLabels(form, *f, open); err != nil {
				problems = append(problems, JudgeProblem{name, "labels", err})
			}
		}
	}
	return problems
}

func checkLabels(form judge.Form, f spec.File, open func(spec.File) (io.ReadCloser, error)) error {
	r, err := open(f)
	if err != nil {
		return err
	}
	defer r.Close()
	return form.ReadLabels(f.Name, r, func(judge.Label, float64) error { return nil })
}

// checkJudge says what is wrong with the judge that a workload names.
func checkJudge(c *spec.Campaign, q *spec.Quality) error {
	name, asked := judge.Of(c, q)
	if !asked {
		return nil
	}
	if name == "" {
		return step.WithHint(fmt.Errorf("scorers.%s: names no judge, and the campaign declares %d", items.JudgeScorer, len(c.Judges)),
			"declare one under judges, and write judge: {by: NAME}")
	}
	if _, ok := c.Judges[name]; !ok {
		return fmt.Errorf("scorers.%s: by: %w", items.JudgeScorer, unknown("judge", name, keys(c.Judges)))
	}
	return nil
}
