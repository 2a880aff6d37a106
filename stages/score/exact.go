package score

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/cupel-dev/cupel/stages/items"
)

type exactParams struct {
	Form        string `json:"form" doc:"Unicode normal form that both sides are brought into: nfc or nfkc"`
	Trim        bool   `json:"trim" doc:"white space at both ends does not count"`
	IgnoreCase  bool   `json:"ignore_case" doc:"case does not count (Unicode case folding)"`
	Punctuation bool   `json:"ignore_punctuation" doc:"punctuation does not count, except inside and before numbers"`
	Articles    bool   `json:"ignore_articles" doc:"a, an and the do not count, unless nothing else remains"`
	Space       bool   `json:"collapse_space" doc:"any run of white space counts as one space"`
}

var exact = define("exact", 1,
	`1 when the whole text equals "answer", or one of its texts when it is a list`,
	exactParams{Form: "nfc", Trim: true}, buildExact)

func buildExact(p exactParams, it *items.Item, _ *env) (Func, error) {
	if err := oneOf("form", p.Form, "nfc", "nfkc"); err != nil {
		return nil, err
	}
	accepted, err := texts("answer", it.Answer)
	if err != nil {
		return nil, err
	}
	want := make([]string, len(accepted))
	for i, a := range accepted {
		want[i] = p.normalise(a)
	}
	return func(out Output) (float64, string, error) {
		got := p.normalise(out.Text)
		for i, w := range want {
			if got == w {
				return 1, fmt.Sprintf("equals %q", clip(accepted[i])), nil
			}
		}
		return 0, differs(got, want), nil
	}, nil
}

func (p exactParams) normalise(s string) string {
	form := norm.NFC
	if p.Form == "nfkc" {
		form = norm.NFKC
	}
	s = form.String(s)
	if p.IgnoreCase {
		s = fold(s)
	}
	if p.Punctuation {
		s = stripPunctuation(s)
	}
	if p.Articles {
		s = stripArticles(s)
	}
	if p.Space {
		s = collapse(s)
	}
	if p.Trim {
		s = strings.TrimSpace(s)
	}
	return s
}

func differs(got string, want []string) string {
	if strings.TrimSpace(got) == "" {
		return "the answer is empty"
	}
	if len(want) > 1 {
		return fmt.Sprintf("%q is none of %d accepted texts", clip(got), len(want))
	}
	return fmt.Sprintf("%q, want %q", clip(got), clip(want[0]))
}
