package scrub

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// view is a text as the rules read it, with the place of every byte in the
// original: full-width and other forms of digits, letters and marks are ASCII,
// hyphens and spaces are plain, and what is invisible is left out.
type view struct {
	text   string
	lo, hi []int // byte of text -> range of the original
}

// fold returns the view of s, and false when it would show the rules nothing new.
func fold(s string) (view, bool) {
	if !hidesText(s) {
		return view{}, false
	}
	v := view{lo: make([]int, 0, len(s)), hi: make([]int, 0, len(s))}
	buf := make([]byte, 0, len(s))
	add := func(b byte, lo, hi int) {
		buf, v.lo, v.hi = append(buf, b), append(v.lo, lo), append(v.hi, hi)
	}
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			add(s[i], i, i+1)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch c, how := foldRune(r); how {
		case same:
			for j := i; j < i+size; j++ {
				add(s[j], j, j+1)
			}
		case folded:
			add(c, i, i+size)
		}
		i += size
	}
	v.text = string(buf)
	return v, true
}

// foldText is fold for values, so that two spellings have one placeholder.
func foldText(s string) string {
	if v, ok := fold(s); ok {
		return v.text
	}
	return s
}

// hidesText reports whether a digit, a letter or a mark of s is written in
// another form. The commas of ordinary prose, its no-break spaces between words, its dashes
// between spaces and the joiners of emoji are none: a view costs a second look.
func hidesText(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch c, how := foldRune(r); {
		case how == dropped, how == folded && c == '-':
			if prev := at(s, i-1); prev > ' ' && prev < utf8.RuneSelf {
				return true
			}
		case how == folded && c == ' ':
			if isDigit(at(s, i-1)) && (isDigit(at(s, i+size)) || r != 0xa0 && r != 0x202f) {
				return true
			}
		case how == folded && (isAlnum(c) || c == '@' || c == '.'):
			return true
		}
		i += size
	}
	return false
}

type folding int

const (
	same folding = iota
	folded
	dropped
)

// foldRune is NFKC for single characters that become one of ASCII. Superscripts
// and circled numbers stay: they are notes, not digits of the number before them.
func foldRune(r rune) (byte, folding) {
	switch {
	case r < 0xa0, r > 0x3000 && r < 0xa000, r > 0xac00 && r < 0xd800, r == utf8.RuneError:
		return 0, same // most of what is written, quickly
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x180e, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r >= 0xfe00 && r <= 0xfe0f, r == 0xfeff, r >= 0xe0000 && r <= 0xe01ef:
		return 0, dropped
	case r >= 0x2010 && r <= 0x2013, r == 0x2212:
		return '-', folded
	case r < 0x300 && r != 0xa0: // Latin letters and signs
		return 0, same
	}
	if unicode.Is(unicode.Nd, r) {
		return digitOf(r), folded
	}
	if unicode.Is(unicode.No, r) || unicode.IsMark(r) {
		return 0, same
	}
	var in [utf8.UTFMax]byte
	if out := norm.NFKC.Bytes(in[:utf8.EncodeRune(in[:], r)]); len(out) == 1 {
		return out[0], folded
	}
	return 0, same
}

// digitOf returns the digit that r is: every run of decimal digits in Unicode
// begins with a zero and has a multiple of ten members.
func digitOf(r rune) byte {
	for _, t := range unicode.Nd.R16 {
		if r <= rune(t.Hi) {
			return '0' + byte((r-rune(t.Lo))%10)
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r <= rune(t.Hi) {
			return '0' + byte((r-rune(t.Lo))%10)
		}
	}
	return '0'
}
