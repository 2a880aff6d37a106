package score

import (
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/judge"
)

// Kind is the kind of the steps that score a generation. Revision is raised
// when the same answers would now give another row or summary; a scorer's own
// change raises its Version, and Revision with it.
const (
	Kind     = "score"
	Revision = 1
)

// Input names.
const (
	inResponses = "responses"
	inItems     = "items"

	inJudgements = "judgements"
)

// stepParams is what a score step depends on beside its inputs.
type stepParams struct {
	Scorers  map[string]map[string]any `json:"scorers,omitempty"` // scorer -> parameters over the items' own
	Stratify string                    `json:"stratify"`
	Where    map[string][]string       `json:"where,omitempty"`
	Limit    int                       `json:"limit,omitempty"`
	Answers  int                       `json:"answers"` // that each item must have: samples x repeats
	Split    string                    `json:"split,omitempty"`

	// How the judge was asked, and so how its replies are read; nil = no judge
	// scores the workload.
	Judge *judge.Form `json:"judge,omitempty"`

	// What programs of scorers run on, from Runner.Runtimes; nil when no scorer
	// of the campaign runs any.
	Runtimes map[string]string `json:"runtimes,omitempty"`
}

func paramsOf(q *spec.Quality) stepParams {
	return stepParams{
		Scorers:  q.Scorers,
		Stratify: q.Stratify,
		Where:    q.Where,
		Limit:    q.Limit,
		Split:    q.Split,
		Answers:  max(1, q.Samples) * max(1, q.Repeats),
	}
}

// heldOut reports whether no text of the items may be quoted anywhere.
func (p stepParams) heldOut() bool { return p.Split == spec.SplitHeldOut }
