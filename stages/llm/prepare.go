package llm

import (
	"errors"
	"fmt"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// Prepare builds and hashes the body of a request, so that none of this is
// inside a timed region. Equal requests give equal bytes. The digest is the
// SHA-256 of the body: everything but the address and the headers.
func (c *Client) Prepare(r Request) (*Prepared, error) {
	k := c.known.Load()
	switch {
	case k.api == "":
		return nil, step.WithHint(errors.New("request: the endpoint's API is not known yet"), "set api in the binding, or ask for the identity first")
	case k.served == "":
		return nil, step.WithHint(errors.New("request: the model to ask for is not known yet"), "set servedName in the binding, or ask for the identity first")
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	p := &Prepared{api: k.api, model: k.served, stream: !r.NoStream, path: "/chat/completions"}
	var doc any
	var err error
	if k.api == Ollama {
		p.path = "/api/chat"
		doc, err = ollamaBody(&r, p)
	} else {
		doc, err = openAIBody(&r, p)
	}
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	if p.Body, err = json.Marshal(doc); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	p.Digest = step.Sum(p.Body)
	return p, nil
}

// check refuses what no endpoint could answer, before anything is sent.
func (r *Request) check() error {
	s := &r.Sampling
	switch {
	case len(r.Messages) == 0:
		return errors.New("it has no messages")
	case s.MaxTokens <= 0:
		return fmt.Errorf("max tokens is %d, want at least 1", s.MaxTokens)
	case s.Temperature < 0 || !finite(s.Temperature):
		return fmt.Errorf("temperature %v is not a number from 0", s.Temperature)
	case s.TopP < 0 || s.TopP > 1 || !finite(s.TopP):
		return fmt.Errorf("top_p %v is not between 0 and 1", s.TopP)
	case s.Seed > maxCount || s.Seed < -maxCount:
		return fmt.Errorf("seed %d is beyond 2^53-1, which JSON readers round", s.Seed)
	}
	return nil
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// compact checks a raw JSON part and takes its white space out; member order
// stays, as a prompt template may print it. what names the part in errors.
func compact(raw []byte, what string, want jsontext.Kind) (jsontext.Value, error) {
	if len(raw) == 0 || jsontext.Value(raw).Kind() == 'n' {
		return nil, nil
	}
	v := jsontext.Value(raw).Clone()
	if err := v.Compact(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if v.Kind() != want {
		return nil, fmt.Errorf("%s: a JSON %s, want %s", what, v.Kind(), want)
	}
	return v, nil
}
