// Package parse reads the numbers, times and column names that meters and their
// tools write. It takes no clock and does no I/O.
package parse

import (
	"errors"
	"math"
	"math/bits"
	"strings"
)

// Errors of Decimal.
var (
	errNoNumber = errors.New("no number")
	errTooLarge = errors.New("a number that is too large")
)

// maxDigits bounds the text of a number, so that reading one costs nothing.
const maxDigits = 64

// Decimal reads a number such as -12, 3.5 or 1.26272101025e+11 and returns it
// times 10^scale, rounded to the nearest whole; halves go away from zero. No
// float64 is on the way: a counter of 17 digits keeps all of them.
func Decimal(s string, scale int) (int64, error) {
	m, ok := split(s)
	if !ok {
		return 0, errNoNumber
	}
	n, ok := m.times(scale)
	switch {
	case !ok || n > math.MaxInt64:
		return 0, errTooLarge
	case m.negative:
		return -int64(n), nil
	}
	return int64(n), nil
}

// mantissa is a number taken apart: the digits are those of digits*10^-point.
type mantissa struct {
	negative bool
	digits   string
	point    int // digits after the decimal point, less the exponent
}

func split(s string) (m mantissa, ok bool) {
	if len(s) == 0 || len(s) > maxDigits {
		return m, false
	}
	if s[0] == '-' || s[0] == '+' {
		m.negative, s = s[0] == '-', s[1:]
	}
	s, exp, hasExp := cutExponent(s)
	if hasExp {
		e, ok := exponent(exp)
		if !ok {
			return m, false
		}
		m.point = -e
	}
	before, after, _ := strings.Cut(s, ".")
	m.digits = before + after
	m.point += len(after)
	return m, m.digits != "" && allDigits(m.digits)
}

func cutExponent(s string) (number, exp string, found bool) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// exponent reads one of at most three digits; a larger one is of no counter.
func exponent(s string) (int, bool) {
	neg := strings.HasPrefix(s, "-")
	if neg || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	if s == "" || len(s) > 3 || !allDigits(s) {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		n = 10*n + int(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

func allDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// times returns the number without its sign times 10^scale.
func (m mantissa) times(scale int) (uint64, bool) {
	digits := strings.TrimLeft(m.digits, "0")
	shift := scale - m.point
	cut := ""
	if shift < 0 {
		keep := max(0, len(digits)+shift)
		if len(digits)+shift >= 0 {
			cut = digits[keep:]
		}
		digits = digits[:keep]
	}
	var n uint64
	for _, c := range []byte(digits) {
		var ok bool
		if n, ok = append10(n, uint64(c-'0')); !ok {
			return 0, false
		}
	}
	for ; shift > 0 && n > 0; shift-- {
		var ok bool
		if n, ok = append10(n, 0); !ok {
			return 0, false
		}
	}
	if cut != "" && cut[0] >= '5' {
		n++
	}
	return n, true
}

func append10(n, digit uint64) (uint64, bool) {
	hi, lo := bits.Mul64(n, 10)
	sum, carry := bits.Add64(lo, digit, 0)
	return sum, hi == 0 && carry == 0 && sum < math.MaxUint64
}
