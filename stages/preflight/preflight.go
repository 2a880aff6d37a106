// Package preflight checks a candidate before anything is measured: that it
// answers, is what its pin says, and can do what the campaign asks of it.
//
// A check that fails is a result and refuses the candidate. An endpoint that
// could not be asked is an error and refuses nothing.
package preflight

import (
	"context"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
)

// Kind names the runner.
const Kind = "preflight"

const revision = 2

// Asker sends requests.
type Asker interface {
	Prepare(llm.Request) (*llm.Prepared, error)
	Do(context.Context, *llm.Prepared) llm.Response
}

// Endpoint is what the checks need.
type Endpoint interface {
	pin.Identifier
	Asker
	Health(ctx context.Context) error
}

// Runner checks an endpoint.
type Runner struct {
	// Dial returns the endpoint bound to a candidate.
	Dial func(candidate string) (Endpoint, error)
	// Beside returns another protocol's way to the same server; nil = there is
	// none. It is called when the model that the endpoint serves is known.
	Beside func(Endpoint, llm.API) (Asker, error)
}

// Run runs all checks, also after one has failed, writes what was found and
// refuses the candidate when a check was not passed.
func (r Runner) Run(ctx context.Context, job step.Job) error {
	s, err := r.open(job)
	if err != nil {
		return fmt.Errorf("preflight %s: %w", job.Step().Where, err)
	}
	doc := evidence.PreflightDoc{Passed: true}
	for i, name := range s.Checks {
		job.Progress(i, len(s.Checks), name)
		c, err := s.run(ctx, name)
		if err != nil {
			return fmt.Errorf("preflight %s: %s: %w", job.Step().Where, name, err)
		}
		doc.Checks = append(doc.Checks, c)
	}
	if c, ok := s.policy(doc.Checks); ok {
		doc.Checks = append(doc.Checks, c)
	}
	for _, c := range doc.Checks {
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
	job    step.Job
	ep     Endpoint
	pin    evidence.PinDoc
	beside func(llm.API) (Asker, error)

	identified bool                   // the endpoint was asked what it is
	seen       []evidence.Observation // of the check that runs
}

func (r Runner) open(job step.Job) (*session, error) {
	s := &session{job: job}
	if err := job.Params(&s.params); err != nil {
		return nil, err
	}
	for _, name := range s.Checks {
		if _, ok := checks[name]; !ok {
			return nil, step.WithHint(fmt.Errorf("there is no check %q", name), "use "+strings.Join(Checks(), ", "))
		}
	}
	var err error
	if s.pin, err = pin.Read(job); err != nil {
		return nil, err
	}
	if s.ep, err = r.Dial(job.Step().Where); err != nil {
		return nil, err
	}
	s.beside = func(api llm.API) (Asker, error) {
		if r.Beside == nil {
			return nil, fmt.Errorf("api %s cannot be asked here", api)
		}
		return r.Beside(s.ep, api)
	}
	return s, nil
}

// known makes sure that the endpoint knows which model to ask for before it is
// asked something, where the identity was not looked at yet.
func (s *session) known(ctx context.Context, name string) error {
	if s.identified || checks[name].sends == nil {
		return nil
	}
	s.identified = true
	_, err := s.ep.Identity(ctx)
	return err
}

// run makes one check and fills in what all have in common.
func (s *session) run(ctx context.Context, name string) (evidence.Check, error) {
	s.seen = nil
	if err := s.known(ctx, name); err != nil {
		return evidence.Check{}, err
	}
	c, err := checks[name].run(ctx, s)
	if err != nil {
		return c, err
	}
	c.Name, c.Passed, c.Observations = name, c.Verdict == evidence.CheckPassed, distinct(s.seen)
	if s.theirs(name) {
		c.Compat = s.Compat
	}
	if n := len(s.seen); n > 0 {
		c.Request, c.Answer = &s.seen[0].Request, clip(s.seen[n-1].Text, answerLimit)
	}
	return c, nil
}

func reason(doc evidence.PreflightDoc) string {
	var failed []string
	for _, c := range doc.Checks {
		if !c.Passed {
			failed = append(failed, c.Name+": "+c.Reason)
		}
	}
	if more := len(failed) - reasonsNamed; more > 0 {
		failed = append(failed[:reasonsNamed:reasonsNamed], fmt.Sprintf("and %d more, which cupel show lists", more))
	}
	return "preflight " + strings.Join(failed, "; ")
}

// reasonsNamed is how many failed checks a refusal names: it is repeated in the
// line of every step that does not run because of it.
const reasonsNamed = 3
