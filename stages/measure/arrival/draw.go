package arrival

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// draw is the random source of one plan: see the package comment for the
// recipe. Only the generator is taken from math/rand/v2, whose algorithm is
// fixed; how its words become numbers stands here.
type draw struct{ pcg *rand.PCG }

func newDraw(seed int64, trial int) draw {
	h := sha256.Sum256(fmt.Appendf(nil, "cupel/arrivals/v1\n%d\n%d\n", seed, trial))
	return draw{rand.NewPCG(binary.BigEndian.Uint64(h[:8]), binary.BigEndian.Uint64(h[8:16]))}
}

// uniform is in [0, 1), a multiple of 2^-53.
func (d draw) uniform() float64 { return float64(float64(d.pcg.Uint64()>>11) * 0x1p-53) }

// exponential has mean 1. 1-u is exact and never 0.
func (d draw) exponential() float64 { return -ln(1 - d.uniform()) }

// normal is standard normal by Marsaglia's polar method; its second number is
// not kept, so that a draw depends on nothing but the generator's state.
func (d draw) normal() float64 {
	for {
		x, y := 2*d.uniform()-1, 2*d.uniform()-1
		if r := float64(x*x) + float64(y*y); r > 0 && r < 1 {
			return x * math.Sqrt(-2*ln(r)/r)
		}
	}
}

// gamma has the given shape and scale 1. Below shape 1 a draw of shape+1 is
// multiplied by u^(1/shape).
func (d draw) gamma(shape float64) float64 {
	if shape < 1 {
		g := d.gamma(shape + 1)
		return g * exp(ln(1-d.uniform())/shape)
	}
	a := shape - 1.0/3
	c := 1 / math.Sqrt(9*a)
	for {
		x := d.normal()
		t := 1 + float64(c*x)
		if t <= 0 {
			continue
		}
		v := float64(t * t * t) // a sum below would else be fused with it
		bound := float64(0.5*x*x) + float64(a*(1-v+ln(v)))
		if ln(1-d.uniform()) < bound {
			return a * v
		}
	}
}
