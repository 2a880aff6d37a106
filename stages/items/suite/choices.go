package suite

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
)

// marker begins an option: a letter with ")", "." or ":" at the beginning of a
// line or after a space, or a letter in brackets.
var marker = regexp.MustCompile(`(?m)(?:^|[ \t])(?:\(([A-Z])\)|([A-Z])[).:])[ \t]+`)

// option is one that is offered.
type option struct{ letter, text string }

// choices finds options that say the same and references that are not offered,
// in items that are scored by choice.
func choices(it *items.Item) (out []Finding) {
	letter, ok := chosen(it)
	if !ok {
		return nil
	}
	for _, m := range it.Input {
		if m.Role != "user" {
			continue
		}
		runs := optionRuns(m.Content)
		for i, run := range runs {
			if a, b := identical(run); a != "" {
				out = append(out, Finding{Code: CodeChoices, Text: fmt.Sprintf("options %s and %s say the same", a, b)})
			}
			// Earlier runs belong to examples; the last one is what is asked.
			if i == len(runs)-1 && !offered(run, letter) {
				out = append(out, Finding{Code: CodeNoChoice, Text: fmt.Sprintf("the answer is %s, and the options are %s", letter, letters(run))})
			}
		}
	}
	return out
}

func chosen(it *items.Item) (letter string, ok bool) {
	for _, s := range it.Scorer {
		if s.Name == "choice" {
			return letter, json.Unmarshal(it.Answer, &letter) == nil && len(letter) == 1
		}
	}
	return "", false
}

// optionRuns finds runs A, B, C… of at least two options.
func optionRuns(text string) (runs [][]option) {
	var run []option
	end := func() {
		if len(run) > 1 {
			runs = append(runs, run)
		}
		run = nil
	}
	at := marker.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		letter := groupText(text, m[2:4]) + groupText(text, m[4:6])
		if letter == "A" {
			end()
		} else if len(run) == 0 || letter[0] != run[len(run)-1].letter[0]+1 {
			continue // an initial, or the end of a sentence
		}
		until := len(text)
		if i+1 < len(at) {
			until = at[i+1][0]
		}
		body, _, _ := strings.Cut(text[m[1]:until], "\n")
		run = append(run, option{letter, normal(strings.TrimRight(strings.TrimSpace(body), ".,;"))})
	}
	end()
	return runs
}

func groupText(text string, at []int) string {
	if at[0] < 0 {
		return ""
	}
	return text[at[0]:at[1]]
}

func identical(run []option) (a, b string) {
	seen := map[string]string{}
	for _, o := range run {
		if other, ok := seen[o.text]; ok && o.text != "" {
			return other, o.letter
		}
		seen[o.text] = o.letter
	}
	return "", ""
}

func offered(run []option, letter string) bool {
	return strings.Contains(letters(run), letter)
}

func letters(run []option) string {
	var b strings.Builder
	for _, o := range run {
		b.WriteString(o.letter)
	}
	return b.String()
}
