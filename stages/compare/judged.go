package compare

import (
	"errors"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/judge"
	"github.com/cupel-dev/cupel/stages/stats"
)

// judgeParams name the judge that scored a workload.
type judgeParams struct {
	Name         string `json:"name"`
	Uncalibrated bool   `json:"uncalibrated,omitempty"` // may decide all the same
}

// judgeOf adds the judge of a workload to a comparison's parameters and inputs.
func judgeOf(c *spec.Campaign, q *spec.Quality, inputs map[string]step.Input) *judgeParams {
	name, ok := judge.Of(c, q)
	if !ok {
		return nil
	}
	j := c.Judges[name]
	if j.Labels != nil {
		inputs[inCalibration] = step.Input{Step: evidence.CalibrationStep(name), Output: evidence.OutCalibration, Optional: true}
	}
	return &judgeParams{name, j.Uncalibrated == "allow"}
}

// leastLabels is how many labelled answers a correction needs: with fewer its
// standard error means nothing.
const leastLabels = 10

// judged says what the scores of the workload's judge are worth, nil when no
// judge scored it.
func (c *compared) judged(job step.Job) (*evidence.Judged, error) {
	p := c.params.Judge
	if p == nil {
		return nil, nil
	}
	out := &evidence.Judged{Judge: p.Name, Uncalibrated: p.Uncalibrated}
	a, b := c.judgedPairs()
	out.Items = len(a)
	if _, declared := job.Step().Inputs[inCalibration]; !declared {
		out.Reason = "the judge has no labels"
		return out, nil
	}
	full := new(judge.Calibration)
	err := readOne(job, inCalibration, full)
	if errors.Is(err, step.ErrNoInput) {
		out.Reason = "the judge could not be calibrated in this run"
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	short := *full
	short.Rows = nil
	out.Calibration = &short
	return out, correct(out, full, c.params, a, b)
}

// judgedPairs are the scores of both sides on paired items that the judge alone
// scored: of others the judge's bias is only a part.
func (c *compared) judgedPairs() (a, b []float64) {
	for _, id := range unionIDs(c.a, c.b) {
		rowA, rowB := c.a[id], c.b[id]
		name, _, _ := strings.Cut(rowA.Scorer, "/")
		if name == items.JudgeScorer && !strings.Contains(rowA.Scorer, "+") && rowA.Value != nil && rowB.Value != nil {
			a, b = append(a, *rowA.Value), append(b, *rowB.Value)
		}
	}
	return a, b
}

// correct puts the means beside those that the labels correct. Labels of both
// sides' answers correct the difference too: a judge may be kinder to one of
// them. Labels that do not say whose answers they are move both means alike.
func correct(out *evidence.Judged, full *judge.Calibration, p stepParams, a, b []float64) (err error) {
	own := func(candidate string) (human, judged []float64, isOwn bool) {
		if human, judged = full.Pairs(candidate); len(human) >= leastLabels {
			return human, judged, true
		}
		human, judged = full.Pairs("")
		return human, judged, false
	}
	humanA, judgedA, ownA := own(p.Baseline)
	humanB, judgedB, ownB := own(p.Candidate)
	if len(humanA) < leastLabels || len(a) < 2 {
		out.Note = "too few labels or items to correct the means"
		return nil
	}
	if out.Baseline, err = powered(humanA, judgedA, a); err != nil {
		return err
	}
	if out.Candidate, err = powered(humanB, judgedB, b); err != nil {
		return err
	}
	if !ownA || !ownB {
		out.Note = "the labels do not tell whose answers they are on both sides, so a judge that is kinder to one of them would go unseen"
		return nil
	}
	out.Delta = stats.CorrectedDelta(a, b, humanA, judgedA, humanB, judgedB)
	return nil
}

func powered(human, judged, unlabelled []float64) (*stats.Powered, error) {
	p, err := stats.PredictionPowered(human, judged, unlabelled)
	return &p, err
}
