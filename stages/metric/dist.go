package metric

import (
	"math"
	"slices"
)

// DescriptiveBelow is the number of values under which percentiles are
// labelled: a p99 of fewer than 100 values is their maximum.
const DescriptiveBelow = 100

// Percentile is a percentile in thousandths, so that p99.9 is whole.
type Percentile int

// The percentiles of a distribution.
const (
	P50  Percentile = 500
	P90  Percentile = 900
	P95  Percentile = 950
	P99  Percentile = 990
	P999 Percentile = 999
)

// NearestRank returns a percentile, 1 to 1000 thousandths, of ascending
// values: the one at the 1-based rank ceil(p*n). The rank is computed in
// integers, so that no rounding moves it. The median of an even number of
// values is the lower of the middle two.
func NearestRank(sorted []float64, p Percentile) float64 {
	rank := (int(p)*len(sorted) + 999) / 1000
	return sorted[max(rank, 1)-1]
}

// NewDist describes values; reason says why there are none. Values that are
// not finite are left out.
func NewDist(values []float64, unit, reason string) Dist {
	return distOf(slices.Clone(values), unit, reason)
}

// distOf is NewDist on values that may be changed.
func distOf(values []float64, unit, reason string) Dist {
	given := len(values)
	xs := slices.DeleteFunc(values, func(x float64) bool { return !finite(x) })
	if len(xs) == 0 {
		if given > 0 {
			reason = NotFinite
		}
		return Dist{Unit: unit, Reason: reason}
	}
	slices.Sort(xs)
	mean, sd := meanStdDev(xs)
	d := Dist{N: len(xs), Unit: unit, Mean: &mean, StdDev: sd, Min: ptr(xs[0]), Max: ptr(xs[len(xs)-1])}
	for _, q := range []struct {
		p                Percentile
		value, certified **float64
	}{
		{P50, &d.P50, &d.P50Certified}, {P90, &d.P90, &d.P90Certified}, {P95, &d.P95, &d.P95Certified},
		{P99, &d.P99, &d.P99Certified}, {P999, &d.P999, &d.P999Certified},
	} {
		*q.value, *q.certified = ptr(NearestRank(xs, q.p)), Certified(xs, q.p)
	}
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
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	if finite(sum) {
		return sum / n
	}
	shares := 0.0
	for _, x := range xs {
		shares += x / n
	}
	return shares
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
