package score

import (
	"errors"
	"fmt"

	"github.com/cupel-dev/cupel/stages/items"
)

type requiredFactsParams struct {
	Substring bool `json:"substring" doc:"a fact may stand inside a word: cat in category"`
	MatchCase bool `json:"match_case" doc:"case counts"`
}

var requiredFacts = define("required_facts", 1,
	`share of "facts" that stand in the text as whole words`,
	requiredFactsParams{}, buildRequiredFacts)

func buildRequiredFacts(p requiredFactsParams, it *items.Item, _ *env) (Func, error) {
	if it.Facts == nil {
		return nil, errors.New(`the item has no "facts"`)
	}
	f := finder{words: !p.Substring, fold: !p.MatchCase}
	facts, err := f.list("facts", it.Facts)
	if err != nil {
		return nil, err
	}
	return func(out Output) (float64, string, error) {
		found, missing := f.count(out.Text, facts)
		reason := fmt.Sprintf("%d of %d facts", found, len(facts))
		if missing >= 0 {
			reason += fmt.Sprintf("; missing %q", clip(it.Facts[missing]))
		}
		return float64(found) / float64(len(facts)), reason, nil
	}, nil
}

// list prepares the texts to look for; two that become equal are an error.
func (f finder) list(field string, texts []string) ([]string, error) {
	prepared := make([]string, len(texts))
	for i, t := range texts {
		prepared[i] = f.prepare(t)
	}
	return prepared, checkTexts(field, prepared)
}

// count returns how many needles stand in text and the index of the first that
// does not, -1 for none.
func (f finder) count(text string, needles []string) (found, missing int) {
	text, missing = f.prepare(text), -1
	for i, n := range needles {
		if f.occurs(text, n) {
			found++
		} else if missing < 0 {
			missing = i
		}
	}
	return found, missing
}
