package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// The kinds of steps of this stage, and their common revision: raised when the
// same scores would now give another document.
const (
	Kind      = "compare"
	KindNoise = "noise"
	Revision  = 2
)

// Input names. In a noise step the baseline is the first run and the candidate
// the second.
const (
	inBaselineScores     = "baseline-scores"
	inCandidateScores    = "candidate-scores"
	inBaselineSummary    = "baseline-summary"
	inCandidateSummary   = "candidate-summary"
	inBaselineResponses  = "baseline-responses"
	inCandidateResponses = "candidate-responses"
	inNoise              = "noise"
	inCalibration        = "calibration"
)

// stepParams is what a step depends on beside its inputs. The names are in it
// because the document prints them.
type stepParams struct {
	Workload   string          `json:"workload"`
	Baseline   string          `json:"baseline"`
	Candidate  string          `json:"candidate"`
	Stratify   string          `json:"stratify"`
	Statistics spec.Statistics `json:"statistics"`
	Note       string          `json:"note,omitempty"`  // noise: how the two runs were made
	Judge      *judgeParams    `json:"judge,omitempty"` // that scored the workload
}

// Steps returns a comparison for each candidate and quality workload, and one
// for each noise floor.
func Steps(c *spec.Campaign) []step.Step {
	var steps []step.Step
	for _, name := range slices.Sorted(maps.Keys(c.Measure)) {
		w := c.Measure[name]
		if w.Quality != nil {
			steps = append(steps, compareSteps(c, name, w.Quality)...)
		}
		if w.NoiseFloor != nil && c.Measure[w.NoiseFloor.Suite].Quality != nil {
			steps = append(steps, noiseStep(c, name, w.NoiseFloor))
		}
	}
	return steps
}

func compareSteps(c *spec.Campaign, workload string, q *spec.Quality) []step.Step {
	var steps []step.Step
	base := c.Baseline()
	statistics := c.Decide.Statistics
	statistics.Confidence = c.Confidence()
	for _, candidate := range slices.Sorted(maps.Keys(c.Candidates)) {
		if candidate == base {
			continue
		}
		inputs := sides(workload, base, 1, candidate, 1)
		inputs[inBaselineSummary] = step.Input{Step: evidence.ScoreStep(base, workload, 1), Output: evidence.OutSummary}
		inputs[inCandidateSummary] = step.Input{Step: evidence.ScoreStep(candidate, workload, 1), Output: evidence.OutSummary}
		if noise, ok := noiseOf(c, workload, base); ok {
			inputs[inNoise] = step.Input{Step: evidence.NoiseStep(noise), Output: evidence.OutNoise, Optional: true}
		}
		steps = append(steps, newStep(evidence.CompareStep(candidate, workload), Kind, inputs, stepParams{
			Workload: workload, Baseline: base, Candidate: candidate,
			Stratify: q.Stratify, Statistics: statistics, Judge: judgeOf(c, q, inputs),
		}))
	}
	return steps
}

// sides names scores and answers of the two runs that are compared.
func sides(workload, a string, trialA int, b string, trialB int) map[string]step.Input {
	return map[string]step.Input{
		inBaselineScores:     {Step: evidence.ScoreStep(a, workload, trialA), Output: evidence.OutScores},
		inCandidateScores:    {Step: evidence.ScoreStep(b, workload, trialB), Output: evidence.OutScores},
		inBaselineResponses:  {Step: evidence.GenerateStep(a, workload, trialA), Output: evidence.OutResponses},
		inCandidateResponses: {Step: evidence.GenerateStep(b, workload, trialB), Output: evidence.OutResponses},
	}
}

// noiseOf returns the first noise floor of the baseline on a workload.
func noiseOf(c *spec.Campaign, workload, base string) (string, bool) {
	for _, name := range slices.Sorted(maps.Keys(c.Measure)) {
		if n := c.Measure[name].NoiseFloor; n != nil && n.Suite == workload && n.Candidate == base {
			return name, true
		}
	}
	return "", false
}

func noiseStep(c *spec.Campaign, name string, n *spec.NoiseFloor) step.Step {
	p := stepParams{
		Workload: n.Suite, Baseline: n.Candidate, Candidate: n.Candidate,
		Stratify: c.Measure[n.Suite].Quality.Stratify, Statistics: c.Decide.Statistics,
	}
	if c.Candidates[n.Candidate].Serve == nil {
		p.Note = "two runs against one server process: what a restart changes is not in this floor"
	}
	return newStep(evidence.NoiseStep(name), KindNoise, sides(n.Suite, n.Candidate, 1, n.Candidate, 2), p)
}

func newStep(name, kind string, inputs map[string]step.Input, p stepParams) step.Step {
	params, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("compare: params of %s: %v", name, err)) // a loaded campaign is JSON
	}
	return step.Step{Name: name, Kind: kind, Revision: Revision, Pure: true, Params: params, Inputs: inputs}
}

// Runners returns the runner of each kind that this stage adds.
func Runners() map[string]step.Runner {
	return map[string]step.Runner{Kind: step.RunnerFunc(Run), KindNoise: step.RunnerFunc(RunNoise)}
}
