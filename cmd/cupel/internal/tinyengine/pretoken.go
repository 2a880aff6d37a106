package tinyengine

import (
	"unicode"
	"unicode/utf8"
)

// nextPiece returns the length in bytes of the first piece of s, which is not
// empty, as the llama-bpe pre-tokeniser splits it:
//
//	'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// in that order of preference. Go's regexp has no look-ahead, and a hand
// written splitter is linear besides. A byte that is not UTF-8 counts as a
// symbol and stays as it is.
func nextPiece(s string) int {
	if n := contraction(s); n > 0 {
		return n
	}
	first, size := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsLetter(first):
		return run(s, size, unicode.IsLetter)
	case unicode.IsNumber(first):
		return numberRun(s)
	}
	if first != '\r' && first != '\n' {
		if end := run(s, size, unicode.IsLetter); end > size {
			return end
		}
	}
	if n := symbols(s); n > 0 {
		return n
	}
	return spaces(s)
}

// contraction is the length of 's, 't, 're, 've, 'm, 'll or 'd in any case.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) < 3 {
		return 0
	}
	switch string([]byte{s[1] | 0x20, s[2] | 0x20}) {
	case "re", "ve", "ll":
		return 3
	}
	return 0
}

// run extends the piece from byte at over all runes of a class.
func run(s string, at int, class func(rune) bool) int {
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if !class(r) {
			break
		}
		at += size
	}
	return at
}

func numberRun(s string) (end int) {
	for range 3 {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !unicode.IsNumber(r) {
			break
		}
		end += size
	}
	return end
}

func isSymbol(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

func isBreak(r rune) bool { return r == '\r' || r == '\n' }

// symbols is the fourth alternative, 0 when it does not match.
func symbols(s string) int {
	start := 0
	if s[0] == ' ' {
		start = 1
	}
	end := run(s, start, isSymbol)
	if end == start {
		return 0
	}
	return run(s, end, isBreak)
}

// spaces is the last three alternatives: up to the last line break of the run,
// or the run without its last rune if text follows, or all of it.
func spaces(s string) int {
	lastBreak, lastStart, end := 0, 0, 0
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !unicode.IsSpace(r) {
			break
		}
		lastStart = end
		end += size
		if isBreak(r) {
			lastBreak = end
		}
	}
	switch {
	case lastBreak > 0:
		return lastBreak
	case end < len(s) && lastStart > 0:
		return lastStart
	}
	return end
}
