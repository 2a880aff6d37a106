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
	// Scrape returns the engine's own metrics, llm.ErrNoMetrics when it has none.
	Scrape(ctx context.Context) ([]byte, error)
	// Tokens counts a text's tokens and says how, llm.ErrNoTokenize when the
	// endpoint cannot be asked.
	Tokens(ctx context.Context, text string) (n int, by string, err error)
	Close()
}

// Need says what an endpoint is opened for.
type Need struct {
	Candidate string        // the binding
	Timeout   time.Duration // per request, 0 = the client's default
	Conns     int           // requests that will be in flight together
	Replica   int           // 0 = the binding's own address, from 1 its further ones
}

// Dial opens an endpoint. The runner closes it.
type Dial func(Need) (Endpoint, error)

// open dials and makes sure that the endpoint is still what the pin says. This
// also settles the API and the served model, which Prepare needs.
func (d Dial) open(ctx context.Context, job step.Job, n Need) (*session, error) {
	s := &session{}
	var err error
	if s.pin, err = pin.Read(job); err != nil {
		return nil, err
	}
	n.Candidate = job.Step().Where
	if s.Endpoint, err = d(n); err != nil {
		return nil, err
	}
	if err := s.recheck(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// timeout reads the time-out of a workload's requests; "" = the client's own.
func timeout(s string) (time.Duration, error) {
	d, err := duration(s)
	if err != nil {
		return 0, fmt.Errorf("timeout %w", err)
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

// control is the reasoning control that a request carries, "" = none.
func control(r *spec.Reasoning) string {
	if r == nil || r.Control == "none" {
		return ""
	}
	return r.Control
}
