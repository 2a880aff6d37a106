package score

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Bounds of a number that is taken for one. A model can write 1e999999999,
// and an exact comparison must not try to expand it.
const (
	maxDigits   = 1000
	maxExponent = 1000
)

// decimal is the number (-1)^neg * digits * 10^exp, kept so that equal numbers
// are equal structs: digits has no zero at either end, and zero is the zero
// value.
type decimal struct {
	neg    bool
	digits string
	exp    int
}

// newDecimal reads digits with an optional fraction part and an exponent that
// is added. ok is false when it is out of bounds.
func newDecimal(neg bool, whole, fraction string, exp int) (d decimal, ok bool) {
	digits := strings.TrimLeft(whole+fraction, "0")
	exp -= len(fraction)
	short := strings.TrimRight(digits, "0")
	exp += len(digits) - len(short)
	if short == "" {
		return decimal{}, true
	}
	if len(short) > maxDigits || exp > maxExponent || exp < -maxExponent-maxDigits {
		return decimal{}, false
	}
	return decimal{neg, short, exp}, true
}

// parseDecimal reads a JSON number.
func parseDecimal(lit string) (decimal, error) {
	mantissa, power := lit, "0"
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		mantissa, power = lit[:i], lit[i+1:]
	}
	mantissa, neg := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp, err := strconv.Atoi(power)
	if err != nil || exp > 2*maxExponent || exp < -2*maxExponent || !allDigits(whole+fraction) {
		return decimal{}, fmt.Errorf("number %s is out of range", clip(lit))
	}
	d, ok := newDecimal(neg, whole, fraction, exp)
	if !ok {
		return decimal{}, fmt.Errorf("number %s is out of range", clip(lit))
	}
	return d, nil
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// rat returns the exact value.
func (d decimal) rat() *big.Rat {
	n := new(big.Int)
	if d.digits == "" {
		return new(big.Rat)
	}
	n.SetString(d.digits, 10)
	if d.neg {
		n.Neg(n)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(d.exp, -d.exp))), nil)
	if d.exp >= 0 {
		return new(big.Rat).SetInt(n.Mul(n, scale))
	}
	return new(big.Rat).SetFrac(n, scale)
}
