package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
	"github.com/cupel-dev/cupel/stages/pin"
)

// calibrated is how many characters a token has in the prompts of a cell; the
// zero value is the nominal ratio.
type calibrated struct {
	perToken float64
	by       string // usage | tokenize; "" = nominal
	template *int   // tokens that a request has besides its text, nil = not measured
	why      string // it is nominal although it was to be calibrated, "" = it was not to be
}

func (c calibrated) describe(h *evidence.CellHeader) {
	h.Prompts.CharsPerToken, h.Prompts.CalibratedBy, h.Prompts.Template = c.perToken, c.by, c.template
	if c.why != "" {
		h.Prompts.Doubts = append(h.Prompts.Doubts, "the prompts could not be calibrated: "+c.why)
	}
	if c.by == "" {
		h.Prompts.CharsPerToken, h.Prompts.CalibratedBy = prompts.NominalCharsPerToken, "nominal"
	}
}

// errUncounted: the engine tells nobody how many tokens a prompt has.
var errUncounted = errors.New("the engine does not count prompt tokens")

// calibrate finds the ratio with which prompts of want tokens have as many as
// the engine counts them. build makes the k-th prompt with a ratio; none of
// them may be like one that is timed. Where that cannot be done because the
// engine counts nothing, or no length lands within 2 %, it stays nominal,
// unless the campaign asks for it.
func (s *station) calibrate(ctx context.Context, want int, asked bool, build func(perToken float64, k int) (prompts.Prompt, error)) (calibrated, error) {
	c, err := s.counted(ctx, want, build)
	if err == nil || asked || !errors.Is(err, errUncounted) && !errors.Is(err, prompts.ErrNoLength) {
		return c, err
	}
	s.job.Logf("prompts of %d tokens stay nominal: %v", want, err)
	return calibrated{why: err.Error()}, nil
}

// uncalibrated is what to do about a length that cannot be held.
const uncalibrated = "ask for another length, or write calibrate: nominal and look at prompt_tokens"

func (s *station) counted(ctx context.Context, want int, build func(perToken float64, k int) (prompts.Prompt, error)) (calibrated, error) {
	c, count := prompts.Calibrate(want), &counter{at: s}
	for k := 0; ; k++ {
		chars, more := c.Next()
		if !more {
			break
		}
		p, err := build(c.Ratio(chars), k)
		if err != nil {
			return calibrated{}, err
		}
		s.job.Progress(0, 0, fmt.Sprintf("calibrating prompts of %d tokens", want))
		n, err := count.tokens(ctx, p.Text)
		if errors.Is(err, errUncounted) {
			err = step.WithHint(err, uncalibrated)
		}
		if err != nil {
			return calibrated{}, fmt.Errorf("calibration: %w", err)
		}
		c.Tell(utf8.RuneCountInString(p.Text), n)
	}
	ratio, counted, err := c.Result()
	if err != nil {
		return calibrated{}, step.WithHint(fmt.Errorf("calibration: %w", err), uncalibrated)
	}
	s.job.Logf("%.4f characters a token: %d tokens were asked for, %d counted (%s)", ratio, want, counted, count.by)
	return calibrated{perToken: ratio, by: count.by, template: count.template}, nil
}

// counter asks an endpoint how many tokens a prompt has as a request: with its
// tokenizer, to which the chat template's share is added, or with requests of
// one token.
type counter struct {
	at       *station
	by       string
	template *int // tokens that a request has besides its text, nil = not measured
}

func (c *counter) tokens(ctx context.Context, text string) (int, error) {
	if c.by == "usage" {
		return c.usage(ctx, text)
	}
	n, by, err := c.at.Tokens(ctx, text)
	switch {
	case errors.Is(err, llm.ErrNoTokenize):
		c.by = "usage"
		return c.usage(ctx, text)
	case err != nil:
		return 0, err
	}
	if c.by == "" { // the first text
		c.by = by
		whole, err := c.usage(ctx, text)
		if err != nil && !errors.Is(err, errUncounted) {
			return 0, err
		}
		if err == nil {
			c.template = new(max(0, whole-n))
		}
	}
	if c.template != nil {
		n += *c.template
	}
	return n, nil
}

// besides returns the tokens that a request has besides its text, nil = they
// cannot be counted. short is the text of the one request that may be needed.
func (s *station) besides(ctx context.Context, c calibrated, short string) (*int, error) {
	if c.by != "usage" {
		return c.template, nil
	}
	n, err := (&counter{at: s}).usage(ctx, short)
	if errors.Is(err, errUncounted) {
		return nil, nil
	}
	return new(max(0, n-int(float64(len(short))/c.perToken))), err
}

// usage sends the text for one token of output.
func (c *counter) usage(ctx context.Context, text string) (int, error) {
	req, err := c.at.Prepare(llm.Request{
		Messages: messages(c.at.system, text),
		Sampling: llm.Sampling{TopP: 1, MaxTokens: 1}, Reasoning: c.at.control, NoOutput: true,
	})
	if err != nil {
		return 0, err
	}
	r := c.at.Do(ctx, req)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case r.Failure != nil && r.Failure.Class.Outside():
		return 0, pin.Outside(r.Failure)
	case r.Failure != nil:
		return 0, fmt.Errorf("%s: %s", r.Failure.Class, r.Failure.Message)
	case r.Usage == nil || r.Usage.PromptTokens == nil:
		return 0, errUncounted
	}
	return int(*r.Usage.PromptTokens), nil
}

// median is the middle one of lengths.
func median(lengths []int) int {
	sorted := slices.Sorted(slices.Values(lengths))
	return sorted[(len(sorted)-1)/2]
}
