package score

import (
	"encoding/json"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/judge"
)

// Stage is scoring with what runs programs for its scorers. With nil Programs
// an answer that needs a program has no value.
type Stage struct{ Programs Runner }

// Steps returns one step for each candidate and quality workload, and one for
// the second run that a noise floor makes, and one for each judge that has
// labels. A step that scores with programs
// has the interpreters of this machine in its key.
func (s Stage) Steps(c *spec.Campaign) []step.Step {
	var steps []step.Step
	for _, workload := range keys(c.Measure) {
		w := c.Measure[workload]
		if w.Quality != nil {
			for _, candidate := range keys(c.Candidates) {
				steps = append(steps, s.scoreStep(c, candidate, workload, 1, w.Quality))
			}
		}
		if n := w.NoiseFloor; n != nil {
			if on := c.Measure[n.Suite].Quality; on != nil {
				steps = append(steps, s.scoreStep(c, n.Candidate, n.Suite, 2, on))
			}
		}
	}
	return append(unique(steps), calibrateSteps(c)...)
}

// Steps is that of a Stage without programs.
func Steps(c *spec.Campaign) []step.Step { return Stage{}.Steps(c) }

// scoreStep has no trial of its own: its key differs when the answers do.
func (s Stage) scoreStep(c *spec.Campaign, candidate, workload string, trial int, q *spec.Quality) step.Step {
	p := paramsOf(q)
	p.Runtimes = s.runtimes(q.Scorers)
	inputs := map[string]step.Input{
		inResponses: {Step: evidence.GenerateStep(candidate, workload, trial), Output: evidence.OutResponses},
		inItems:     evidence.ItemsOf(q),
	}
	if name, ok := judge.Of(c, q); ok {
		form := judge.FormOf(c.Judges[name])
		p.Judge = &form
		inputs[inJudgements] = step.Input{Step: evidence.JudgeStep(candidate, workload, name, trial), Output: evidence.OutJudgements}
	}
	return step.Step{
		Name:     evidence.ScoreStep(candidate, workload, trial),
		Kind:     Kind,
		Revision: Revision,
		Pure:     true,
		Params:   json.RawMessage(mustJSON(p)),
		Inputs:   inputs,
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

// runtimes are what the results of these scorers depend on beside their params.
func (s Stage) runtimes(scorers map[string]map[string]any) map[string]string {
	for name := range scorers {
		if known, ok := Lookup(name); !ok || !known.Runs {
			continue
		}
		if s.Programs == nil {
			return map[string]string{"sandbox": "none"}
		}
		return s.Programs.Runtimes()
	}
	return nil
}

// Runners returns the runner of each kind that this stage adds.
func (s Stage) Runners() map[string]step.Runner {
	return map[string]step.Runner{Kind: step.RunnerFunc(s.Run), KindCalibrate: step.RunnerFunc(runCalibrate)}
}

// Runners are those of a Stage without programs.
func Runners() map[string]step.Runner { return Stage{}.Runners() }
