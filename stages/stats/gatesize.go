package stats

import "math"

// PowerNonInferior is the probability, by the normal distribution, that a
// candidate whose true difference is trueDelta passes "lower limit > -margin"
// with n items whose differences have the variance; alpha is one-sided.
// SizeNonInferior is its inverse.
func PowerNonInferior(variance, margin, trueDelta, alpha float64, n int) float64 {
	distance := margin + trueDelta
	if n < 1 {
		return 0
	}
	if !(variance > 0) {
		return indicator(distance > 0)
	}
	return NormalCDF(distance/math.Sqrt(variance/float64(n)) - NormalQuantile(1-alpha))
}

// FewestItems is the smallest number of items with which "lower limit > -margin"
// can hold when not one item differs: z^2 (1/margin - 1), 189 for 0.02 at 95 %.
// It is 0 for a margin that is not above 0: without a difference no number is
// enough.
func FewestItems(margin, confidence float64) int {
	if !(margin > 0) || badConfidence(confidence) {
		return 0
	}
	z := zFor(confidence)
	return int(math.Floor(z*z*(1/margin-1))) + 1
}
