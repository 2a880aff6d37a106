package tinyengine

import "math"

// halfMax is the largest finite value of IEEE 754 binary16.
const halfMax = 65504

// halfToFloat widens a binary16 bit pattern; exact for every input.
func halfToFloat(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp, frac := uint32(h>>10)&0x1f, uint32(h&0x3ff)
	switch exp {
	case 0:
		v := float32(frac) * 0x1p-24
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// roundHalf rounds to the nearest binary16 value, ties to even, and returns it
// as float32. Beyond halfMax it keeps eleven significant bits instead of
// turning infinite; callers that can meet such values use toHalf.
//
// Adding and subtracting 1.5 * 2^(e+13), where e is the exponent of x, makes
// the adder do the rounding: no branch, subnormals included. This runs once per
// value, position and head, so a conversion there and back would dominate.
func roundHalf(x float32) float32 {
	e := max(math.Float32bits(x)&0x7f800000, 0x38800000)
	magic := math.Float32frombits(e + 13<<23 | 0x400000)
	return (x + magic) - magic
}

// toHalf is roundHalf with binary16's overflow to infinity and with NaN kept.
func toHalf(x float32) float32 {
	if !(x <= 65519 && x >= -65519) { // 65520 is the tie that rounds away
		return x * float32(math.Inf(1))
	}
	return roundHalf(x)
}
