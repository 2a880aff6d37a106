package preflight

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

const (
	needlePosition = 0.58
	needleSeed     = 17
)

// needle hides a secret in a text of a length that the endpoint itself counts,
// and wants it back.
func needle(ctx context.Context, s *session) (evidence.Check, error) {
	if s.Compat != "" {
		return s.anvilNeedle(ctx)
	}
	if s.Needle == nil {
		return evidence.Check{}, errors.New("it has no length: set preflight.needle.promptTokens")
	}
	want := s.Needle.PromptTokens
	item := prompts.ContextItem{Case: prompts.NativeNeedle, Bucket: want, Position: s.position(), Seed: needleSeed}
	build := func(ratio float64) (string, error) {
		p, err := item.Build(ratio)
		return p.Text, err
	}
	ratio, err := s.perToken(ctx, want, build)
	if l, ok := errors.AsType[errLength](err); ok {
		return failed(l.Error()), nil
	}
	if err != nil {
		return evidence.Check{}, err
	}
	p, err := item.Build(ratio)
	if err != nil {
		return failed(err.Error()), nil
	}
	return s.askNeedle(ctx, p, want)
}

func (s *session) askNeedle(ctx context.Context, p prompts.Prompt, want int) (evidence.Check, error) {
	a, err := s.ask(ctx, question{what: "the request", request: s.ability(p.Text)})
	if err != nil {
		return evidence.Check{}, err
	}
	c := a.check(func(a answer) string {
		if off := lengthOff(&a.Response, want); off != "" {
			return off
		}
		return secretWrong(a.Text, p.Answer.Want)
	})
	if a.missing() == "" {
		wanted := float64(want)
		c.Measured = []evidence.Measured{counted("prompt_tokens", "tokens", promptTokens(&a.Response), &wanted)}
	}
	if c.Verdict == evidence.CheckPassed {
		c.Reason = fmt.Sprintf("the secret was found in %d tokens", *promptTokens(&a.Response))
	}
	return c, nil
}

// secrets are the words of an answer that might be the secret.
var secrets = regexp.MustCompile(`[\pL\pN]+`)

// secretForm is the form that all secrets have.
var secretForm = regexp.MustCompile(`^K[0-9]{12}$`)

// secretWrong wants the secret as a word of the answer, letter by letter, and
// no other one.
func secretWrong(text, want string) string {
	found := false
	for _, word := range secrets.FindAllString(text, -1) {
		switch {
		case word == want:
			found = true
		case secretForm.MatchString(word):
			return fmt.Sprintf("the answer holds the secret %s, which the text does not, want %s", word, want)
		}
	}
	if !found {
		return fmt.Sprintf("the secret %s is not in the answer", want)
	}
	return ""
}
