package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
)

const (
	answerLimit   = 200 // characters of an answer that are kept
	defaultPrompt = "Say hello in one short sentence."
	defaultJSON   = `Answer with this JSON object and nothing else: {"ok": true, "count": 3}`
)

// check returns a verdict with its reason, or an error when the endpoint could
// not be asked.
type check func(context.Context, *session) (evidence.Check, error)

var checks = map[string]check{
	"health":   health,
	"identity": identity,
	"generate": generate,
	"json":     jsonAnswer,
}

// Checks returns the names of the checks, sorted.
func Checks() []string { return slices.Sorted(maps.Keys(checks)) }

func health(ctx context.Context, s *session) (evidence.Check, error) {
	if err := s.ep.Health(ctx); err != nil {
		return evidence.Check{}, err
	}
	return pass("the endpoint answers"), nil
}

// identity fails as a drift, not as a refusal: a refusal would be kept for the
// pin that was expected, and say nothing about it.
func identity(ctx context.Context, s *session) (evidence.Check, error) {
	if err := pin.Recheck(ctx, s.ep, s.pin); err != nil {
		return evidence.Check{}, err
	}
	return pass("the endpoint is what its pin says"), nil
}

func generate(ctx context.Context, s *session) (evidence.Check, error) {
	prompt, want := defaultPrompt, ""
	if g := s.Generate; g != nil {
		prompt, want = or(g.Prompt, defaultPrompt), g.Expect
	}
	return s.ask(ctx, prompt, func(r llm.Response) string {
		switch {
		case strings.TrimSpace(r.Text) == "":
			return "the answer is empty"
		case r.FinishReason != "stop" && r.FinishReason != "length":
			return fmt.Sprintf("the finish reason is %q, want stop or length", r.FinishReason)
		case r.Usage == nil || r.Usage.OutputTokens == nil || r.Usage.PromptTokens == nil:
			return "the endpoint reports no token usage"
		case r.Times.FirstVisible < 0:
			return "the answer did not arrive as a stream"
		case !strings.Contains(r.Text, want):
			return fmt.Sprintf("the answer does not contain %q", want)
		}
		return ""
	})
}

func jsonAnswer(ctx context.Context, s *session) (evidence.Check, error) {
	prompt, expect := defaultJSON, json.RawMessage(nil)
	if j := s.JSON; j != nil {
		prompt = or(j.Prompt, defaultJSON)
		if j.Expect != nil {
			b, err := json.Marshal(j.Expect)
			if err != nil {
				return evidence.Check{}, err
			}
			expect = b
		}
	}
	return s.ask(ctx, prompt, func(r llm.Response) string { return oneValue(r.Text, expect) })
}

// ask sends one request and judges its answer; judge returns "" or what is
// wrong.
func (s *session) ask(ctx context.Context, prompt string, judge func(llm.Response) string) (evidence.Check, error) {
	p, err := s.ep.Prepare(s.request(prompt))
	if err != nil {
		return evidence.Check{}, err
	}
	r := s.ep.Do(ctx, p)
	if ctx.Err() != nil {
		return evidence.Check{}, ctx.Err()
	}
	c := evidence.Check{Request: &p.Digest, Answer: r.Text}
	switch {
	case r.Failure != nil && r.Failure.Class.Outside():
		return c, pin.Outside(r.Failure)
	case r.Failure != nil:
		c.Reason = fmt.Sprintf("%s: %s", r.Failure.Class, r.Failure.Message)
	default:
		c.Reason = judge(r)
	}
	if c.Reason == "" {
		c.Passed, c.Reason = true, "as asked"
	}
	return c, nil
}

// request asks as the measurement will: with the candidate's system prompt,
// sampling and room for reasoning.
func (s *session) request(prompt string) llm.Request {
	var turns []llm.Message
	if sys := s.pin.Declared.SystemPrompt; sys != "" {
		turns = append(turns, llm.Message{Role: "system", Content: sys})
	}
	maxTokens := s.Sampling.MaxTokens
	if r := s.pin.Declared.Reasoning; r != nil {
		maxTokens += r.HeadroomTokens
	}
	return llm.Request{
		Messages: append(turns, llm.Message{Role: "user", Content: prompt}),
		Sampling: llm.Sampling{Temperature: s.Sampling.Temperature, TopP: s.Sampling.TopP,
			Seed: s.Sampling.Seed, MaxTokens: maxTokens, Stop: s.Sampling.Stop},
	}
}

func pass(reason string) evidence.Check { return evidence.Check{Passed: true, Reason: reason} }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// clip keeps the first n characters.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
