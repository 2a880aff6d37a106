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

// params are the campaign's research with its sources by id, so that explain
// names the field of a source that changed.
type params struct {
	ObservedOn string                 `json:"observed_on"`
	Shortlist  []string               `json:"shortlist,omitempty"`
	Order      []string               `json:"order"`
	Sources    map[string]spec.Source `json:"sources"`
}

func paramsOf(r *spec.Research) params {
	p := params{ObservedOn: r.ObservedOn, Shortlist: r.Shortlist, Order: []string{}, Sources: map[string]spec.Source{}}
	for _, s := range r.Sources {
		p.Order = append(p.Order, s.ID)
		p.Sources[s.ID] = s
	}
	return p
}

func (p params) research() *spec.Research {
	r := &spec.Research{ObservedOn: p.ObservedOn, Shortlist: p.Shortlist}
	for _, id := range p.Order {
		r.Sources = append(r.Sources, p.Sources[id])
	}
	return r
}

// Steps is the one step of this stage, none when the campaign lists no research.
// Its parameters hold the snapshots' digests, so another snapshot is another key.
func Steps(c *spec.Campaign) []step.Step {
	if c.Research == nil {
		return nil
	}
	raw, err := json.Marshal(paramsOf(c.Research))
	if err != nil {
		panic(fmt.Sprintf("research: params: %v", err)) // plain strings and finite numbers: cannot fail
	}
	return []step.Step{{Name: evidence.ResearchStep, Kind: Kind, Revision: Revision, Params: raw, Pure: true}}
}

// Run classifies the sources of its parameters. It looks at nothing else.
func Run(_ context.Context, job step.Job) error {
	var p params
	if err := job.Params(&p); err != nil {
		return fmt.Errorf("research: %w", err)
	}
	r := prior.Of(&spec.Campaign{Research: p.research()})
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
