package preflight

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// What is known of a reasoning control.
const (
	statusVerified     = "verified"
	statusUnverified   = "unverified"
	statusContradicted = "contradicted"
	statusUnsupported  = "unsupported"
)

const (
	puzzle = "Three boxes hold 12, 19 and 23 marbles. Two marbles are moved from the fullest box to the emptiest one, " +
		"and then once more. How many marbles does each box hold now? Answer with the three numbers."
	puzzleTokens = 1024
)

// reasoning asks twice, with the candidate's control and with the opposite one,
// and looks whether the control had its effect: that a server accepts a field
// proves nothing, since most ignore what they do not know.
func reasoning(ctx context.Context, s *session) (evidence.Check, error) {
	with := s.control()
	if with == "" {
		return s.reasoningOutcome(statusUnverified, "the candidate declares no reasoning control, so there is nothing to verify"), nil
	}
	a, err := s.askPuzzle(ctx, with)
	if err != nil {
		return evidence.Check{}, err
	}
	b, err := s.askPuzzle(ctx, opposite(with, s.modelName()))
	if err != nil {
		return evidence.Check{}, err
	}
	for _, x := range []answer{a, b} {
		if why := x.missing(); why != "" {
			return s.reasoningOutcome(statusUnsupported, why), nil
		}
		if x.wrong != "" && x.Failure.Class != llm.ClassEmpty { // reasoning alone is an answer here
			return failed(x.wrong), nil
		}
	}
	status, why := controlEffect(with, a, b)
	c := s.reasoningOutcome(status, why)
	c.Measured = append(effectOf("with", a), effectOf("against", b)...)
	return c, nil
}

func (s *session) askPuzzle(ctx context.Context, control string) (answer, error) {
	r := s.own(or(s.reasoning().Prompt, puzzle))
	r.Reasoning = control
	r.Sampling.MaxTokens = max(puzzleTokens, s.Sampling.MaxTokens) + s.headroom()
	return s.ask(ctx, question{what: control, request: r})
}

// reasoningOutcome is the outcome that a status has under what is required.
func (s *session) reasoningOutcome(status, why string) evidence.Check {
	c := failed(status + ": " + why)
	switch {
	case status == statusUnsupported:
		c = notSupported(status + ": " + why)
	case status == statusVerified, status == statusUnverified && s.reasoning().Require == "not-contradicted":
		c = passed(status + ": " + why)
	}
	c.Status = status
	return c
}

// modelName is what the candidate's family is told by.
func (s *session) modelName() string {
	return or(s.pin.Declared.Model.Repo, s.pin.Observed.Served)
}

// opposite is the control that differs most from the one that is declared.
func opposite(control, model string) string {
	switch control {
	case "thinking-on":
		return "thinking-off"
	case "thinking-off":
		return "thinking-on"
	}
	efforts := llm.Efforts(model)
	if len(efforts) == 0 {
		efforts = []string{"low", "high"}
	}
	least, most := "effort-"+efforts[0], "effort-"+efforts[len(efforts)-1]
	if effortRank(control) > effortRank(least) {
		return least
	}
	return most
}

// effortOrder is all efforts, least first.
var effortOrder = []string{"effort-minimal", "effort-low", "effort-medium", "effort-high", "effort-max", "effort-xhigh"}

func effortRank(control string) int { return slices.Index(effortOrder, control) }

// controlEffect compares the answer with a control to that against it.
func controlEffect(with string, a, b answer) (status, why string) {
	switch with {
	case "thinking-on":
		return switchEffect(a, b)
	case "thinking-off":
		return switchEffect(b, a)
	}
	return effortEffect(with, a, b)
}

// thinkMarks are a reasoning channel that was left in the visible text.
var thinkMarks = regexp.MustCompile(`(?i)</?think(ing)?>`)

// switchEffect wants reasoning where thinking is on and none where it is off,
// and more output with it than without.
func switchEffect(on, off answer) (status, why string) {
	switch {
	case reasoned(off):
		return statusContradicted, fmt.Sprintf("with thinking-off there is reasoning all the same (%s)", amountWords(off))
	case thinkMarks.MatchString(off.Text), thinkMarks.MatchString(on.Text):
		return statusContradicted, "reasoning stands in the visible answer: the endpoint does not split it off"
	case !reasoned(on):
		return statusUnverified, "no reasoning was seen, neither with thinking-on nor with thinking-off"
	}
	x, y := outputTokens(&on.Response), outputTokens(&off.Response)
	switch {
	case x == nil || y == nil:
		return statusUnverified, "reasoning appears with thinking-on alone, and the endpoint does not count output tokens"
	case *x <= *y:
		return statusUnverified, fmt.Sprintf("reasoning appears with thinking-on alone, and yet the output has %d tokens with it and %d without", *x, *y)
	}
	return statusVerified, fmt.Sprintf("thinking-on reasons (%s), thinking-off does not; output tokens %d and %d", amountWords(on), *x, *y)
}

// effortEffect wants more reasoning of more effort.
func effortEffect(with string, a, b answer) (status, why string) {
	more, less := a, b
	if effortRank(with) < effortRank(b.seen.What) {
		more, less = b, a
	}
	x, y, unit := amounts(more, less)
	switch {
	case x == 0 && y == 0:
		return statusUnverified, "no reasoning was seen with either effort"
	case x < y:
		return statusContradicted, fmt.Sprintf("%s reasons more (%d %s) than %s (%d)", less.seen.What, y, unit, more.seen.What, x)
	case x == y:
		return statusUnverified, fmt.Sprintf("both efforts reason as much: %d %s", x, unit)
	}
	return statusVerified, fmt.Sprintf("%s reasons more (%d %s) than %s (%d)", more.seen.What, x, unit, less.seen.What, y)
}

func reasoned(a answer) bool { return a.Reasoning != "" || reasoningTokens(a) > 0 }

func reasoningTokens(a answer) int64 {
	if a.Usage == nil || a.Usage.ReasoningTokens == nil {
		return 0
	}
	return *a.Usage.ReasoningTokens
}

// amounts measures two answers by the same unit: tokens where both are counted.
func amounts(a, b answer) (x, y int64, unit string) {
	if x, y = reasoningTokens(a), reasoningTokens(b); x > 0 && y > 0 {
		return x, y, "tokens"
	}
	if x, y = int64(a.seen.ReasoningChars), int64(b.seen.ReasoningChars); x > 0 || y > 0 {
		return x, y, "characters"
	}
	return reasoningTokens(a), reasoningTokens(b), "tokens"
}

func amountWords(a answer) string {
	if n := reasoningTokens(a); n > 0 {
		return fmt.Sprintf("%d tokens", n)
	}
	return fmt.Sprintf("%d characters", a.seen.ReasoningChars)
}

func effectOf(side string, a answer) []evidence.Measured {
	return []evidence.Measured{
		counted("output_tokens_"+side, "tokens", outputTokens(&a.Response), nil),
		measured("reasoning_characters_"+side, "characters", float64(a.seen.ReasoningChars), nil),
	}
}
