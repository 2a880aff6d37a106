package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
)

// answer is what came of one request. At most one of refused, lacks and wrong
// is set; none means that there is a usable answer.
type answer struct {
	llm.Response
	refused error  // it cannot be put into the endpoint's protocol
	lacks   string // the endpoint said that it cannot do this
	wrong   string // it failed
	seen    evidence.Observation
}

// check judges an answer; judge returns "" or what is wrong.
func (a answer) check(judge func(answer) string) evidence.Check {
	switch why := a.missing(); {
	case why != "":
		return notSupported(why)
	case a.wrong != "":
		return failed(a.wrong)
	}
	return judged(judge(a), "as asked")
}

// missing says why the endpoint cannot be asked this, "" = it can.
func (a answer) missing() string {
	if a.refused == nil {
		return a.lacks
	}
	if h, ok := errors.AsType[*step.Hint](a.refused); ok {
		return h.Err.Error() + "; " + h.Todo
	}
	return a.refused.Error()
}

// problem is missing, or why there is no usable answer, "" = there is one.
func (a answer) problem() string {
	if why := a.missing(); why != "" {
		return why
	}
	return a.wrong
}

// question is a request and what it is called in the evidence.
type question struct {
	what    string
	request llm.Request
	limited bool // the answer is meant to be cut
}

// ask sends one request to the endpoint.
func (s *session) ask(ctx context.Context, q question) (answer, error) {
	return s.askVia(ctx, s.ep, q)
}

func (s *session) askVia(ctx context.Context, via Asker, q question) (answer, error) {
	a, err := send(ctx, via, q)
	if err == nil && a.refused == nil {
		s.note(a)
	}
	return a, err
}

// askAll sends n requests, at most so many at once, and notes them in order.
func (s *session) askAll(ctx context.Context, n, atOnce int, of func(i int) question) ([]answer, error) {
	out := make([]answer, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range n {
		g.Go(func() (err error) {
			out[i], err = send(ctx, s.ep, of(i))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, a := range out {
		if a.refused == nil {
			s.note(a)
		}
	}
	return out, nil
}

func (s *session) note(a answer) { s.seen = append(s.seen, a.seen) }

// send sends a request once. An endpoint that could not be looked at is an
// error, unless what it says is that it cannot do this.
func send(ctx context.Context, via Asker, q question) (answer, error) {
	p, err := via.Prepare(q.request)
	if err != nil {
		return answer{refused: err}, nil
	}
	return concluded(ctx, q, p.Digest, via.Do(ctx, p))
}

// concluded says what a response is worth.
func concluded(ctx context.Context, q question, request step.Digest, r llm.Response) (answer, error) {
	a := answer{Response: r}
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	a.seen = observe(q, request, r)
	switch f := a.Failure; {
	case f == nil:
	case lacking(f):
		a.lacks = fmt.Sprintf("%s: %s", f.Class, f.Message)
	case f.Class.Outside():
		return a, pin.Outside(f)
	default:
		a.wrong = fmt.Sprintf("%s: %s", f.Class, f.Message)
	}
	return a, nil
}

// lackingWords are how servers say that they cannot do what is asked: Ollama and
// llama.cpp that a model or a server does not support it, vLLM that a model is
// not a multimodal one, both that an option of the server is needed for tools.
var lackingWords = []string{"not support", "unsupported", "not a multimodal", "requires --"}

// lacking reports whether a failure means that the endpoint lacks an ability.
// llama.cpp answers so with 500, which would else mean that we could not look.
func lacking(f *llm.Failure) bool {
	switch f.Class {
	case llm.ClassRejected, llm.ClassServerError, llm.ClassInBandError:
	default:
		return false
	}
	said := strings.ToLower(f.Message)
	return slices.ContainsFunc(lackingWords, func(w string) bool { return strings.Contains(said, w) })
}

// request asks as the measurement will: with the candidate's system prompt,
// sampling, reasoning control and room for reasoning.
func (s *session) request(prompt string) llm.Request {
	return llm.Request{
		Messages:  s.turns(prompt),
		Reasoning: s.control(),
		Sampling: llm.Sampling{Temperature: s.Sampling.Temperature, TopP: s.Sampling.TopP,
			Seed: s.Sampling.Seed, MaxTokens: s.Sampling.MaxTokens + s.headroom(), Stop: s.Sampling.Stop},
	}
}

// own asks for something that is judged by its form: with room enough for it,
// and without the candidate's stop sequences, which would cut it.
func (s *session) own(prompt string) llm.Request {
	r := s.request(prompt)
	r.Sampling.MaxTokens, r.Sampling.Stop = visibleTokens(s.Sampling)+s.headroom(), nil
	return r
}

// ability is own, or the other tool's way to ask.
func (s *session) ability(prompt string) llm.Request {
	if s.Compat != "" {
		return s.anvil(prompt)
	}
	return s.own(prompt)
}

// leastVisible is the room for an answer that is judged by its form.
const leastVisible = 256

func visibleTokens(s spec.Sampling) int { return max(leastVisible, s.MaxTokens) }

func (s *session) turns(prompt string) []llm.Message {
	var turns []llm.Message
	if sys := s.pin.Declared.SystemPrompt; sys != "" {
		turns = append(turns, llm.Message{Role: "system", Content: sys})
	}
	return append(turns, llm.Message{Role: "user", Content: prompt})
}

func (s *session) control() string {
	if r := s.pin.Declared.Reasoning; r != nil && r.Control != "none" {
		return r.Control
	}
	return ""
}

func (s *session) headroom() int {
	if r := s.pin.Declared.Reasoning; r != nil {
		return r.HeadroomTokens
	}
	return 0
}
