package metric

import (
	"math"
	"slices"
)

// The words for how repeatable a metric is, by its coefficient of variation.
const (
	Stable   = "stable"   // below 5 %
	Variable = "variable" // below 10 %
	Unstable = "unstable"
	Unknown  = "unknown" // one run, or no mean
)

// StdDevPooled is the square root of the mean, over the groups with two values
// or more, of the population variance. A group holds the runs of one prompt,
// so that differences between prompts are not taken for noise.
func StdDevPooled(groups [][]float64, unit string) Value {
	sum, n := 0.0, 0
	for _, g := range groups {
		if len(g) < 2 {
			continue
		}
		sum += squares(g, meanOf(g)) / float64(len(g))
		n++
	}
	if n == 0 {
		return Null(OneRun, unit)
	}
	return Of(math.Sqrt(sum/float64(n)), unit)
}

// CV is StdDevPooled over the mean of all values, in percent.
func CV(groups [][]float64) Value {
	sd := StdDevPooled(groups, unitPct)
	if sd.Value == nil {
		return sd
	}
	return Ratio(100**sd.Value, math.Abs(meanOf(slices.Concat(groups...))), unitPct, ZeroMean)
}

// Stability puts a coefficient of variation in percent into a word.
func Stability(cv Value) string {
	switch {
	case cv.Value == nil:
		return Unknown
	case *cv.Value < 5:
		return Stable
	case *cv.Value < 10:
		return Variable
	}
	return Unstable
}
