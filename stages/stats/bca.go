package stats

import (
	"math"
	"slices"
)

// Acceleration shows how a BCa interval came about.
type Acceleration struct {
	Below          float64 // share of resampled means below the estimate, ties half
	Z0, A          float64
	Alpha1, Alpha2 float64
}

// BCa is the bias-corrected and accelerated interval from resampled means of d
// (B. Efron, 1987). Ties with the estimate, of which 0/1 scores make many,
// count half. When it has no meaning it is undefined, never a point.
func BCa(d []float64, r Resampled, confidence float64) (Interval, Acceleration) {
	var acc Acceleration
	switch {
	case badConfidence(confidence):
		return undefined(MethodBCa, ReasonBadConfidence), acc
	case len(d) == 0:
		return undefined(MethodBCa, ReasonNoItems), acc
	}
	a, ok := skewAcceleration(d, r.Delta)
	if !ok {
		return undefined(MethodBCa, ReasonZeroVariance), acc
	}
	acc.A, acc.Below = a, midRank(r.sorted, r.Delta)
	if acc.Below <= 0 || acc.Below >= 1 {
		return undefined(MethodBCa, ReasonDegenerate), acc
	}
	acc.Z0 = NormalQuantile(acc.Below)
	z := zFor(confidence)
	var ok1, ok2 bool
	acc.Alpha1, ok1 = acc.level(-z)
	acc.Alpha2, ok2 = acc.level(z)
	if !ok1 || !ok2 {
		return undefined(MethodBCa, ReasonDegenerate), acc
	}
	lo := percentileSorted(r.sorted, 100*acc.Alpha1)
	hi := percentileSorted(r.sorted, 100*acc.Alpha2)
	if lo >= hi {
		return undefined(MethodBCa, ReasonDegenerate), acc
	}
	return defined(MethodBCa, lo, hi), acc
}

// level is the percentile at which to read a limit. Past the pole of its
// formula the correction has no meaning.
func (acc Acceleration) level(z float64) (float64, bool) {
	w := acc.Z0 + z
	denominator := 1 - float64(acc.A*w)
	if denominator <= 0 {
		return 0, false
	}
	return NormalCDF(acc.Z0 + w/denominator), true
}

// skewAcceleration is the closed form of the jackknife for a mean.
func skewAcceleration(d []float64, mean float64) (float64, bool) {
	sq, cube := make([]float64, len(d)), make([]float64, len(d))
	for i, v := range d {
		u := v - mean
		sq[i], cube[i] = u*u, u*u*u
	}
	s2 := Sum(sq)
	if s2 == 0 || !varies(d) {
		return 0, false
	}
	return Sum(cube) / (6 * s2 * math.Sqrt(s2)), true
}

// varies is false when all differences are the same number, for which the
// rounding of the mean would still leave a tiny variance.
func varies(d []float64) bool {
	return slices.ContainsFunc(d, func(v float64) bool { return v != d[0] })
}

func midRank(sorted []float64, x float64) float64 {
	below, _ := slices.BinarySearch(sorted, x)
	notAbove, _ := slices.BinarySearch(sorted, math.Nextafter(x, math.Inf(1)))
	return float64(below+notAbove) / float64(2*len(sorted))
}
