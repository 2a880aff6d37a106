package stats

import "math"

// Tango is the score interval for the difference of two paired proportions,
// theta = (c-b)/n, with b items that only A passes and c that only B passes
// (T. Tango, Statistics in Medicine 17, 1998). Unlike the bootstrap it does
// not shrink to a point when nothing disagrees: then the limits are
// -+z^2/(n+z^2). Counts may be fractional, which planning and clusters use.
func Tango(n, b, c, confidence float64) Interval {
	switch {
	case badConfidence(confidence):
		return undefined(MethodTango, ReasonBadConfidence)
	case n == 0:
		return undefined(MethodTango, ReasonNoItems)
	case !(b >= 0 && c >= 0 && b+c <= n*(1+1e-12)) || math.IsInf(n, 0):
		return undefined(MethodTango, ReasonBadCounts)
	}
	z := zFor(confidence)
	// The upper limit is the lower one of the swapped table, so that swapping
	// A and B mirrors the interval exactly.
	return defined(MethodTango, tangoLower(n, b, c, z), -tangoLower(n, c, b, z))
}

// tangoLower solves score(D) = z for D in [-1, theta]; the score falls in D.
func tangoLower(n, b, c, z float64) float64 {
	theta := (c - b) / n
	return bisect(-1, theta, func(d float64) bool {
		return c-b-float64(n*d) > z*math.Sqrt(tangoVariance(n, b, c, d))
	})
}

// tangoVariance is the variance of c-b under theta = d: n(2q + d(1-d)), where q
// is the restricted estimate of the probability that only A passes.
func tangoVariance(n, b, c, d float64) float64 {
	linear := float64((2*n-c+b)*d) - (b + c)
	constant := -b * d * (1 - d)
	root := math.Sqrt(max(0, float64(linear*linear)-float64(8*n*constant)))
	q := (root - linear) / (4 * n)
	return max(0, n*(2*q+float64(d*(1-d))))
}

// Table is a paired 0/1 table.
type Table struct {
	BothPass int `json:"both_pass"`
	AOnly    int `json:"a_only"`
	BOnly    int `json:"b_only"`
	BothFail int `json:"both_fail"`
}

// N is the number of items.
func (t Table) N() int { return t.BothPass + t.AOnly + t.BOnly + t.BothFail }

// Tango is the score interval of the table.
func (t Table) Tango(confidence float64) Interval {
	return Tango(float64(t.N()), float64(t.AOnly), float64(t.BOnly), confidence)
}

// Newcombe is the hybrid score interval with the continuity-corrected
// correlation (R. G. Newcombe, Statistics in Medicine 17, 1998, method 10).
func (t Table) Newcombe(confidence float64) Interval {
	n := float64(t.N())
	if badConfidence(confidence) {
		return undefined(MethodNewcombe, ReasonBadConfidence)
	}
	if n == 0 {
		return undefined(MethodNewcombe, ReasonNoItems)
	}
	z := zFor(confidence)
	passA, passB := float64(t.BothPass+t.AOnly), float64(t.BothPass+t.BOnly)
	loA, hiA := wilsonLimits(passA, n, z)
	loB, hiB := wilsonLimits(passB, n, z)
	pA, pB := passA/n, passB/n
	theta, phi := pB-pA, t.newcombePhi()
	lo := theta - hybridWidth(pB-loB, hiA-pA, phi)
	hi := theta + hybridWidth(hiB-pB, pA-loA, phi)
	return defined(MethodNewcombe, max(-1, lo), min(1, hi))
}

func hybridWidth(u, v, phi float64) float64 {
	return math.Sqrt(max(0, float64(u*u)-float64(2*phi*u*v)+float64(v*v)))
}

// newcombePhi is the correlation of the two scores; 0 when a margin is empty.
func (t Table) newcombePhi() float64 {
	n, a, d := float64(t.N()), float64(t.BothPass), float64(t.BothFail)
	b, c := float64(t.AOnly), float64(t.BOnly)
	margins := (a + b) * (c + d) * (a + c) * (b + d)
	if margins == 0 {
		return 0
	}
	num := float64(a*d) - float64(b*c)
	if num > 0 {
		num = max(0, num-float64(n/2))
	}
	return num / math.Sqrt(margins)
}
