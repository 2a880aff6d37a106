package dedupe

import (
	"crypto/sha256"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Normalise returns the text in NFKC, case-folded, with white space collapsed to
// single spaces and, unless keepDigits, every digit as 0.
func Normalise(s string, keepDigits bool) string {
	if !isASCII(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
		s = strings.Map(foldCherokee, cases.Fold().String(norm.NFKC.String(s)))
		s = norm.NFKC.String(s) // folding may undo the form
	}
	out := make([]byte, 0, len(s))
	space := false
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case unicode.IsSpace(r):
			space = len(out) > 0
			i += size
			continue
		case space:
			out, space = append(out, ' '), false
		}
		switch {
		case unicode.IsDigit(r) && !keepDigits:
			out = append(out, '0')
		case r < utf8.RuneSelf && r >= 'A' && r <= 'Z':
			out = append(out, byte(r)+'a'-'A')
		default:
			out = append(out, s[i:i+size]...)
		}
		i += size
	}
	return string(out)
}

// foldCherokee maps to capitals, as Unicode's folding does. cases.Fold exchanges
// capitals and small letters of this one script.
func foldCherokee(r rune) rune {
	switch {
	case r >= 0xab70 && r <= 0xabbf:
		return r - 0xab70 + 0x13a0
	case r >= 0x13f8 && r <= 0x13fd:
		return r - 8
	}
	return r
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Key is the SHA-256 of normalised parts, such as the turns of a conversation.
// Where one part ends and the next begins is part of the key.
type Key [sha256.Size]byte

// KeyOf hashes parts that are normalised already.
func KeyOf(parts ...string) Key {
	size := 0
	for _, p := range parts {
		size += len(p) + 8
	}
	buf := make([]byte, 0, size)
	for _, p := range parts {
		n := uint64(len(p))
		buf = append(buf, byte(n>>56), byte(n>>48), byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		buf = append(buf, p...)
	}
	return sha256.Sum256(buf)
}
