package arrival

import "math"

// ln2 is split so that k*ln2High is exact for every exponent k.
const (
	ln2High = 0x1.62e42feep-1
	ln2Low  = math.Ln2 - ln2High
)

// ln is the natural logarithm of a finite x > 0, within 2 ulp or 2^-52,
// whichever is larger. math.Log is not used because its last bit differs
// between architectures, and with it, now and then, a nanosecond of a plan.
//
// x = m 2^k with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh s, s = (m-1)/(m+1),
// |s| < 0.1716: twelve terms of the series reach 2^-55.
func ln(x float64) float64 {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	s := (m - 1) / (m + 1)
	z := s * s
	p := 0.0
	for n := 23; n >= 3; n -= 2 {
		p = float64(p*z) + 1/float64(n)
	}
	tail := float64(2*s*float64(z*p)) + float64(float64(k)*ln2Low)
	return float64(float64(k)*ln2High) + (2*s + tail)
}

// exp is e^x for x <= 0, to the same precision; 0 below the smallest normal
// number.
//
// x = k ln 2 + r with |r| < 0.3466: fourteen terms of the series reach 2^-57.
func exp(x float64) float64 {
	if x < -708 {
		return 0
	}
	k := math.RoundToEven(x / math.Ln2)
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	p := 1.0
	for n := 14; n >= 1; n-- {
		p = 1 + float64(p*r)/float64(n)
	}
	return math.Ldexp(p, int(k))
}
