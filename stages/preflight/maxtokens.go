package preflight

import (
	"context"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// caps are the limits that are tried: a lower one where an answer ended by
// itself before it came to the limit.
var caps = []int{16, 4, 1}

const numbersPrompt = "Write the numbers from 1 to 300, separated by commas. Leave none out and say nothing else."

// maxTokens wants an answer to end at the limit, by the endpoint's own count.
func maxTokens(ctx context.Context, s *session) (evidence.Check, error) {
	var c evidence.Check
	for _, limit := range caps {
		r := s.own(numbersPrompt)
		r.Sampling.MaxTokens = limit
		a, err := s.ask(ctx, question{what: fmt.Sprintf("limit %d", limit), request: r, limited: true})
		if err != nil {
			return c, err
		}
		if a.wrong != "" && a.Failure.Class == llm.ClassEmpty {
			a.wrong = "" // the limit is shared with reasoning, which may fill it
		}
		c = a.check(func(a answer) string { return limitWrong(a, limit) })
		if a.problem() != "" {
			return c, nil
		}
		wanted := float64(limit)
		c.Measured = []evidence.Measured{counted("output_tokens", "tokens", outputTokens(&a.Response), &wanted)}
		if !endedEarly(a, limit) {
			return c, nil
		}
	}
	return c, nil
}

func endedEarly(a answer, limit int) bool {
	n := outputTokens(&a.Response)
	return a.FinishReason != "length" && n != nil && *n <= int64(limit)
}

func limitWrong(a answer, limit int) string {
	n := outputTokens(&a.Response)
	switch {
	case n == nil:
		return "the endpoint reports no output tokens, so that no limit can be shown"
	case *n > int64(limit):
		return fmt.Sprintf("the endpoint counts %d output tokens, and the limit was %d", *n, limit)
	case int64(len(strings.Fields(a.Text))) > 4*max(*n, 1):
		return fmt.Sprintf("the endpoint counts %d output tokens, and the answer has %d words, which no tokenizer packs into so few", *n, len(strings.Fields(a.Text)))
	case a.FinishReason != "length":
		return fmt.Sprintf("the answer ended with %q and not by the limit, of which it used %d of %d tokens", clip(a.FinishReason, 64), *n, limit)
	}
	return ""
}
