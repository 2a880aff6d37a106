package score

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/cupel-dev/cupel/stages/items"
)

var compatRequiredFacts = define("compat/required_facts", 1,
	`share of "facts" that occur in the text, in lower case and also inside words`,
	noParams{}, buildCompatRequiredFacts)

func buildCompatRequiredFacts(_ noParams, it *items.Item, _ *env) (Func, error) {
	if len(it.Facts) == 0 {
		return nil, errors.New(`"facts" is missing or empty`)
	}
	lower := func(s string) string { return cases.Lower(language.Und).String(s) }
	facts := make([]string, len(it.Facts))
	for i, f := range it.Facts {
		facts[i] = lower(f)
	}
	return func(out Output) (float64, string, error) {
		text, hits := lower(out.Text), 0
		for _, f := range facts {
			if strings.Contains(text, f) {
				hits++
			}
		}
		return float64(hits) / float64(len(facts)), fmt.Sprintf("%d/%d", hits, len(facts)), nil
	}, nil
}
