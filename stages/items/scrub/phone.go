package scrub

import (
	"slices"
	"strings"
)

// findPhones finds international numbers (+49 …, 0049 …), North American ones by
// their grouping, others by a leading 0 and grouping, and any number that the
// text calls a phone number. There is no check digit, so what else a number may
// be (a date, an order, a decimal, a list) is refused.
func findPhones(s string, hit func(lo, hi int)) {
	last := -1 // end of the number before
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '+' && c != '(' && !isDigit(c) {
			continue
		}
		if lo, hi := phoneAt(s, i, last); hi > 0 {
			hit(lo, hi)
			i, last = hi-1, hi
			continue
		}
		for isDigit(c) && isDigit(at(s, i+1)) {
			i++
		}
	}
}

// phoneAt returns the number that begins at i, hi = 0 for none; last is where
// the one before it ends.
func phoneAt(s string, i, last int) (lo, hi int) {
	lo = i
	digit := i
	for digit < len(s) && digit-i < 3 && (s[digit] == '+' || s[digit] == '(') {
		digit++
	}
	if !isDigit(at(s, digit)) || !openPhone(s, lo) {
		return 0, 0
	}
	all := readGroups(s, digit)
	if all.count() < 7 {
		return 0, 0
	}
	plus := strings.IndexByte(s[lo:digit], '+') >= 0
	cued := saysPhone(s, lo)
	if at(s, lo-1) == ' ' && isDigit(at(s, lo-2)) && lo-1 != last && !plus && !cued {
		return 0, 0 // the rest of a longer number
	}
	for k := all.n; k >= 1; k-- {
		gs := all.first(k)
		hi := extensionEnd(s, gs.hi())
		if n := gs.count(); n < 7 || n > 17 || hi == gs.hi() && !openRight(s, hi) || gs.isDate() {
			continue
		}
		if isPhone(&gs, plus, cued) && (cued || plus || !saysOrder(s, lo)) {
			return balance(s, lo, digit), hi
		}
	}
	return 0, 0
}

// openPhone is openLeft without amounts of money and sums.
func openPhone(s string, lo int) bool {
	before := s[max(0, lo-3):lo]
	for _, sign := range []string{"$", "€", "£", "¥", "#", "%", "\\"} {
		if strings.HasSuffix(before, sign) {
			return false
		}
	}
	if s[lo] == '(' {
		return !isAlnum(at(s, lo-1)) && at(s, lo-1) != '_' // f(5551234567)
	}
	return openLeft(s, lo) && at(s, lo-1) != '+' && at(s, lo-1) != '('
}

// balance leaves an opening bracket in the text when its number has no closing one.
func balance(s string, lo, digit int) int {
	if s[lo] == '(' && !strings.Contains(s[digit:min(len(s), digit+8)], ")") {
		return lo + 1
	}
	return lo
}

func isPhone(gs *groups, plus, cued bool) bool {
	d := gs.digits()
	switch {
	case plus:
		return isInternational(d) && !isDecimal(gs)
	case strings.HasPrefix(gs.text(0), "00"):
		return (gs.n > 1 || cued) && isInternational(d[2:]) && !isDecimal(gs) && (cued || !gs.allPairs())
	case gs.text(0) == "011" && gs.n > 3: // the prefix for abroad in North America
		return isInternational(d[3:]) || cued
	case cued:
		return len(d) <= 15 && !isDecimal(gs)
	}
	return isNorthAmerican(gs) || isNational(gs) || isMobile(gs) || isGrouped(gs)
}

// isInternational checks the country code's first digit and the length of E.164;
// North America (+1) has its own plan.
func isInternational(d string) bool {
	if d == "" || d[0] == '0' || len(d) < 9 || len(d) > 15 {
		return false
	}
	return d[0] != '1' || len(d) == 11 && d[1] >= '2' && d[4] >= '2'
}

func isDecimal(gs *groups) bool { return gs.n == 2 && gs.sep(1) == "." }

// allPairs is true of 00 30 81 89 02 81, which dumps of bytes are full of.
func (gs *groups) allPairs() bool {
	for i := range gs.n {
		if gs.len(i) != 2 {
			return false
		}
	}
	return true
}

