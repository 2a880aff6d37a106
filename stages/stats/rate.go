package stats

import "math"

// Wilson is the score interval for k successes of n (E. B. Wilson, 1927).
func Wilson(k, n int, confidence float64) Interval {
	if why := badRate(k, n, confidence); why != "" {
		return undefined(MethodWilson, why)
	}
	lo, hi := wilsonLimits(float64(k), float64(n), zFor(confidence))
	return defined(MethodWilson, lo, hi)
}

func badRate(k, n int, confidence float64) Reason {
	switch {
	case badConfidence(confidence):
		return ReasonBadConfidence
	case n == 0:
		return ReasonNoItems
	case k < 0 || k > n:
		return ReasonBadCounts
	}
	return ""
}

func wilsonLimits(k, n, z float64) (lo, hi float64) {
	p, z2 := k/n, z*z
	denominator := 1 + z2/n
	centre := (p + z2/(2*n)) / denominator
	half := z * math.Sqrt(p*(1-p)/n+z2/(4*n*n)) / denominator
	lo, hi = centre-half, centre+half
	// The limit is exactly 0 or 1 there; the subtraction leaves a rounding.
	if k == 0 {
		lo = 0
	}
	if k == n {
		hi = 1
	}
	return lo, hi
}

// ClopperPearson is the exact binomial interval for k successes of n.
func ClopperPearson(k, n int, confidence float64) Interval {
	if why := badRate(k, n, confidence); why != "" {
		return undefined(MethodClopperPearson, why)
	}
	tail := (1 - confidence) / 2
	x, m := float64(k), float64(n)
	lo, hi := 0.0, 1.0
	if k > 0 {
		lo = betaQuantile(tail, x, m-x+1)
	}
	if k < n {
		hi = 1 - betaQuantile(tail, m-x, x+1)
	}
	return defined(MethodClopperPearson, lo, hi)
}
