package score

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/cupel-dev/cupel/engine/step"
)

// fold makes texts equal that differ in case only, and keeps them in NFC.
func fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return norm.NFC.String(cases.Fold().String(s))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// stripPunctuation drops punctuation marks. It keeps those within a number
// (3.14 must not become 314) and a minus before one. Symbols such as + and $
// are not punctuation. A text of nothing but punctuation stays as it is, so
// that two such texts are not equal.
func stripPunctuation(s string) string {
	r := []rune(s)
	at := func(i int) rune {
		if i < 0 || i >= len(r) {
			return ' '
		}
		return r[i]
	}
	var b strings.Builder
	for i, c := range r {
		switch {
		case !unicode.IsPunct(c):
		case isDigit(at(i-1)) && isDigit(at(i+1)) && !isMinus(c):
		case isMinus(c) && isDigit(at(i+1)) && !isWord(at(i-1)):
		default:
			continue
		}
		b.WriteRune(c)
	}
	if strings.TrimSpace(b.String()) == "" {
		return s
	}
	return b.String()
}

// stripArticles drops English articles, unless nothing would remain: the
// answer "A" is a letter.
func stripArticles(s string) string {
	words := strings.Fields(s)
	kept := make([]string, 0, len(words))
	for _, w := range words {
		switch strings.ToLower(w) {
		case "a", "an", "the":
			continue
		}
		kept = append(kept, w)
	}
	if len(kept) == 0 {
		return s
	}
	return strings.Join(kept, " ")
}

// texts reads a reference that is a string or a list of strings. An empty one
// would be matched by an empty answer and is an error of the item.
func texts(field string, v json.RawMessage) ([]string, error) {
	if v == nil {
		return nil, fmt.Errorf("the item has no %q", field)
	}
	var one *string
	var list []*string
	switch {
	case v[0] == '"' && json.Unmarshal(v, &one) == nil:
		list = []*string{one}
	case v[0] == '[' && json.Unmarshal(v, &list) == nil && !slices.Contains(list, nil):
	default:
		return nil, step.WithHint(fmt.Errorf("%q is %s, want a string or a list of strings", field, clip(string(v))),
			"numbers are compared by the scorer numeric, other values by json_equal")
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = *s
	}
	return out, checkTexts(field, out)
}

func checkTexts(field string, list []string) error {
	if len(list) == 0 {
		return fmt.Errorf("%q is an empty list", field)
	}
	seen := map[string]bool{}
	for _, s := range list {
		if strings.TrimSpace(s) == "" {
			return fmt.Errorf("%q holds an empty text, which every answer would match", field)
		}
		if seen[s] {
			return fmt.Errorf("%q holds %q twice", field, clip(s))
		}
		seen[s] = true
	}
	return nil
}

// isWord reports whether a rune continues a word. Scripts that are written
// without spaces have no word boundaries to look for.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
		return false
	}
	return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
