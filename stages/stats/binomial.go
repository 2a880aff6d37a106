package stats

import "math"

// halfTail is P(X <= k) for X ~ Binomial(m, 1/2).
func halfTail(k, m int) float64 {
	if k < 0 {
		return 0
	}
	if k >= m {
		return 1
	}
	if 2*k >= m {
		return 1 - halfTail(m-k-1, m)
	}
	return binomialLower(k, m, 0.5)
}

// halfPoint is P(X = k) for X ~ Binomial(m, 1/2); exact while 2^-m is.
func halfPoint(k, m int) float64 {
	if m <= 1000 {
		p := math.Ldexp(1, -m)
		for i := range min(k, m-k) {
			p = p * float64(m-i) / float64(i+1)
		}
		return p
	}
	return binomialRaw(float64(k), float64(m), 0.5, 0.5)
}

// binomialLower is P(X <= k) for X ~ Binomial(m, p), summed downwards from k.
// That is fast and accurate for k at or below the mean; above it the first term
// may vanish (always when p is 0) while the sum is near 1, so there the other
// tail is summed.
func binomialLower(k, m int, p float64) float64 {
	if k < 0 {
		return 0
	}
	q := 1 - p
	if float64(k) > float64(float64(m)*p) {
		return 1 - binomialLower(m-k-1, m, q)
	}
	term := binomialRaw(float64(k), float64(m), p, q)
	if p == 0.5 {
		term = halfPoint(k, m)
	}
	sum := term
	for i := k; i > 0 && term > sum*1e-18; i-- {
		term *= float64(i) / float64(m-i+1) * (q / p)
		sum += float64(term)
	}
	return min(1, sum)
}

// binomialUpper is P(X >= k) for X ~ Binomial(m, p).
func binomialUpper(k, m int, p float64) float64 { return binomialLower(m-k, m, 1-p) }
