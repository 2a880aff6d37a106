package score

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/judge"
)

// KindCalibrate is the kind of the steps that compare a judge with people. Such
// a step has the judge's replies as an input, and so its pin, its rubric and its
// template in the key: a calibration cannot outlive its judge.
const (
	KindCalibrate     = "calibrate"
	calibrateRevision = 1
)

const inLabels = "labels"

// calibrateParams is what a calibration depends on beside its inputs.
type calibrateParams struct {
	Judge      string     `json:"judge"`
	Form       judge.Form `json:"form"`
	MinKappa   float64    `json:"min_kappa"`
	Confidence float64    `json:"confidence"`
}

func calibrateSteps(c *spec.Campaign) (steps []step.Step) {
	for _, name := range keys(c.Judges) {
		j := c.Judges[name]
		if j.Labels == nil {
			continue
		}
		p := calibrateParams{Judge: name, Form: judge.FormOf(j), MinKappa: j.MinKappa, Confidence: c.Decide.Statistics.Confidence}
		steps = append(steps, step.Step{
			Name: evidence.CalibrationStep(name), Kind: KindCalibrate, Revision: calibrateRevision, Pure: true,
			Params: json.RawMessage(mustJSON(p)),
			Inputs: map[string]step.Input{
				inLabels:     {Blob: j.Labels.Digest, Path: j.Labels.Path},
				inJudgements: {Step: evidence.LabelsStep(name), Output: evidence.OutJudgements},
			},
		})
	}
	return steps
}

// runCalibrate writes the calibration of one judge.
func runCalibrate(_ context.Context, job step.Job) error {
	var p calibrateParams
	if err := job.Params(&p); err != nil {
		return err
	}
	replies, model := map[string]evidence.ResponseRow{}, ""
	err := withInput(job, inJudgements, func(r io.Reader) error {
		return items.ReadRows(evidence.OutJudgements, r, func(row evidence.ResponseRow) error {
			replies[row.ID] = row
			if model == "" {
				model = row.Model
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	var rows []judge.LabelledJudgement
	err = withInput(job, inLabels, func(r io.Reader) error {
		return p.Form.ReadLabels("labels", r, func(l judge.Label, human float64) error {
			row := judge.LabelledJudgement{Key: l.Key(), Candidate: l.Candidate, Human: human}
			reply, ok := replies[l.Key()]
			if !ok {
				return fmt.Errorf("there is no reply about %q", l.Key())
			}
			switch v := verdictOf(p.Form, &reply); {
			case v.Err != nil:
				row.Reason = v.Err.Error()
			default:
				row.Judged, row.Reason = &v.Value, v.Reason
			}
			rows = append(rows, row)
			return nil
		})
	})
	if err != nil {
		return err
	}
	c, err := judge.Calibrate(p.Judge, p.Form.Points, p.MinKappa, p.Confidence, rows)
	if err != nil {
		return err
	}
	c.Model = model
	return step.WriteJSON(job, evidence.OutCalibration, c)
}
