package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/pin"
)

const (
	defaultPrompt = "Say hello in one short sentence."
	defaultValue  = `{"ok": true, "count": 3}`
	defaultJSON   = "Answer with this JSON object and nothing else: " + defaultValue
)

func health(ctx context.Context, s *session) (evidence.Check, error) {
	if err := s.ep.Health(ctx); err != nil {
		return evidence.Check{}, err
	}
	return passed("the endpoint answers"), nil
}

// identity fails as a drift, not as a refusal: a refusal would be kept for the
// pin that was expected, and say nothing about it.
func identity(ctx context.Context, s *session) (evidence.Check, error) {
	if err := pin.Recheck(ctx, s.ep, s.pin); err != nil {
		return evidence.Check{}, err
	}
	s.identified = true
	return passed("the endpoint is what its pin says"), nil
}

func generate(ctx context.Context, s *session) (evidence.Check, error) {
	prompt, want := defaultPrompt, ""
	theirs := s.theirs("generate")
	if theirs {
		prompt, want = anvilSmoke, anvilSmokeWant
	}
	if g := s.Generate; g != nil {
		prompt, want = or(g.Prompt, prompt), g.Expect
	}
	return s.plain(ctx, prompt, theirs, func(a answer) string {
		switch {
		case theirs:
		case strings.TrimSpace(a.Text) == "":
			return "the answer is empty"
		case a.FinishReason != "stop" && a.FinishReason != "length":
			return fmt.Sprintf("the finish reason is %q, want stop or length", a.FinishReason)
		case outputTokens(&a.Response) == nil || promptTokens(&a.Response) == nil:
			return "the endpoint reports no token usage that can be used"
		case a.Times.FirstVisible < 0:
			return "the answer did not arrive as a stream"
		}
		if !strings.Contains(a.Text, want) {
			return fmt.Sprintf("the answer does not contain %q", want)
		}
		return ""
	})
}

func jsonAnswer(ctx context.Context, s *session) (evidence.Check, error) {
	prompt, expect := defaultJSON, json.RawMessage(defaultValue)
	theirs := s.theirs("json")
	if theirs {
		prompt = anvilJSON
	}
	if j := s.JSON; j != nil {
		if prompt = or(j.Prompt, prompt); j.Prompt != "" {
			expect = nil
		}
		if j.Expect != nil {
			b, err := json.Marshal(j.Expect)
			if err != nil {
				return evidence.Check{}, err
			}
			expect = b
		}
	}
	return s.plain(ctx, prompt, theirs, func(a answer) string {
		if theirs {
			return anvilJSONWrong(a.Text)
		}
		return oneValue(a.Text, expect)
	})
}

// theirs reports whether a check is made by another tool's rule. A prompt or an
// expectation of the campaign's own goes over it.
func (s *session) theirs(name string) bool {
	switch {
	case s.Compat == "" || name == "generate" && s.Generate != nil || name == "json" && s.JSON != nil:
		return false
	}
	return checks[name].compat
}

// plain sends what every endpoint must be able to answer: a request that cannot
// be made is a mistake in the campaign and no finding about the candidate.
func (s *session) plain(ctx context.Context, prompt string, theirs bool, judge func(answer) string) (evidence.Check, error) {
	r := s.request(prompt)
	if theirs {
		r = s.anvil(prompt)
	}
	a, err := s.ask(ctx, question{what: "the request", request: r})
	switch {
	case err != nil:
		return evidence.Check{}, err
	case a.refused != nil:
		return evidence.Check{}, a.refused
	case a.lacks != "":
		return failed(a.lacks), nil
	}
	return a.check(judge), nil
}
