package preflight

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// longTools wants a tool call at the end of a prompt that the endpoint itself
// counts as long: a prompt that was meant to be long proves nothing.
func longTools(ctx context.Context, s *session) (evidence.Check, error) {
	p := s.longTools()
	text, err := s.longText(ctx, p.PromptTokens)
	if l, ok := errors.AsType[errLength](err); ok {
		return failed(l.Error()), nil
	}
	if err != nil {
		return evidence.Check{}, err
	}
	r := s.toolRequest(cityAt(1))
	last := &r.Messages[len(r.Messages)-1]
	last.Content = text + "\n\n" + last.Content
	a, err := s.ask(ctx, question{what: "the request", request: r})
	if err != nil {
		return evidence.Check{}, err
	}
	c := a.check(func(a answer) string {
		if why := tooShort(promptTokens(&a.Response), p.Min); why != "" {
			return why
		}
		return s.toolAnswerWrong(a, cityAt(1))
	})
	if a.missing() != "" {
		return c, nil
	}
	least := float64(p.Min)
	c.Measured = []evidence.Measured{counted("prompt_tokens", "tokens", promptTokens(&a.Response), &least)}
	return c, nil
}

func tooShort(n *int64, least int) string {
	switch {
	case n == nil:
		return "the endpoint reports no prompt tokens, so that no length can be shown"
	case *n < int64(least):
		return fmt.Sprintf("the endpoint counts %d prompt tokens, want at least %d", *n, least)
	}
	return ""
}

// sampleTokens is the length of the text by which a token is measured: the whole
// one would be read once more for every look.
const sampleTokens = 512

func (s *session) longText(ctx context.Context, tokens int) (string, error) {
	if s.Compat != "" {
		return anvilArchive(tokens), nil
	}
	ratio, err := s.perToken(ctx, min(tokens, sampleTokens), func(ratio float64) (string, error) {
		return archive(int(ratio * float64(min(tokens, sampleTokens)))), nil
	})
	return archive(int(ratio * float64(tokens))), err
}

// archive is so many characters of numbered lines that have nothing to do with
// any question.
func archive(chars int) string {
	var b strings.Builder
	for i := 0; b.Len() < chars; i++ {
		fmt.Fprintf(&b, "Shelf %06d holds %d folders, and the last of them was closed in the %s.\n", i, 3+i*7%29, seasons[i%len(seasons)])
	}
	return b.String()[:chars]
}

var seasons = []string{"spring", "summer", "autumn", "winter"}
