package score

import "unicode"

// startsHere looks at what stands before the digits.
func (s *numberScanner) startsHere(start int) bool {
	prev := s.at(start - 1)
	if isWord(prev) || prev == '^' || prev == '{' && s.at(start-2) == '^' {
		return false
	}
	if isMinus(prev) || prev == '+' { // GPT-4, COVID-19, 2^-3
		before := s.at(start - 2)
		return before == 0 || !isWordLetter(before) && before != '^' && !(before == '{' && s.at(start-3) == '^')
	}
	return true
}

// endsHere looks at what stands behind the digits, and skips a word that they
// are a part of.
func (s *numberScanner) endsHere() bool {
	c := s.at(s.i)
	switch {
	case c == '^':
		return false
	case unicode.Is(unicode.No, c):
		if vulgar[c] == [2]int64{} {
			s.i++
			return false
		}
		return s.g.fractions
	case !isWordLetter(c):
		return true
	}
	from := s.i
	for isWordLetter(s.at(s.i)) {
		s.i++
	}
	if isWord(s.at(s.i)) { // 0x1f, 2x4, 1e5x
		for isWord(s.at(s.i)) {
			s.i++
		}
		return false
	}
	switch unit := string(s.r[from:s.i]); unit {
	case "st", "nd", "rd", "th", "k", "K", "M", "B", "bn", "G", "T":
		return false
	}
	s.i = from
	return true
}

// sign looks for a sign, and for currency, before the digits; from is where
// the number starts with them.
func (s *numberScanner) sign(start int) (from int, neg bool) {
	i := start - 1
	if s.at(i) == ' ' && unicode.Is(unicode.Sc, s.at(i-1)) {
		i--
	}
	for unicode.Is(unicode.Sc, s.at(i)) && i >= 0 || s.at(i) == '\\' && i < start-1 {
		i--
	}
	if c := s.at(i); isMinus(c) || c == '+' {
		if before := s.at(i - 1); !isWord(before) && before != ')' && before != ']' && !isMinus(before) && before != '%' {
			return i, isMinus(c)
		}
	}
	return start, false
}

func (s *numberScanner) skipPercent() bool {
	i := s.i
	if s.at(i) == ' ' || s.at(i) == '\u00a0' || s.at(i) == '\u202f' {
		i++
	}
	if s.at(i) == '\\' {
		i++
	}
	if s.at(i) != '%' && s.at(i) != '％' {
		return false
	}
	s.i = i + 1
	return true
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' || '０' <= r && r <= '９' }

func asciiDigit(r rune) byte {
	if r >= '０' {
		return byte(r-'０') + '0'
	}
	return byte(r)
}

func isMinus(r rune) bool {
	switch r {
	case '-', '−', '﹣', '－', '–':
		return true
	}
	return false
}

// isWordLetter is isWord without digits and underscore.
func isWordLetter(r rune) bool { return isWord(r) && !isDigit(r) && r != '_' && unicode.IsLetter(r) }
