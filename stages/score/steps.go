package score

import (
	"encoding/json"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// Steps returns one step for each candidate and quality workload, and one for
// the second run that a noise floor makes.
func Steps(c *spec.Campaign) []step.Step {
	var steps []step.Step
	for _, workload := range keys(c.Measure) {
		w := c.Measure[workload]
		if w.Quality != nil {
			for _, candidate := range keys(c.Candidates) {
				steps = append(steps, scoreStep(candidate, workload, 1, w.Quality))
			}
		}
		if n := w.NoiseFloor; n != nil {
			if on := c.Measure[n.Suite].Quality; on != nil {
				steps = append(steps, scoreStep(n.Candidate, n.Suite, 2, on))
			}
		}
	}
	return unique(steps)
}

// scoreStep has no trial of its own: its key differs when the answers do.
func scoreStep(candidate, workload string, trial int, q *spec.Quality) step.Step {
	return step.Step{
		Name:     evidence.ScoreStep(candidate, workload, trial),
		Kind:     Kind,
		Revision: Revision,
		Pure:     true,
		Params:   json.RawMessage(mustJSON(paramsOf(q))),
		Inputs: map[string]step.Input{
			inResponses: {Step: evidence.GenerateStep(candidate, workload, trial), Output: evidence.OutResponses},
			inItems:     {Blob: q.Suite.Items.Digest, Path: q.Suite.Items.Path},
		},
	}
}

// unique drops steps that are there already: two noise floors may share a run.
func unique(steps []step.Step) []step.Step {
	seen := map[string]bool{}
	kept := steps[:0]
	for _, s := range steps {
		if !seen[s.Name] {
			kept = append(kept, s)
		}
		seen[s.Name] = true
	}
	return kept
}

// Runners returns the runner of each kind that this stage adds.
func Runners() map[string]step.Runner {
	return map[string]step.Runner{Kind: step.RunnerFunc(Run)}
}
