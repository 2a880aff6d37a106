package metric

import (
	"math"
	"slices"
)

// DescriptiveBelow is the number of values under which percentiles are
// labelled: a p99 of fewer than 100 values is their maximum.
const DescriptiveBelow = 100

// NearestRank returns the p-th percentile, p in 1 to 100, of ascending values:
// the one at the 1-based rank ceil(p*n/100). The rank is computed in integers,
// so that no rounding moves it.
func NearestRank(sorted []float64, p int) float64 {
	rank := (p*len(sorted) + 99) / 100
	return sorted[max(rank, 1)-1]
}

// NewDist describes values; reason says why there are none. Values that are
// not finite are left out.
func NewDist(values []float64, unit, reason string) Dist {
	xs := slices.DeleteFunc(slices.Clone(values), func(x float64) bool {
		return math.IsNaN(x) || math.IsInf(x, 0)
	})
	if len(xs) == 0 {
		if len(values) > 0 {
			reason = NotFinite
		}
		return Dist{Unit: unit, Reason: reason}
	}
	slices.Sort(xs)
	mean, sd := meanStdDev(xs)
	d := Dist{N: len(xs), Unit: unit, Mean: &mean, StdDev: sd}
	d.Min, d.Max = ptr(xs[0]), ptr(xs[len(xs)-1])
	d.P50, d.P90 = ptr(NearestRank(xs, 50)), ptr(NearestRank(xs, 90))
	d.P95, d.P99 = ptr(NearestRank(xs, 95)), ptr(NearestRank(xs, 99))
	if d.N < DescriptiveBelow {
		d.Label = DescriptiveOnly
	}
	return d
}

// meanStdDev returns the mean and the sample standard deviation, nil for fewer
// than two values. The mean is held within the values, which rounding could
// leave.
func meanStdDev(sorted []float64) (mean float64, sd *float64) {
	mean = min(max(meanOf(sorted), sorted[0]), sorted[len(sorted)-1])
	if len(sorted) < 2 {
		return mean, nil
	}
	s := math.Sqrt(squares(sorted, mean) / float64(len(sorted)-1))
	if math.IsInf(s, 0) {
		return mean, nil
	}
	return mean, &s
}

// meanOf sums first and divides once; only a sum that overflows is divided
// value by value.
func meanOf(xs []float64) float64 {
	n := float64(len(xs))
	sum, shares := 0.0, 0.0
	for _, x := range xs {
		sum += x
		shares += x / n
	}
	if math.IsInf(sum, 0) || math.IsNaN(sum) {
		return shares
	}
	return sum / n
}

// squares sums (x-mean)^2. The explicit conversion forbids a fused
// multiply-add: a replay on another architecture compares digests.
func squares(xs []float64, mean float64) (ss float64) {
	for _, x := range xs {
		ss += float64((x - mean) * (x - mean))
	}
	return ss
}

func ptr(v float64) *float64 { return &v }
