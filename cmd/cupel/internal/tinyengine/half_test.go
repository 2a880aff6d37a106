package tinyengine

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestHalfKeepsEveryHalf(t *testing.T) {
	for u := range 1 << 16 {
		v := halfToFloat(uint16(u))
		if v != v {
			if g := toHalf(v); g == g {
				t.Fatalf("%#04x: NaN became %v", u, g)
			}
			continue
		}
		if g := toHalf(v); g != v {
			t.Fatalf("%#04x: %v became %v", u, v, g)
		}
	}
}

// TestRoundHalf compares with a search over the neighbouring halves.
func TestRoundHalf(t *testing.T) {
	var halves []float64 // non-negative ones, ascending
	for u := range 0x7c00 {
		halves = append(halves, float64(halfToFloat(uint16(u))))
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 200000 {
		i := r.IntN(len(halves) - 1)
		lo, hi := halves[i], halves[i+1]
		x := float32(lo + (hi-lo)*[]float64{0.5, r.Float64(), 0.499999, 0.500001}[r.IntN(4)])
		want := hi
		if d := float64(x) - lo; d < hi-float64(x) || d == hi-float64(x) && i%2 == 0 {
			want = lo
		}
		if got := toHalf(x); float64(got) != want {
			t.Fatalf("%v between %v and %v: %v, want %v", x, lo, hi, got, want)
		}
		if got := toHalf(-x); float64(got) != -want {
			t.Fatalf("%v: not symmetric", x)
		}
	}
	for _, x := range []float32{65520, 1e9, float32(math.Inf(1))} {
		if !math.IsInf(float64(toHalf(x)), 1) || !math.IsInf(float64(toHalf(-x)), -1) {
			t.Errorf("%v must be infinite as a half", x)
		}
	}
	if toHalf(65519) != halfMax {
		t.Error("65519 rounds to the largest half")
	}
}
