package score

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/cupel-dev/cupel/stages/items"
)

type similarityParams struct {
	Metric     string `json:"metric" doc:"edit: 1 - edit distance / longer length; token_f1: harmonic mean of precision and recall of words; chrf: character n-gram F-score"`
	IgnoreCase bool   `json:"ignore_case" doc:"case does not count; token_f1 never counts it"`
}

var similarity = define("similarity", 1,
	`how close the text is to "answer", or to the closest of its texts; a text without anything to compare is 0`,
	similarityParams{Metric: "chrf"}, buildSimilarity)

// closeness compares an answer with a reference. Both are in NFC, and neither
// is blank.
type closeness func(got, want string) float64

var closenesses = map[string]closeness{"edit": editRatio, "token_f1": tokenF1, "chrf": chrF}

func buildSimilarity(p similarityParams, it *items.Item, _ *env) (Func, error) {
	if err := oneOf("metric", p.Metric, keys(closenesses)...); err != nil {
		return nil, err
	}
	references, err := texts("answer", it.Answer)
	if err != nil {
		return nil, err
	}
	want := make([]string, len(references))
	for i, r := range references {
		want[i] = p.normalise(r)
	}
	return func(out Output) (float64, string, error) {
		got := p.normalise(out.Text)
		if got == "" {
			return 0, "the answer is empty", nil
		}
		if len(got) > maxSimilar {
			return 0, "", fmt.Errorf("the answer has %d bytes, similarity compares at most %d", len(got), maxSimilar)
		}
		best, at := -1.0, 0
		for i, w := range want {
			if v := closenesses[p.Metric](got, w); v > best {
				best, at = v, i
			}
		}
		return best, fmt.Sprintf("%s %.4f to %q", p.Metric, best, clip(references[at])), nil
	}, nil
}

// maxSimilar bounds the work that one answer can cause.
const maxSimilar = 1 << 20

func (p similarityParams) normalise(s string) string {
	s = norm.NFC.String(strings.ToValidUTF8(s, "\uFFFD"))
	if p.IgnoreCase {
		s = fold(s)
	}
	return strings.TrimSpace(s)
}
