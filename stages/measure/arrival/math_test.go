package arrival

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLnAndExpAgreeWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0x1p-53, 1e6).Draw(t, "x")
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 0x1p-52*max(1, 2*math.Abs(want)) {
			t.Errorf("ln(%v) = %v, want %v", x, got, want)
		}
		y := -rapid.Float64Range(0, 700).Draw(t, "y")
		if got, want := exp(y), math.Exp(y); math.Abs(got-want) > 4e-16*want {
			t.Errorf("exp(%v) = %v, want %v", y, got, want)
		}
	})
	for _, c := range [][2]float64{{ln(1), 0}, {ln(2), math.Ln2}, {exp(0), 1}, {exp(-1e9), 0}, {exp(math.Inf(-1)), 0}} {
		if c[0] != c[1] {
			t.Errorf("got %v, want %v", c[0], c[1])
		}
	}
}

// Near 1 the logarithm is small, and must still be right to its last bits: the
// shortest gaps of a plan come from there.
func TestLnNearOne(t *testing.T) {
	for _, u := range []float64{0x1p-53, 0x1p-40, 0x1.23p-30, 0x1.fp-10} {
		if got, want := -ln(1-u), -math.Log1p(-u); math.Abs(got-want) > 4e-16*want {
			t.Errorf("-ln(1-%v) = %v, want %v", u, got, want)
		}
	}
}
