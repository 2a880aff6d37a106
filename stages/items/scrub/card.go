package scrub

// findCards finds payment cards: a known prefix, its length, a usual grouping
// and the Luhn check digit.
func findCards(s string, hit func(lo, hi int)) {
	eachNumber(s, func(lo int) int {
		gs := readGroups(s, lo)
		for k := min(gs.n, 5); k >= 1; k-- {
			c := gs.first(k)
			if cardLayout(&c) && openRight(s, c.hi()) && isCard(c.digits()) && !saysOrder(s, lo) {
				hit(lo, c.hi())
				return c.hi()
			}
		}
		return 0
	})
}

func cardLayout(gs *groups) bool {
	if gs.n == 1 {
		return true
	}
	sep, one := gs.oneSep()
	return one && (sep == " " || sep == "-" || sep == ".") &&
		(gs.hasLens(4, 4, 4, 4) || gs.hasLens(4, 4, 4, 4, 3) || gs.hasLens(4, 6, 5) || gs.hasLens(4, 6, 4))
}

func isCard(d string) bool {
	if len(d) < 14 || len(d) > 19 || !knownIssuer(d) {
		return false
	}
	return luhn(d)
}

// knownIssuer checks the issuer's prefix with the length of its cards.
func knownIssuer(d string) bool {
	in := func(digits, lo, hi int) bool {
		n := 0
		for i := range digits {
			n = n*10 + int(d[i]-'0')
		}
		return n >= lo && n <= hi
	}
	switch len(d) {
	case 14:
		return in(3, 300, 305) || in(2, 36, 36) || in(2, 38, 39) // Diners
	case 15:
		return in(2, 34, 34) || in(2, 37, 37) // American Express
	case 16, 19:
		return in(1, 4, 4) || in(2, 50, 58) || in(4, 2221, 2720) || in(4, 2200, 2204) || // Visa, Mastercard, Mir
			in(2, 35, 35) || in(1, 6, 6) // JCB; Discover, Maestro, UnionPay, RuPay
	case 17, 18:
		return in(2, 62, 62) // UnionPay
	}
	return false
}

// luhn checks the last digit: every second digit from the right is doubled.
func luhn(d string) bool {
	sum := 0
	for i := range len(d) {
		n := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}
