package metric

import "math"

// Of returns v in unit. A NaN or an infinity becomes null.
func Of(v float64, unit string) Value {
	if !finite(v) {
		return Null(NotFinite, unit)
	}
	return Value{Value: &v, Unit: unit}
}

// Null returns no value and why.
func Null(reason, unit string) Value { return Value{Unit: unit, Reason: reason} }

// Ratio returns num/den, or null with the reason given when den is not positive.
func Ratio(num, den float64, unit, reason string) Value { return per(num, den, reason).in(unit) }

// sample is a Value before it is kept: a column of a million of them must not
// allocate.
type sample struct {
	v   float64
	why string // reason code, "" = there is a value
}

func have(v float64) sample    { return sample{v: v} }
func none(why string) sample   { return sample{why: why} }
func (s sample) there() bool   { return s.why == "" && finite(s.v) }
func finite(v float64) bool    { return !math.IsNaN(v) && !math.IsInf(v, 0) }
func ms(ns int64) float64      { return float64(ns) / 1e6 }
func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// in gives the sample its unit.
func (s sample) in(unit string) Value {
	if s.why != "" {
		return Null(s.why, unit)
	}
	return Of(s.v, unit)
}

// reason is why a sample that is not there has no value.
func (s sample) reason() string {
	if s.why != "" {
		return s.why
	}
	return NotFinite
}

// per is num/den, or none when den is not positive. An infinite den would give
// a false 0.
func per(num, den float64, why string) sample {
	switch {
	case !(den > 0):
		return none(why)
	case math.IsInf(den, 0):
		return none(NotFinite)
	}
	return have(num / den)
}
