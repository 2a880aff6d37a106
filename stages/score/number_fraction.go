package score

import "math/big"

// slash reads 3/4 after its numerator. A chain (2024/05/01) and a denominator
// with a unit that makes it a word are no fractions; without the option none
// is, and both numbers are skipped.
func (s *numberScanner) slash(start int, numerator literal, ok bool) {
	ok = ok && s.g.fractions && numerator.fraction == "" && numerator.exp == 0 && !numerator.huge
	var denominator literal
	for parts := 0; (s.at(s.i) == '/' || s.at(s.i) == '⁄') && isDigit(s.at(s.i+1)); parts++ {
		s.i++
		d, plain := s.literal()
		ok = ok && plain && parts == 0 && d.fraction == "" && d.exp == 0 && !d.huge
		denominator = d
	}
	if !s.endsHere() || !ok {
		return
	}
	from, neg := s.sign(start)
	n, okN := newDecimal(neg, numerator.whole, "", 0)
	d, okD := newDecimal(false, denominator.whole, "", 0)
	if !okN || !okD || d.digits == "" {
		return
	}
	s.add(from, start, new(big.Rat).Quo(n.rat(), d.rat()))
}

// add appends a fraction, or joins it with the integer that stands before it
// with one space between (1 1/2) or none (1½).
func (s *numberScanner) add(from, start int, value *big.Rat) {
	if n := len(s.found); n > 0 && s.whole > 0 && from == start && s.found[n-1].value != nil &&
		(s.whole == start || s.whole == start-1 && s.at(start-1) == ' ') {
		last := &s.found[n-1]
		if isMinus([]rune(last.text)[0]) {
			value.Neg(value)
		}
		last.value = new(big.Rat).Add(last.value, value)
		last.text += string(s.r[s.whole:s.i])
		return
	}
	s.found = append(s.found, number{string(s.r[from:s.i]), value})
}

// latexFraction reads \frac{3}{4} at a backslash; false when there is none.
func (s *numberScanner) latexFraction() bool {
	start := s.i
	n := s.anyOf(start+1, "frac{", "dfrac{", "tfrac{")
	if n == 0 {
		return false
	}
	top, i := s.signedDigits(start + 1 + n)
	if top == "" || s.at(i) != '}' || s.at(i+1) != '{' {
		return false
	}
	bottom, i := s.signedDigits(i + 2)
	if bottom == "" || s.at(i) != '}' {
		return false
	}
	s.i = i + 1
	a, errA := parseDecimal(top)
	b, errB := parseDecimal(bottom)
	if errA != nil || errB != nil || b.digits == "" || !s.g.fractions {
		return true
	}
	from, neg := s.sign(start)
	value := new(big.Rat).Quo(a.rat(), b.rat())
	if neg {
		value.Neg(value)
	}
	s.add(from, start, value)
	return true
}

// vulgar are the fractions that are one character.
var vulgar = map[rune][2]int64{
	'½': {1, 2}, '⅓': {1, 3}, '⅔': {2, 3}, '¼': {1, 4}, '¾': {3, 4}, '⅕': {1, 5}, '⅖': {2, 5}, '⅗': {3, 5},
	'⅘': {4, 5}, '⅙': {1, 6}, '⅚': {5, 6}, '⅛': {1, 8}, '⅜': {3, 8}, '⅝': {5, 8}, '⅞': {7, 8},
}

func (s *numberScanner) vulgarFraction() {
	start := s.i
	s.i++
	if !s.g.fractions {
		return
	}
	from, neg := s.sign(start)
	f := vulgar[s.r[start]]
	value := big.NewRat(f[0], f[1])
	if neg {
		value.Neg(value)
	}
	s.add(from, start, value)
}
