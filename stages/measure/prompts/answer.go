package prompts

import (
	"regexp"
	"strings"

	"golang.org/x/text/cases"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// gotLimit is how many characters of an answer the evidence keeps.
const gotLimit = 200

// caseNeedle is the case of a ladder's prompts: the answer is to hold the code.
const caseNeedle = "needle"

// Answer tells whether the answer is the right one. A ladder's needle must be
// in it as a word of its own, and no other code may be; a context case is
// normalized_exact/v1: equal after Normalize. Nil if no answer is right.
func Answer(text string, p Prompt) *evidence.Answer {
	if p.Answer == nil {
		return nil
	}
	a := &evidence.Answer{Case: p.Answer.Case, Position: p.Answer.Position, Want: p.Answer.Want}
	a.Got = clip(strings.TrimSpace(text), gotLimit)
	if p.Answer.Case == caseNeedle {
		a.Passed = holdsOnly(text, p.Answer.Want)
		return a
	}
	a.Passed = Normalize(text) == Normalize(p.Answer.Want)
	return a
}

// Normalize collapses white space to single spaces, strips it at both ends and
// folds case in full (Unicode CaseFolding C and F: ß is ss), as Python's
// casefold does.
func Normalize(text string) string {
	return fold.String(strings.Join(strings.FieldsFunc(text, pythonSpace), " "))
}

var fold = cases.Fold()

// codes are the words that may be the needles of a ladder.
var codes = regexp.MustCompile(`[\pL\pN]+`)

// holdsOnly reports whether text has the code, and no other one.
func holdsOnly(text, want string) bool {
	want, found := Normalize(want), false
	for _, word := range codes.FindAllString(Normalize(text), -1) {
		switch {
		case word == want:
			found = true
		case isCode(word):
			return false
		}
	}
	return found
}

// isCode reports whether a word has the form of a code: a code word and six
// digits.
func isCode(word string) bool {
	if len(word) <= codeDigits {
		return false
	}
	name, digits := word[:len(word)-codeDigits], word[len(word)-codeDigits:]
	return isCodeWord[name] && strings.Trim(digits, "0123456789") == ""
}

const codeDigits = 6

var isCodeWord = func() map[string]bool {
	m := make(map[string]bool, len(codeWords))
	for _, w := range codeWords {
		m[w] = true
	}
	return m
}()
