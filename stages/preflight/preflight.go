// Package preflight checks a candidate before anything is measured: that it
// answers, is what its pin says, generates, and follows a format.
//
// A check that fails is a result and refuses the candidate. An endpoint that
// could not be asked is an error and refuses nothing.
package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
)

// Kind names the runner.
const Kind = "preflight"

const revision = 1

// Endpoint is what the checks need.
type Endpoint interface {
	pin.Identifier
	Health(ctx context.Context) error
	Prepare(llm.Request) (*llm.Prepared, error)
	Do(context.Context, *llm.Prepared) llm.Response
}

type params struct {
	Checks   []string            `json:"checks"`
	JSON     *spec.JSONCheck     `json:"json,omitempty"`
	Generate *spec.GenerateCheck `json:"generate,omitempty"`
	Sampling spec.Sampling       `json:"sampling"`
}

// Steps returns one step per candidate.
func Steps(c *spec.Campaign) []step.Step {
	var steps []step.Step
	if c.Imported() {
		return nil // nobody is asked anything
	}
	for _, name := range slices.Sorted(maps.Keys(c.Candidates)) {
		p, err := json.Marshal(params{c.Preflight.Checks, c.Preflight.JSON, c.Preflight.Prompt, c.Candidates[name].Sampling})
		if err != nil {
			panic("preflight: parameters are plain data: " + err.Error())
		}
		steps = append(steps, step.Step{
			Name: evidence.PreflightStep(name), Kind: Kind, Revision: revision, Params: p,
			Inputs: map[string]step.Input{pin.Input: {Step: evidence.PinStep(name), Output: evidence.OutPin}},
			After:  []string{evidence.PinStep(name)}, Where: name,
			Cost: cost(c.Preflight.Checks, c.Candidates[name]),
		})
	}
	return steps
}

func cost(names []string, c spec.Candidate) (sum step.Cost) {
	for _, n := range names {
		if n == "generate" || n == "json" {
			sum.Requests++
			sum.Tokens += c.Sampling.MaxTokens
		}
	}
	return sum
}

// Runner checks an endpoint.
type Runner struct {
	// Dial returns the endpoint bound to a candidate.
	Dial func(candidate string) (Endpoint, error)
}

// Run runs all checks, also after one has failed, writes what was found and
// refuses the candidate when a check failed.
func (r Runner) Run(ctx context.Context, job step.Job) error {
	s, err := r.open(job)
	if err != nil {
		return fmt.Errorf("preflight %s: %w", job.Step().Where, err)
	}
	doc := evidence.PreflightDoc{Passed: true}
	for i, name := range s.Checks {
		job.Progress(i, len(s.Checks), name)
		c, err := checks[name](ctx, s)
		if err != nil {
			return fmt.Errorf("preflight %s: %s: %w", job.Step().Where, name, err)
		}
		c.Name, c.Answer = name, clip(c.Answer, answerLimit)
		doc.Checks = append(doc.Checks, c)
		doc.Passed = doc.Passed && c.Passed
	}
	if err := step.WriteJSON(job, evidence.OutPreflight, doc); err != nil {
		return err
	}
	if !doc.Passed {
		job.Refuse(reason(doc))
	}
	return nil
}

// session is one run of the checks.
type session struct {
	params
	ep  Endpoint
	pin evidence.PinDoc
}

func (r Runner) open(job step.Job) (*session, error) {
	s := &session{}
	if err := job.Params(&s.params); err != nil {
		return nil, err
	}
	for _, name := range s.Checks {
		if checks[name] == nil {
			return nil, step.WithHint(fmt.Errorf("there is no check %q", name), "use "+strings.Join(Checks(), ", "))
		}
	}
	var err error
	if s.pin, err = pin.Read(job); err != nil {
		return nil, err
	}
	s.ep, err = r.Dial(job.Step().Where)
	return s, err
}

func reason(doc evidence.PreflightDoc) string {
	var failed []string
	for _, c := range doc.Checks {
		if !c.Passed {
			failed = append(failed, c.Name+": "+c.Reason)
		}
	}
	return "preflight " + strings.Join(failed, "; ")
}
