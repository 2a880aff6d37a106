package score

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// finder looks for texts in a text. White space runs count as one space, and
// both sides are in NFC.
type finder struct {
	words bool // only where no word or number goes on at either end
	fold  bool
}

func (f finder) prepare(s string) string {
	s = collapse(norm.NFC.String(s))
	if f.fold {
		s = fold(s)
	}
	return s
}

// occurs reports whether needle stands in text; both are prepared.
func (f finder) occurs(text, needle string) bool {
	if !f.words {
		return strings.Contains(text, needle)
	}
	for from := 0; ; {
		i := strings.Index(text[from:], needle)
		if i < 0 {
			return false
		}
		i += from
		if startsWord(text, i) && endsWord(text, i+len(needle)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
}

// startsWord reports whether a word or number begins at i: 5 does not in 15,
// 3.5 or -5.
func startsWord(text string, i int) bool {
	first, _ := utf8.DecodeRuneInString(text[i:])
	prev, size := utf8.DecodeLastRuneInString(text[:i])
	if size == 0 || !isWord(first) {
		return true
	}
	if isWord(prev) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i-size])
	if !isDigit(first) {
		return true
	}
	switch {
	case prev == '.' || prev == ',':
		return !isDigit(before)
	case isMinus(prev):
		return i > size && isWord(before)
	}
	return true
}

// endsWord reports whether a word or number ends before i: 3 does not in 3.14.
func endsWord(text string, i int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[:i])
	next, size := utf8.DecodeRuneInString(text[i:])
	if size == 0 || !isWord(last) {
		return true
	}
	if isWord(next) {
		return false
	}
	after, _ := utf8.DecodeRuneInString(text[i+size:])
	return !isDigit(last) || next != '.' && next != ',' || !isDigit(after)
}
