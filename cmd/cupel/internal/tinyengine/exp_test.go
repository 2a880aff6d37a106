package tinyengine

import (
	"math"
	"testing"
)

// TestExp32 holds exp32 against glibc 2.36: these are arguments for which its
// expf does not return the nearest float.
func TestExp32(t *testing.T) {
	for _, c := range [][2]uint32{
		{0xc2099b10, 0x26a5553a}, {0xc2008751, 0x2847e5aa}, {0xc0af453f, 0x3b8900d7}, {0xc20591fa, 0x2762b6a5},
		{0xc152cb82, 0x35fec070}, {0xc1f8b72b, 0x290dc57b}, {0xc11b83b7, 0x387c09ce}, {0xc1da8cd6, 0x2bc05165},
	} {
		if got := math.Float32bits(exp32(math.Float32frombits(c[0]))); got != c[1] {
			t.Errorf("exp(%v) = %#x, want %#x", math.Float32frombits(c[0]), got, c[1])
		}
	}
	inf := float32(math.Inf(1))
	if exp32(-inf) != 0 || exp32(inf) != inf || exp32(200) != inf || exp32(0) != 1 || exp32(-104) != 0 {
		t.Error("limits")
	}
	if v := exp32(float32(math.NaN())); v == v {
		t.Error("NaN must stay")
	}
}

func TestExpAccuracy(t *testing.T) {
	for _, f := range []struct {
		name string
		exp  func(float32) float32
		ulp  float64
	}{{"exp32", exp32, 0.503}, {"expFast", expFast, 2}} {
		for x := float32(-100); x < 88.5; x += 0.00137 {
			want := math.Exp(float64(x))
			ulp := max(math.Ldexp(1, math.Ilogb(want)-23), 0x1p-149)
			if off := math.Abs(float64(f.exp(x))-want) / ulp; off > f.ulp {
				t.Fatalf("%s(%v) is off by %.3f ulp", f.name, x, off)
			}
		}
	}
}

func TestSilu(t *testing.T) {
	for _, x := range []float32{-1000, -90, -20, -1, 0, 1e-10, 1, 20, 90, 1000} {
		want := float64(x) / (1 + math.Exp(-float64(x)))
		if got := float64(silu(x)); math.Abs(got-want) > 1e-6*math.Abs(want)+1e-37 {
			t.Errorf("silu(%v) = %v, want %v", x, got, want)
		}
	}
}
