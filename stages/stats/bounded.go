package stats

import "math"

// bounded moves the limits of iv, an interval that rests on the standard error
// se of n independent differences, outwards to those of the score interval for
// differences between -1 and 1. Without it a candidate that fails rarely and
// then wholly passes far too often: a sample that happens to show few of the
// failures has a small mean loss and a small standard error at once.
//
// The lower limit is the smallest D with mean - D <= q sqrt(V_D/n), where V_D is
// the variance of the sample after a share of it was moved to -1 until its mean
// is D: the worst that may not have been seen. Without any difference that is
// -q^2/(n+q^2), as with Tango and Wilson. The upper limit is its mirror.
//
// Of clustered items n is the number that they count for when those of a cluster
// answer alike. What the design effect of the sample says instead is too good:
// losses that come by the cluster, and were not seen, are not in it.
func (e Evidence) bounded(iv Interval, se, n, df, confidence float64) Interval {
	if !iv.Defined || !e.Bounded && !e.Binary {
		return iv
	}
	q := TQuantile((1+confidence)/2, df)
	second := float64(e.Mean*e.Mean) + float64(e.SD*e.SD*(e.N-1)/e.N)
	iv.Lo = min(iv.Lo, max(-1, e.Mean-scoreReach(e.Mean, second, se, n, q)))
	iv.Hi = max(iv.Hi, min(1, e.Mean+scoreReach(-e.Mean, second, se, n, q)))
	iv.Method += "-bounded"
	return iv
}

// scoreReach is the x = mean - D > 0 that solves x^2 = q^2 V_D/n. Moving the
// share w = x/(1+mean) to -1 leaves the variance s^2 + kx - x^2, so the equation
// is (1+a)x^2 - akx - q^2 se^2 = 0 with a = q^2/n and se^2 = s^2/n.
func scoreReach(mean, second, se, n, q float64) float64 {
	k := float64(2 * mean)
	if mean > -1 {
		k += (1 - second) / (1 + mean)
	}
	a := float64(q * q / n)
	ak := float64(a * k)
	root := math.Sqrt(float64(ak*ak) + float64(4*(1+a)*q*q*se*se))
	return (ak + root) / float64(2*(1+a))
}

// bounded is whether all scores lie in [0, 1].
func bounded(scores []float64) bool {
	for _, s := range scores {
		if !(s >= 0 && s <= 1) {
			return false
		}
	}
	return true
}
