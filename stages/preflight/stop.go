package preflight

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// copyPrompt has an answer that every model gives alike, without and with a stop
// sequence.
const copyPrompt = "Repeat these 12 words exactly:\nraven quartz amber bravo romeo kilo jasper charlie alpha sierra hotel nickel"

// stop takes a word from the middle of an answer and asks again with it as a
// stop sequence: the answer must then be what stood before it.
func stop(ctx context.Context, s *session) (evidence.Check, error) {
	r := s.own(copyPrompt)
	r.Sampling.Temperature = 0
	whole, err := s.ask(ctx, question{what: "without a stop sequence", request: r, limited: true})
	if err != nil {
		return evidence.Check{}, err
	}
	if whole.problem() != "" {
		return whole.check(nil), nil
	}
	word, before := middleWord(whole.Text)
	if word == "" {
		return failed("the answer without a stop sequence is too short to take one from it"), nil
	}
	r.Sampling.Stop = []string{word}
	cut, err := s.ask(ctx, question{what: fmt.Sprintf("stop at %q", word), request: r, limited: true})
	if err != nil {
		return evidence.Check{}, err
	}
	return cut.check(func(a answer) string { return stopWrong(a, word, before) }), nil
}

// middleWord is the word whose first occurrence is nearest to the middle of a
// text, and what stands before it; "" = the text has none that tells anything.
func middleWord(text string) (word, before string) {
	best := -1
	for _, w := range strings.Fields(text) {
		at := strings.Index(text, w)
		if utf8.RuneCountInString(w) < 2 || strings.TrimSpace(text[:at]) == "" {
			continue
		}
		if best < 0 || distance(at, len(text)/2) < distance(best, len(text)/2) {
			best, word = at, w
		}
	}
	if best < 0 {
		return "", ""
	}
	return word, text[:best]
}

func distance(a, b int) int { return max(a-b, b-a) }

func stopWrong(a answer, word, before string) string {
	got, want := strings.TrimSpace(a.Text), strings.TrimSpace(before)
	switch {
	case strings.Contains(a.Text, word):
		return fmt.Sprintf("the answer holds the stop sequence %q", word)
	case got != want:
		return fmt.Sprintf("the answer is not what stood before the stop sequence %q, so that nothing is shown: %q", word, clip(got, 64))
	case a.FinishReason != "stop":
		return fmt.Sprintf("the finish reason is %q, want stop", clip(a.FinishReason, 64))
	}
	return ""
}