// isNorthAmerican wants 3-3-4 with area and exchange from 200, perhaps after 1-.
func isNorthAmerican(gs *groups) bool {
	area := 0
	if gs.n == 4 && gs.text(0) == "1" {
		area = 1
	}
	if gs.n != area+3 || gs.len(area) != 3 || gs.len(area+1) != 3 || gs.len(area+2) != 4 {
		return false
	}
	if gs.text(area)[0] < '2' || gs.text(area + 1)[0] < '2' {
		return false
	}
	a, b := gs.sep(area+1), gs.sep(area+2)
	if a == " " && b == " " { // a table of numbers goes on
		next := skipSeparator(gs.s, gs.hi())
		return !isDigit(at(gs.s, next))
	}
	return a == b && (a == "-" || a == ".") || (a == ") " || a == ")" || a == ")-") && (b == "-" || b == " " || b == ".")
}

// isNational wants a leading 0, nine to twelve digits and two to five groups of
// two digits or more.
func isNational(gs *groups) bool {
	n := gs.count()
	if gs.text(0)[0] != '0' || gs.len(0) < 2 || gs.text(0)[1] == '0' || n < 9 || n > 12 || gs.n < 2 || gs.n > 5 {
		return false
	}
	zeros, pairs, dots := 0, true, false
	for i := range gs.n {
		if gs.len(i) < 2 {
			return false
		}
		if gs.text(i)[0] == '0' {
			zeros++
		}
		pairs = pairs && gs.len(i) == 2
		dots = dots || i > 0 && gs.sep(i) == "."
	}
	if dots || pairs {
		return pairs && gs.n == 5 && zeros < 5 && !isDigit(at(gs.s, skipSeparator(gs.s, gs.hi()))) // 06 12 34 56 78
	}
	return !(zeros == gs.n && gs.n > 2) // 012 034 056 is a list
}

// isMobile takes the mobile prefixes of Germany, Britain and France in one run of
// digits; identifiers seldom begin with 0.
func isMobile(gs *groups) bool {
	if gs.n != 1 {
		return false
	}
	d := gs.text(0)
	switch len(d) {
	case 10:
		return d[:2] == "06" || d[:2] == "07"
	case 11:
		return d[:2] == "07" || d[:3] == "015" || d[:3] == "016" || d[:3] == "017"
	case 12:
		return d[:3] == "015" || d[:3] == "016" || d[:3] == "017"
	}
	return false
}

// isGrouped takes groupings that are one country's alone: China's mobile numbers,
// Brazil's and Russia's, and the German (0)30 901820.
func isGrouped(gs *groups) bool {
	first := gs.text(0)
	sep, one := gs.oneSep()
	switch {
	case gs.hasLens(3, 4, 4):
		return one && sep == "-" && first[0] == '1' && first[1] >= '3'
	case gs.hasLens(2, 5, 4), gs.hasLens(2, 4, 4):
		start := gs.text(1)[0]
		return first[0] != '0' && gs.sep(1) == ") " && gs.sep(2) == "-" && (gs.len(1) == 5) == (start == '9') && start >= '2'
	case gs.hasLens(1, 3, 3, 2, 2):
		return first == "8" && gs.sep(3) == "-" && gs.sep(4) == "-" && (one || gs.sep(1) == " (" && gs.sep(2) == ") ")
	}
	n := gs.count()
	return first == "0" && gs.n > 1 && gs.sep(1) == ")" && at(gs.s, gs.lo()-1) == '(' && n >= 9 && n <= 12
}

// extensionWords stand before the digits of an extension.
var extensionWords = []string{"extension", "extn", "ext", "durchwahl", "dw", "nst", "poste", "interno", "anexo"}

// extensionEnd returns where the extension behind a number ends: "x23", "ext. 23",
// ";ext=23"; hi if there is none.
func extensionEnd(s string, hi int) int {
	i := hi
	if c := at(s, i); c == ',' || c == ';' {
		i++
	}
	for i-hi < 3 && at(s, i) == ' ' {
		i++
	}
	word := i
	for i-word < 10 && isAlpha(at(s, i)) {
		i++
	}
	name := s[word:min(i, len(s))]
	if !strings.EqualFold(name, "x") {
		if !slices.Contains(extensionWords, strings.ToLower(name)) {
			return hi
		}
		for n := 0; n < 3 && at(s, i) != 0 && strings.IndexByte(".:= -", at(s, i)) >= 0; n++ {
			i++
		}
	}
	digits := i
	for isDigit(at(s, i)) {
		i++
	}
	if i == digits || i-digits > 6 || !openRight(s, i) {
		return hi
	}
	return i
}
