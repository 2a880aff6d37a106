// Package measure sends what a campaign asks for and keeps what comes back:
// answers to items (generate), timed load (cell), and the metrics of that load.
//
// A generation may be killed anywhere: it goes on after the last answer that
// the journal holds, and its output has the same bytes as if nothing had
// happened. A timing cell cannot be resumed and is measured again.
package measure

import (
	"context"
	"fmt"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
)

// Endpoint is what measuring needs of an endpoint.
type Endpoint interface {
	pin.Identifier
	Prepare(llm.Request) (*llm.Prepared, error)
	Do(context.Context, *llm.Prepared) llm.Response
	Warm(ctx context.Context, n int) error
	Close()
}

// Need says what an endpoint is opened for.
type Need struct {
	Candidate string        // the binding
	Timeout   time.Duration // per request, 0 = the client's default
	Conns     int           // requests that will be in flight together
}

// Dial opens an endpoint. The runner closes it.
type Dial func(Need) (Endpoint, error)

// open dials and makes sure that the endpoint is still what the pin says. This
// also settles the API and the served model, which Prepare needs.
func (d Dial) open(ctx context.Context, job step.Job, timeout string, conns int) (*session, error) {
	limit, err := duration(timeout)
	if err != nil {
		return nil, err
	}
	s := &session{}
	if s.pin, err = pin.Read(job); err != nil {
		return nil, err
	}
	if s.Endpoint, err = d(Need{Candidate: job.Step().Where, Timeout: limit, Conns: conns}); err != nil {
		return nil, err
	}
	if err := s.recheck(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func duration(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("timeout %q is not a duration; write it like 90s or 10m", s)
	}
	return d, nil
}

// sampling is what is sent with every request; k is the sample's number.
// Reasoning tokens count towards the limit, so their room is added to it.
func sampling(s spec.Sampling, r *spec.Reasoning, k int) llm.Sampling {
	limit := s.MaxTokens
	if r != nil {
		limit += r.HeadroomTokens
	}
	return llm.Sampling{Temperature: s.Temperature, TopP: s.TopP, Seed: s.Seed + int64(k), MaxTokens: limit, Stop: s.Stop}
}

// sendable refuses what a request cannot carry: measuring without it would
// measure another configuration than the one declared.
func sendable(r *spec.Reasoning) error {
	if r == nil || r.Control == "" || r.Control == "none" {
		return nil
	}
	return step.WithHint(fmt.Errorf("reasoning control %q cannot be sent with a request", r.Control),
		"set it when the server is started and declare control: none")
}
