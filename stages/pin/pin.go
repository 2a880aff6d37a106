// Package pin observes what an endpoint says it is and holds it against what
// the campaign declares.
//
// Its output is an input of every measuring step: it holds identifying facts
// only, so that its bytes are the same whenever the identity is the same, and
// a result of one configuration is never served for another.
package pin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Kind names the runner.
const Kind = "pin"

const revision = 2 // token probe, parameters of Ollama

// Identifier is the part of an endpoint that says what it is.
type Identifier interface {
	Identity(ctx context.Context) (llm.Identity, error)
	// Probe counts the tokens of a fixed text. It is called after Identity.
	Probe(ctx context.Context) (llm.TokenProbe, error)
}

// Steps returns one step per candidate and judge.
func Steps(c *spec.Campaign) []step.Step {
	var steps []step.Step
	for _, name := range c.Endpoints() {
		if _, ok := c.Candidates[name]; ok && c.Imported() {
			continue // its measurements are imported: it is not asked anything
		}
		pins, _ := c.Pinned(name)
		params, err := json.Marshal(declared(pins))
		if err != nil {
			panic("pin: a candidate is plain data: " + err.Error())
		}
		steps = append(steps, step.Step{
			Name: evidence.PinStep(name), Kind: Kind, Revision: revision,
			Params: params, Where: name, Observes: true,
		})
	}
	return steps
}

// declared clears what does not identify a configuration: the part it plays,
// how it is started and under which name it is reached.
func declared(c spec.Candidate) spec.Candidate {
	c.Role, c.Serve, c.CoResident, c.ServedName = "", nil, false, ""
	return c
}

// Runner observes an endpoint.
type Runner struct {
	// Dial returns the endpoint bound to a candidate. Its error wraps
	// step.ErrUnreachable when there is no binding.
	Dial func(candidate string) (Identifier, error)
	// ServedName returns the model name that the campaign declares for a
	// candidate, "" for none; nil = none. It stands outside the parameters, as
	// a served name is part of an address.
	ServedName func(candidate string) string
}

// Run writes the pin document, or fails when a declared pin is not what is
// served: then there is nothing that a measurement could be about.
func (r Runner) Run(ctx context.Context, job step.Job) error {
	var c spec.Candidate
	if err := job.Params(&c); err != nil {
		return err
	}
	where := job.Step().Where
	ep, err := r.Dial(where)
	if err != nil {
		return fmt.Errorf("pin %s: %w", where, err)
	}
	id, err := ep.Identity(ctx)
	if err != nil {
		return fmt.Errorf("pin %s: %w", where, err)
	}
	probe, err := ep.Probe(ctx)
	if err != nil {
		return fmt.Errorf("pin %s: %w", where, err)
	}
	doc := evidence.PinDoc{Declared: c, Observed: id, Probe: probe, Fields: compare(c, id, probe)}
	if err := r.mismatch(where, doc); err != nil {
		return err
	}
	return step.WriteJSON(job, evidence.OutPin, doc)
}
