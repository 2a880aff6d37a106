package score

import (
	"math/big"
	"strings"
)

// The number grammar. A number is
//
//	[sign] [currency] digits [fraction] [exponent | × 10^n] [%]
//
// where digits are 0-9 or their full-width forms, grouped in threes by one
// kind of separator (1,234,567) or not at all, and a sign stands at its start
// (-, +, Unicode minus) and does not follow a digit: 10-3 holds 10 and 3.
//
// What only looks like a number is none: digits inside a word (H2O, GPT-4),
// groups that are not threes (1,5), versions (1.2.3), ordinals, hexadecimal,
// multiples (5k), powers (2^10), and fractions unless they are asked for.
// Taking a part of these for the answer would make a wrong answer right.

// number is one number in a text.
type number struct {
	text  string   // as written
	value *big.Rat // nil when out of bounds
}

// grammar holds what the reading of a text depends on.
type grammar struct {
	fractions bool
	percent   string // number | fraction | refuse
}

// find returns the numbers of a text in order.
func (g grammar) find(text string) []number {
	s := numberScanner{g: g, r: []rune(text)}
	for s.i < len(s.r) {
		s.step()
	}
	return s.found
}

type numberScanner struct {
	g     grammar
	r     []rune
	i     int
	found []number
	whole int // end of the last number when it was a plain integer: the start of 1 1/2
}

func (s *numberScanner) at(i int) rune {
	if i < 0 || i >= len(s.r) {
		return 0
	}
	return s.r[i]
}

// step reads what begins at i and moves on by at least one rune.
func (s *numberScanner) step() {
	c := s.r[s.i]
	switch {
	case c == '\\' && s.latexFraction():
	case vulgar[c] != [2]int64{}:
		s.vulgarFraction()
	case isDigit(c) || c == '.' && isDigit(s.at(s.i+1)) && !isWord(s.at(s.i-1)) && s.at(s.i-1) != '.':
		s.number()
	default:
		s.i++
	}
}

// number reads one number, or skips what only looks like one.
func (s *numberScanner) number() {
	start := s.i
	lit, ok := s.literal()
	ok = ok && s.startsHere(start)
	if s.at(s.i) == '/' || s.at(s.i) == '⁄' {
		if isDigit(s.at(s.i + 1)) {
			s.slash(start, lit, ok)
			return
		}
	}
	plain := lit.fraction == "" && lit.exp == 0
	if !s.endsHere() || !ok {
		return
	}
	end := s.i
	percent := s.skipPercent()
	if percent && s.g.percent == "refuse" {
		return
	}
	if percent && s.g.percent == "fraction" {
		lit.exp -= 2
	}
	from, neg := s.sign(start)
	var value *big.Rat
	if d, ok := newDecimal(neg, lit.whole, lit.fraction, lit.exp); ok && !lit.huge {
		value = d.rat()
	}
	s.found = append(s.found, number{string(s.r[from:s.i]), value})
	if plain && !percent {
		s.whole = end
	}
}

// literal is a number without its sign.
type literal struct {
	whole, fraction string
	exp             int
	huge            bool // the exponent has more digits than any number in bounds
}

// literal reads digits, groups, fraction and exponent; ok is false for a run
// that is malformed, which is then read to its end.
func (s *numberScanner) literal() (lit literal, ok bool) {
	lit.whole = s.groups()
	if s.at(s.i) == '.' && isDigit(s.at(s.i+1)) {
		s.i++
		lit.fraction = s.digits()
	}
	if s.joined() {
		for s.joined() || isDigit(s.at(s.i)) {
			s.i++
		}
		return lit, false
	}
	if exp, end, ok := s.exponent(); ok {
		lit.exp, lit.huge = clampExponent(exp)
		s.i = end
	} else if exp, end, ok := s.timesTen(); ok {
		lit.exp, lit.huge = clampExponent(exp)
		s.i = end
	}
	return lit, true
}

// joined reports whether a point or comma with a digit behind it follows:
// after a whole number that makes it malformed.
func (s *numberScanner) joined() bool {
	c := s.at(s.i)
	return (c == '.' || c == ',') && isDigit(s.at(s.i+1))
}

func (s *numberScanner) digits() string {
	var b strings.Builder
	for isDigit(s.at(s.i)) {
		b.WriteByte(asciiDigit(s.r[s.i]))
		s.i++
	}
	return b.String()
}

// groups reads an integer with its thousands separators.
func (s *numberScanner) groups() string {
	whole := s.digits()
	if len(whole) == 0 || len(whole) > 3 || whole[0] == '0' {
		return whole
	}
	width, sep := s.separator()
	for width > 0 {
		w, next := s.separator()
		if w == 0 || next != sep || !s.threeDigits(s.i+w) {
			break
		}
		s.i += w
		whole += s.digits()
	}
	return whole
}

// separator returns the width and the first rune of a thousands separator at
// i: a comma, LaTeX's {,}, an apostrophe or a space that does not break.
func (s *numberScanner) separator() (width int, sep rune) {
	switch c := s.at(s.i); c {
	case ',', '\'', '’', '\u00a0', '\u202f', '\u2009':
		return 1, c
	case '{':
		if s.at(s.i+1) == ',' && s.at(s.i+2) == '}' {
			return 3, c
		}
	}
	return 0, 0
}

func (s *numberScanner) threeDigits(i int) bool {
	return isDigit(s.at(i)) && isDigit(s.at(i+1)) && isDigit(s.at(i+2)) && !isDigit(s.at(i+3))
}
