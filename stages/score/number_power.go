package score

import "strings"

// exponent reads e5, E-3 at i without moving.
func (s *numberScanner) exponent() (exp string, end int, ok bool) {
	if c := s.at(s.i); c != 'e' && c != 'E' {
		return "", 0, false
	}
	exp, end = s.signedDigits(s.i + 1)
	if exp == "" || isWord(s.at(end)) {
		return "", 0, false
	}
	return exp, end, true
}

// timesTen reads × 10^5, x10^5, \times 10^{-5} and · 10⁵ at i without moving.
func (s *numberScanner) timesTen() (exp string, end int, ok bool) {
	i := s.skipSpaces(s.i)
	switch s.at(i) {
	case '×', 'x', 'X', '*', '·', '⋅':
		i++
	case '\\':
		n := s.anyOf(i+1, "times", "cdot")
		if n == 0 {
			return "", 0, false
		}
		i += 1 + n
	default:
		return "", 0, false
	}
	i = s.skipSpaces(i)
	if s.at(i) != '1' || s.at(i+1) != '0' {
		return "", 0, false
	}
	return s.power(i + 2)
}

func (s *numberScanner) power(i int) (exp string, end int, ok bool) {
	if s.at(i) != '^' {
		exp, end = s.superscript(i)
		return exp, end, exp != "" && !isDigit(s.at(end))
	}
	i++
	braced := s.at(i) == '{'
	if braced {
		i++
	}
	exp, end = s.signedDigits(i)
	if exp == "" || braced && s.at(end) != '}' {
		return "", 0, false
	}
	if braced {
		end++
	}
	return exp, end, true
}

func (s *numberScanner) signedDigits(i int) (digits string, end int) {
	var b strings.Builder
	if isMinus(s.at(i)) {
		b.WriteByte('-')
		i++
	} else if s.at(i) == '+' {
		i++
	}
	from := i
	for ; isDigit(s.at(i)); i++ {
		b.WriteByte(asciiDigit(s.r[i]))
	}
	if i == from {
		return "", i
	}
	return b.String(), i
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"

func (s *numberScanner) superscript(i int) (digits string, end int) {
	var b strings.Builder
	if s.at(i) == '⁻' {
		b.WriteByte('-')
		i++
	}
	from := i
	for ; s.at(i) != 0 && strings.ContainsRune(superscripts, s.at(i)); i++ {
		for d, c := range []rune(superscripts) {
			if c == s.at(i) {
				b.WriteByte(byte('0' + d))
			}
		}
	}
	if i == from {
		return "", i
	}
	return b.String(), i
}

func (s *numberScanner) skipSpaces(i int) int {
	for s.at(i) == ' ' || s.at(i) == '\u00a0' {
		i++
	}
	return i
}

// anyOf returns the length of the word that begins at i, 0 when it is none of
// them.
func (s *numberScanner) anyOf(i int, words ...string) int {
	for _, w := range words {
		if i+len(w) <= len(s.r) && string(s.r[i:i+len(w)]) == w {
			return len(w)
		}
	}
	return 0
}

// clampExponent reads an exponent; huge when it is beyond all bounds.
func clampExponent(digits string) (exp int, huge bool) {
	neg := strings.HasPrefix(digits, "-")
	digits = strings.TrimLeft(strings.TrimPrefix(digits, "-"), "0")
	if len(digits) > 4 {
		return 0, true
	}
	for i := range len(digits) {
		exp = exp*10 + int(digits[i]-'0')
	}
	if neg {
		exp = -exp
	}
	return exp, false
}
