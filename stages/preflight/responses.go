package preflight

import (
	"context"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

const readyPrompt = "Reply with exactly READY"

// responses wants the responses API at the same root, with an exact answer.
func responses(ctx context.Context, s *session) (evidence.Check, error) {
	via, err := s.beside(llm.OpenAIResponses)
	if err != nil {
		return evidence.Check{}, err
	}
	r := s.ability(readyPrompt)
	if c, err := llm.ParseReasoning(r.Reasoning); err == nil && c.Thinking != nil {
		r.Reasoning = "" // this API has no switch for it, and it is not what is asked here
	}
	a, err := s.responsesAnswer(ctx, via, r)
	if err != nil {
		return evidence.Check{}, err
	}
	return a.check(func(a answer) string {
		if a.FinishReason != "stop" {
			return fmt.Sprintf("the answer ended with %q, want it completed", clip(a.FinishReason, 64))
		}
		if got := strings.TrimSpace(a.Text); got != "READY" {
			return fmt.Sprintf("the answer is %q, want READY and nothing else", clip(got, 64))
		}
		return ""
	}), nil
}

// responsesAnswer is askVia, where a server without the path lacks the ability:
// it does answer, at the same root.
func (s *session) responsesAnswer(ctx context.Context, via Asker, r llm.Request) (answer, error) {
	p, err := via.Prepare(r)
	if err != nil {
		return answer{refused: err}, nil
	}
	q := question{what: "the request", request: r}
	res := via.Do(ctx, p)
	if f := res.Failure; f != nil && ctx.Err() == nil && (f.Class == llm.ClassNotFound || f.Status == 405 || f.Status == 501) {
		a := answer{Response: res, lacks: fmt.Sprintf("there is no responses API at this root: %s: %s", f.Class, f.Message), seen: observe(q, p.Digest, res)}
		s.note(a)
		return a, nil
	}
	a, err := concluded(ctx, q, p.Digest, res)
	if err == nil {
		s.note(a)
	}
	return a, err
}
