package stats

import (
	"math"
	"sync/atomic"
)

// tLargeDF is where the expansion of the t quantile in 1/df is exact to
// float64 for every level of interest.
const tLargeDF = 2000

// tTwoSided is P(|T| >= |t|) for Student's t with df > 0 degrees of freedom.
func tTwoSided(t, df float64) float64 {
	t2 := float64(t * t)
	return betaInc(df/2, 0.5, df/(df+t2), t2/(df+t2))
}

// TQuantile is the t with P(T <= t) = p for Student's t with df > 0 degrees of
// freedom, 0 < p < 1.
func TQuantile(p, df float64) float64 {
	if p == 0.5 {
		return 0
	}
	tail := 2 * min(p, 1-p)
	if df >= tLargeDF {
		return tExpansion(NormalQuantile(p), df)
	}
	slot := &tMemo[math.Float64bits(df)*0x9e3779b97f4a7c15>>58] // Fibonacci hashing to 6 bits
	if known := slot.Load(); known != nil && known.p == p && known.df == df {
		return known.t
	}
	hi := 1.0
	for tTwoSided(hi, df) > tail && hi < 1e300 {
		hi *= 2
	}
	t := bisect(0, hi, func(t float64) bool { return tTwoSided(t, df) > tail })
	t = math.Copysign(t, p-0.5)
	slot.Store(&tQuantile{p, df, t})
	return t
}

// tMemo remembers quantiles that were computed, which take 0.1 ms: simulations
// and searches for a number of items ask for the same few over and over.
var tMemo [64]atomic.Pointer[tQuantile]

type tQuantile struct{ p, df, t float64 }

// tExpansion is the Cornish-Fisher expansion, Abramowitz and Stegun 26.7.5.
func tExpansion(z, df float64) float64 {
	z2 := z * z
	g1 := horner(z2, 1, 1) / 4
	g2 := horner(z2, 3, 16, 5) / 96
	g3 := horner(z2, -15, 17, 19, 3) / 384
	g4 := horner(z2, -945, -1920, 1482, 776, 79) / 92160
	return z * horner(1/df, 1, g1, g2, g3, g4)
}
