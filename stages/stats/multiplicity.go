package stats

import (
	"cmp"
	"math"
	"slices"
)

// chiSquareTail is P(X >= x) for chi-square with one degree of freedom.
func chiSquareTail(x float64) float64 { return normalTwoSided(math.Sqrt(x)) }

// Holm adjusts p-values for the claim "at least one of these is real" (S. Holm,
// 1979). The result is in the order of p.
func Holm(p []float64) []float64 {
	out := make([]float64, len(p))
	running := 0.0
	for rank, i := range ascending(p) {
		running = max(running, min(1, float64(len(p)-rank)*p[i]))
		out[i] = running
	}
	return out
}

// BenjaminiHochberg adjusts p-values to control the false discovery rate.
func BenjaminiHochberg(p []float64) []float64 {
	out := make([]float64, len(p))
	order := ascending(p)
	running := 1.0
	for rank := len(p) - 1; rank >= 0; rank-- {
		i := order[rank]
		running = min(running, float64(len(p))*p[i]/float64(rank+1))
		out[i] = running
	}
	return out
}

// Bonferroni multiplies each p-value by their number.
func Bonferroni(p []float64) []float64 {
	out := make([]float64, len(p))
	for i, v := range p {
		out[i] = min(1, float64(len(p))*v)
	}
	return out
}

func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}
