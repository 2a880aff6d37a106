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
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Kind names the runner.
const Kind = "pin"

const revision = 3 // what vLLM, SGLang, TGI and llama.cpp tell; by which page; the template's behaviour; hardware

// Identifier is the part of an endpoint that says what it is.
type Identifier interface {
	Identity(ctx context.Context) (llm.Identity, error)
	// Probe counts the tokens of a fixed text. It is called after Identity.
	Probe(ctx context.Context) (llm.TokenProbe, error)
	// Hardware tells what the endpoint runs on. Not to know is no error; a
	// binding that is wrong about it is one.
	Hardware(ctx context.Context) (hardware.Seen, error)
}

// Steps returns one step per candidate and judge.
func Steps(c *spec.Campaign) []step.Step {
	var steps []step.Step
	for _, name := range c.Endpoints() {
		if _, ok := c.Candidates[name]; ok && c.Imported() {
			continue // its measurements are imported: it is not asked anything
		}
		pins, _ := c.Pinned(name)
		params, err := json.Marshal(stepParams{declared(pins), name, strictly(c, name)})
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

// Configuration is what a candidate or judge declares that a measurement could
// depend on, its served name with it, as text to compare: where it is equal, nothing
// tells two apart.
func Configuration(c *spec.Campaign, name string) string {
	pins, _ := c.Pinned(name)
	params, err := json.Marshal(declared(pins))
	if err != nil {
		panic("pin: a candidate is plain data: " + err.Error())
	}
	return string(params) + "\x00" + c.Candidates[name].ServedName
}

// stepParams are those of a pin step. That pins are strict is among them: what was
// observed without is no record of a campaign that is.
//
// So is the name, which no measurement's key has: two candidates that declare the
// same are two endpoints, and one that cannot be reached must not stand on what the
// other said.
type stepParams struct {
	spec.Candidate
	Of     string `json:"of"`
	Strict bool   `json:"strictPins,omitempty"`
}

// strictly reports whether a pin that stays unknown stops an endpoint. A judge
// is not compared with anything.
func strictly(c *spec.Campaign, name string) bool {
	_, candidate := c.Candidates[name]
	return candidate && c.Pins == "strict"
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
	var p stepParams
	if err := job.Params(&p); err != nil {
		return err
	}
	where := job.Step().Where
	ep, err := r.Dial(where)
	if err != nil {
		return fmt.Errorf("pin %s: %w", where, err)
	}
	doc, seen, err := Observe(ctx, ep, p.Candidate)
	if err != nil {
		return fmt.Errorf("pin %s: %w", where, err)
	}
	if err := r.mismatch(where, doc); err != nil {
		return err
	}
	if p.Strict {
		if err := refuse(where, doc); err != nil {
			return err
		}
	}
	if err := writeHardware(job, seen); err != nil {
		return err
	}
	return step.WriteJSON(job, evidence.OutPin, doc)
}
