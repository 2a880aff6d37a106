package stats

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Weighted is a difference post-stratified to given weights, such as shares of
// traffic: sum w_s d_s with standard error sqrt(sum w_s^2 SE_s^2).
type Weighted struct {
	Delta   float64            `json:"delta"`
	SE      float64            `json:"se"`
	Z       Interval           `json:"interval"`
	Weights map[string]float64 `json:"weights"`
}

// StratifiedMean needs a weight for each stratum and no other; weights are
// scaled to sum 1. A weighted stratum without spread, or with one item, has an
// unknown standard error, not 0, so it makes the interval undefined.
func StratifiedMean(strata map[string]Paired, weights map[string]float64, confidence float64) (Weighted, error) {
	if len(strata) != len(weights) || len(strata) == 0 {
		return Weighted{}, fmt.Errorf("weighted mean: %d strata and %d weights; give one weight for each stratum", len(strata), len(weights))
	}
	names := slices.Sorted(maps.Keys(strata))
	total := 0.0
	for _, s := range names {
		w, ok := weights[s]
		if !ok || !(w >= 0) || math.IsInf(w, 0) {
			return Weighted{}, fmt.Errorf("weighted mean: stratum %q has weight %v; give a number of at least 0", s, w)
		}
		total += w
	}
	if !(total > 0) || math.IsInf(total, 0) {
		return Weighted{}, fmt.Errorf("weighted mean: the weights add up to %v", total)
	}
	out := Weighted{Weights: map[string]float64{}}
	variance, unknown := 0.0, false
	for _, s := range names {
		w, p := weights[s]/total, strata[s]
		out.Weights[s] = w
		out.Delta += float64(w * p.Mean)
		variance += float64(w * p.SE * w * p.SE)
		unknown = unknown || w > 0 && p.SE == 0
	}
	out.SE = math.Sqrt(variance)
	out.Z = Paired{N: 2, Mean: out.Delta, SE: out.SE}.Z(confidence)
	if unknown {
		out.Z = undefined(MethodZ, ReasonZeroVariance)
	}
	return out, nil
}
