package score

import (
	"errors"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/judge"
)

type judgeScorerParams struct {
	By string `json:"by" doc:"the campaign's judge; default: the only one"`
}

// judgeScorer reads a verdict that was given earlier: a judge is asked by a step
// of its own, so that reading its replies anew asks nobody.
var judgeScorer = func() Scorer {
	s := define(items.JudgeScorer, 1, `what a judge of the campaign says: a model with a rubric, pinned, and calibrated against labels of people`,
		judgeScorerParams{}, buildJudge)
	s.Asks = true
	return s
}()

// Reason codes of answers that a judge scores.
const (
	ReasonNotJudged  = "not-judged"  // null: no judge was asked about the answer
	ReasonJudgeError = "judge-error" // null: the judge failed, or its reply is no verdict
)

func buildJudge(judgeScorerParams, *items.Item, *env) (Func, error) {
	return func(out Output) (float64, string, error) {
		switch v := out.Verdict; {
		case v == nil:
			return 0, "", &Undetermined{ReasonNotJudged, errors.New("no judge was asked about this answer")}
		case v.Err != nil:
			return 0, "", &Undetermined{ReasonJudgeError, v.Err}
		default:
			return v.Value, v.Reason, nil
		}
	}, nil
}

// Verdict is a judge's about one answer.
type Verdict struct {
	judge.Judgement
	Err error // why there is no value
}

// verdictOf reads a judge's reply.
func verdictOf(form judge.Form, row *evidence.ResponseRow) Verdict {
	if row.Failure != nil {
		return Verdict{Err: fmt.Errorf("the judge gave no reply: %s", row.Failure.Class)}
	}
	if row.Finish == "length" {
		return Verdict{Err: errors.New("the judge's reply was cut off")}
	}
	j, err := form.Parse(row.Text)
	return Verdict{j, err}
}

// answerKey names one answer.
type answerKey struct {
	ID             string
	Sample, Repeat int
}

// readVerdicts reads the replies of the judge; nil when none was to be asked.
func readVerdicts(job step.Job, form *judge.Form) (map[answerKey]*Verdict, error) {
	if form == nil {
		return nil, nil
	}
	verdicts := map[answerKey]*Verdict{}
	err := withInput(job, inJudgements, func(r io.Reader) error {
		return items.ReadRows(evidence.OutJudgements, r, func(row evidence.ResponseRow) error {
			v := verdictOf(*form, &row)
			verdicts[answerKey{row.ID, row.Sample, row.Repeat}] = &v
			return nil
		})
	})
	return verdicts, err
}
