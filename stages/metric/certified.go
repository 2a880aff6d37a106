package metric

// risk is the probability with which a certified percentile may lie below the
// true one.
const risk = 0.01

// Certified returns an upper bound of the p-th percentile of what the values
// were drawn from: with 99 % confidence the true percentile is not above it.
// It is the order statistic X(n-t) with the largest t >= 1 such that
// P(Binomial(n, 1-p) <= t) <= 0.01, the early-stopping rule of MLPerf. It is
// nil below the sample size that can certify p: 11 values for p50, 64 for p90,
// 130 for p95, 662 for p99, 6,636 for p99.9.
//
// The bound fails only when at most t of n values lie above the true
// percentile, each of which does so with probability 1-p.
func Certified(sorted []float64, p Percentile) *float64 {
	t := spared(len(sorted), p)
	if t < 1 {
		return nil
	}
	return ptr(sorted[len(sorted)-t-1])
}

// spared is the largest t with P(Binomial(n, 1-p) <= t) <= 0.01, -1 if there is
// none.
//
// The probabilities are taken relative to the most likely one, by the ratio of
// neighbours, until they cannot matter: some ten standard deviations either
// way. So it takes the root of n steps, and nothing under- or overflows. Only
// products, quotients and sums are used, each rounded by itself, so every
// architecture finds the same t.
func spared(n int, p Percentile) int {
	const negligible = 1e-25
	odds := float64(p) / float64(1000-p)
	mode := min((n+1)*int(1000-p)/1000, n)
	lower, total := []float64{1}, 1.0
	for k, w := mode, 1.0; k > 0 && w > negligible; k-- {
		w = float64(w * float64(k) / float64(n-k+1) * odds)
		lower = append(lower, w)
		total += w
	}
	for k, w := mode, 1.0; k < n && w > negligible; k++ {
		w = float64(w * float64(n-k) / float64(k+1) / odds)
		total += w
	}
	limit, sum := float64(risk*total), 0.0
	for i := len(lower) - 1; i >= 0; i-- {
		if sum += lower[i]; sum > limit {
			return mode - i - 1
		}
	}
	return mode
}
