package metric

import "math"

// Of returns v in unit. A NaN or an infinity becomes null.
func Of(v float64, unit string) Value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Null(NotFinite, unit)
	}
	return Value{Value: &v, Unit: unit}
}

// Null returns no value and why.
func Null(reason, unit string) Value { return Value{Unit: unit, Reason: reason} }

// Ratio returns num/den, or null with the reason given when den is not positive.
func Ratio(num, den float64, unit, reason string) Value {
	if !(den > 0) {
		return Null(reason, unit)
	}
	if math.IsInf(den, 0) {
		return Null(NotFinite, unit) // num/Inf would be a false 0
	}
	return Of(num/den, unit)
}

// ms and seconds convert nanoseconds.
func ms(ns int64) float64      { return float64(ns) / 1e6 }
func seconds(ns int64) float64 { return float64(ns) / 1e9 }
