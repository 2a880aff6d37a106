package score

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
)

type regexParams struct {
	Whole      bool `json:"whole" doc:"the expression must match the whole text, white space at its ends left out"`
	IgnoreCase bool `json:"ignore_case" doc:"case does not count"`
}

var regex = define("regex", 1,
	`1 when a regular expression (RE2) of "answer", a string or a list, matches the text`,
	regexParams{}, buildRegex)

func buildRegex(p regexParams, it *items.Item, _ *env) (Func, error) {
	sources, err := texts("answer", it.Answer)
	if err != nil {
		return nil, err
	}
	patterns := make([]*regexp.Regexp, len(sources))
	for i, src := range sources {
		if patterns[i], err = p.compile(src); err != nil {
			return nil, fmt.Errorf(`"answer": %w`, err)
		}
		if patterns[i].MatchString("") {
			return nil, fmt.Errorf(`"answer": %q matches an empty answer`, clip(src))
		}
	}
	return func(out Output) (float64, string, error) {
		for i, re := range patterns {
			if re.MatchString(strings.TrimSpace(out.Text)) {
				return 1, fmt.Sprintf("matches %q", clip(sources[i])), nil
			}
		}
		return 0, "no match", nil
	}, nil
}

func (p regexParams) compile(src string) (*regexp.Regexp, error) {
	if p.Whole {
		src = `\A(?:` + src + `)\z`
	}
	if p.IgnoreCase {
		src = `(?i)` + src
	}
	return regexp.Compile(src)
}
