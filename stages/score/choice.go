package score

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/cupel-dev/cupel/stages/items"
)

type choiceParams struct {
	Letters string `json:"letters" doc:"the letters that are offered"`
	Pattern string `json:"pattern" doc:"regular expression whose one group is the chosen letter; its last match counts"`
}

var choice = define("choice", 1,
	`1 when the chosen letter is "answer": the text is the letter alone, or says "answer is", "answer:" or \boxed{} before it (the last one counts)`,
	choiceParams{Letters: "ABCD"}, buildChoice)

func buildChoice(p choiceParams, it *items.Item, _ *env) (Func, error) {
	var want string
	if json.Unmarshal(it.Answer, &want) != nil || len(want) != 1 || !strings.Contains(p.Letters, want) {
		return nil, fmt.Errorf(`"answer" %s is not one of the letters %s`, clip(string(it.Answer)), p.Letters)
	}
	pattern, err := p.pattern()
	if err != nil {
		return nil, err
	}
	return func(out Output) (float64, string, error) {
		got := p.pick(out.Text, pattern)
		switch got {
		case "":
			return 0, "no choice in the answer", nil
		case want:
			return 1, got, nil
		}
		return 0, fmt.Sprintf("%s, want %s", clip(got), want), nil
	}, nil
}

func (p choiceParams) pattern() (*regexp.Regexp, error) {
	for i, c := range p.Letters {
		if c > unicode.MaxASCII || !unicode.IsLetter(c) || strings.ContainsRune(p.Letters[:i], c) {
			return nil, fmt.Errorf("parameter letters: %q are not different ASCII letters", p.Letters)
		}
	}
	text := p.Pattern
	if text == "" {
		text = `(?:(?i:answer)\s*(?i:is|:)?\s*:?\s*|\\boxed\{)[\s*("'\[{]*([` + p.Letters + `])\b`
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("parameter pattern: %w", err)
	}
	if re.NumSubexp() != 1 {
		return nil, fmt.Errorf("parameter pattern: %q has %d groups, want one group, the letter", clip(text), re.NumSubexp())
	}
	return re, nil
}

// pick returns the chosen letter, "" when there is none.
func (p choiceParams) pick(text string, pattern *regexp.Regexp) string {
	bare := strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if p.Pattern == "" && len(bare) == 1 && strings.Contains(p.Letters, bare) {
		return bare
	}
	all := pattern.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}
