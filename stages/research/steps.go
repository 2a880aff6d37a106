// Package research writes down what was read before measuring, as external
// priors: sources with age and role, and what they claim. They select candidates
// and never pass a guard; what the classes mean says [prior].
package research

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/prior"
)

// Kind names the runner. Revision is raised when the same sources would now be
// classified differently.
const (
	Kind     = "research"
	Revision = 1
)

// Steps is the one step of this stage, none when the campaign lists no research.
// Its parameters hold the snapshots' digests, so another snapshot is another key.
func Steps(c *spec.Campaign) []step.Step {
	if c.Research == nil {
		return nil
	}
	params, err := json.Marshal(c.Research)
	if err != nil {
		panic(fmt.Sprintf("research: params: %v", err)) // plain strings and finite numbers: cannot fail
	}
	return []step.Step{{Name: evidence.ResearchStep, Kind: Kind, Revision: Revision, Params: params, Pure: true}}
}

// Run classifies the sources of its parameters. It looks at nothing else.
func Run(_ context.Context, job step.Job) error {
	var p spec.Research
	if err := job.Params(&p); err != nil {
		return fmt.Errorf("research: %w", err)
	}
	r := prior.Of(&spec.Campaign{Research: &p})
	for _, s := range r.Sources {
		job.Logf("%s: %s, %s (%s)", s.ID, s.Age, s.Role, s.Reason)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("research: %w", err)
	}
	return step.Write(job, evidence.OutResearch, "application/json", b.Bytes())
}
