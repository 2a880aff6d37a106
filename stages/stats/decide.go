package stats

import "math"

// ItemsToDecide is the number of items at which a paired 0/1 table in the
// proportions of (n, b, c) would be decided by Tango's interval: the smallest
// n' >= n for which decided is true. It returns 0 and false when that takes
// more than [MaxItems]. decided should stay true once the interval is narrow
// enough; it also receives undefined intervals.
func ItemsToDecide(n, b, c int, confidence float64, decided func(Interval) bool) (int, bool) {
	e := Evidence{N: float64(n), B: float64(b), C: float64(c)}
	return itemsToDecide(n, decided, func(items float64) Interval {
		s := e.Scaled(items)
		return Tango(s.N, s.B, s.C, confidence)
	})
}

// ItemsToDecideAuto is ItemsToDecide for the interval that [Auto] chooses,
// which may be defined only from some number of items on.
func ItemsToDecideAuto(e Evidence, confidence float64, decided func(Interval) bool) (int, bool) {
	return itemsToDecide(int(e.N), decided, func(items float64) Interval {
		return Auto(e.Scaled(items), confidence)
	})
}

// ItemsToDecideMean is ItemsToDecide for fractional scores and the t interval,
// whose standard error shrinks with sqrt(n/n').
func ItemsToDecideMean(p Paired, confidence float64, decided func(Interval) bool) (int, bool) {
	e := Evidence{N: float64(p.N), Mean: p.Mean, SD: p.SD}
	return itemsToDecide(p.N, decided, func(items float64) Interval {
		return e.Scaled(items).t(confidence)
	})
}

// itemsToDecideWidth takes any interval around delta and shrinks it by
// sqrt(n/n'); a point interval never gets narrower and so decides at n or not
// at all.
func itemsToDecideWidth(n int, delta float64, iv Interval, decided func(Interval) bool) (int, bool) {
	return itemsToDecide(n, decided, func(items float64) Interval {
		if !iv.Defined {
			return iv
		}
		f := math.Sqrt(float64(n) / items)
		return defined(iv.Method, delta-float64((delta-iv.Lo)*f), delta+float64((iv.Hi-delta)*f))
	})
}

func itemsToDecide(n int, decided func(Interval) bool, at func(items float64) Interval) (int, bool) {
	if n < 1 || n > MaxItems {
		return 0, false
	}
	return smallest(n, min(MaxItems, 2*n), func(items int) bool { return decided(at(float64(items))) })
}
