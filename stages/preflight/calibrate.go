package preflight

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// errLength is a length that cannot be held, which is a finding about the
// endpoint.
type errLength struct{ error }

// perToken finds how many characters a token has in texts that build makes of a
// ratio, so that a request with one has want tokens as the endpoint counts them.
// Each count is a request of one token. An errLength says why there is no ratio.
func (s *session) perToken(ctx context.Context, want int, build func(ratio float64) (string, error)) (float64, error) {
	c := prompts.Calibrate(want)
	for {
		chars, more := c.Next()
		if !more {
			break
		}
		text, err := build(c.Ratio(chars))
		if err != nil {
			return 0, errLength{err}
		}
		n, err := s.count(ctx, text)
		if err != nil {
			return 0, err
		}
		c.Tell(utf8.RuneCountInString(text), n)
	}
	ratio, _, err := c.Result()
	if err != nil {
		return 0, errLength{err}
	}
	return ratio, nil
}

// count is how many tokens the endpoint makes of a text, as a request.
func (s *session) count(ctx context.Context, text string) (int, error) {
	r := s.request(text)
	r.Sampling.Stop, r.NoOutput = nil, true
	a, err := send(ctx, s.ep, question{what: "count", request: r})
	switch {
	case err != nil:
		return 0, err
	case a.problem() != "":
		return 0, errLength{fmt.Errorf("a prompt of %d characters: %s", utf8.RuneCountInString(text), a.problem())}
	case promptTokens(&a.Response) == nil:
		return 0, errLength{errors.New("the endpoint reports no prompt tokens, so that no length can be shown")}
	}
	return int(*promptTokens(&a.Response)), nil
}

// lengthOff says by how much a request missed its length, "" = by at most 2 %.
func lengthOff(r *llm.Response, want int) string {
	n := promptTokens(r)
	if n == nil {
		return "the endpoint reports no prompt tokens, so that no length can be shown"
	}
	if off := float64(*n) - float64(want); off > 0.02*float64(want) || -off > 0.02*float64(want) {
		return fmt.Sprintf("the endpoint counts %d prompt tokens, want %d within 2 %%", *n, want)
	}
	return ""
}
