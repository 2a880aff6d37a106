package stats

import "math"

// percentileSorted is numpy.percentile(x, p) with method "linear" for x in
// ascending order and p in percent, 0 to 100; x must not be empty.
func percentileSorted(x []float64, p float64) float64 {
	last := len(x) - 1
	// The explicit conversions forbid a fused multiply-add, which would
	// change the last bit on arm64 and on amd64 with GOAMD64=v3. The one of v
	// guards the subtraction of g.
	v := float64(float64(last) * (p / 100))
	if v >= float64(last) {
		return x[last]
	}
	if v <= 0 {
		return x[0]
	}
	i := int(math.Floor(v))
	g := v - float64(i)
	lo, hi := x[i], x[i+1]
	diff := hi - lo
	if g < 0.5 {
		return lo + float64(diff*g)
	}
	return hi - float64(diff*(1-g))
}

// tailPercents turns a two-sided confidence level into its two percentiles.
// Written so that 0.95 gives 2.5 and 97.5 exactly: (1-0.95)/2*100 does not.
func tailPercents(confidence float64) (lo, hi float64) {
	lo = float64((100 - float64(100*confidence)) / 2)
	return lo, 100 - lo
}
