package tinyengine

import (
	"math"
	"testing"
)

// TestSincos32 holds sincos32 against glibc 2.36: arguments for which its sinf
// or cosf does not return the nearest float.
func TestSincos32(t *testing.T) {
	for _, c := range [][3]uint32{
		{0x3e6d7b24, 0x3e6b5ba2, 0x3f792579}, {0x3dcb24c7, 0x3dcacf8b, 0x3f7ebddd},
		{0x3eef1ef1, 0x3ee685b8, 0x3f6495a0}, {0x428758bf, 0xbf7ddeb4, 0x3e03d24e},
		{0x402c332f, 0x3edf2619, 0xbf666810}, {0x42aef4e3, 0xbeef498b, 0x3f62524b},
		{0x425ff086, 0xbf08cd8b, 0x3f5861ac}, {0x403d5e1a, 0x3e3a11f0, 0xbf7bbcfb},
		{0x432e841e, 0xbf7cd2de, 0x3e20ce83}, {0x3e1d89e1, 0x3e1ceafa, 0x3f7cf9f4},
	} {
		s, k := sincos32(math.Float32frombits(c[0]))
		if math.Float32bits(s) != c[1] || math.Float32bits(k) != c[2] {
			t.Errorf("%v: sine %v and cosine %v, want %v and %v", math.Float32frombits(c[0]), s, k, math.Float32frombits(c[1]), math.Float32frombits(c[2]))
		}
	}
}

func TestSincosAccuracy(t *testing.T) {
	for x := float32(0); x < 1100; x += 0.0037 {
		s, c := sincos32(x)
		ws, wc := math.Sincos(float64(x))
		for _, v := range [][2]float64{{float64(s), ws}, {float64(c), wc}} {
			ulp := math.Ldexp(1, math.Ilogb(v[1])-23)
			if off := math.Abs(v[0]-v[1]) / ulp; x > 0 && off > 0.57 {
				t.Fatalf("%v: %v, want %v, off by %.3f ulp", x, v[0], v[1], off)
			}
		}
	}
}
