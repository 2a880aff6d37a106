package stats

import (
	"math"
	"math/bits"
)

// The 128-bit LCG multiplier of PCG64 (XSL-RR 128/64), M. O'Neill, 2014.
const (
	pcgMulHi = 2549297995355413924
	pcgMulLo = 4865540595714422341
)

// PCG64 is NumPy's default bit generator, bit for bit. It is not
// math/rand/v2.PCG, whose output function (DXSM) differs.
type PCG64 struct {
	hi, lo       uint64
	incHi, incLo uint64
	spare        uint32
	hasSpare     bool
}

// NewPCG64 seeds a generator the way numpy.random.default_rng does.
func NewPCG64(seq SeedSequence) *PCG64 {
	w := seq.State()
	g := &PCG64{
		incHi: w[2]<<1 | w[3]>>63,
		incLo: w[3]<<1 | 1,
	}
	g.step()
	var carry uint64
	g.lo, carry = bits.Add64(g.lo, w[1], 0)
	g.hi, _ = bits.Add64(g.hi, w[0], carry)
	g.step()
	return g
}

func (g *PCG64) step() {
	hi, lo := bits.Mul64(g.lo, pcgMulLo)
	hi += g.lo*pcgMulHi + g.hi*pcgMulLo
	var carry uint64
	g.lo, carry = bits.Add64(lo, g.incLo, 0)
	g.hi, _ = bits.Add64(hi, g.incHi, carry)
}

// Uint64 returns the next 64 random bits.
func (g *PCG64) Uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.hi^g.lo, -int(g.hi>>58))
}

// Uint32 returns 32 random bits: the low half of a fresh word, then its high
// half. The spare half survives calls of the other methods.
func (g *PCG64) Uint32() uint32 {
	if g.hasSpare {
		g.hasSpare = false
		return g.spare
	}
	w := g.Uint64()
	g.spare, g.hasSpare = uint32(w>>32), true
	return uint32(w)
}

// Float64 returns a number in [0, 1) with 53 random bits, as Generator.random
// does. It leaves the spare half in place.
func (g *PCG64) Float64() float64 {
	return float64(g.Uint64()>>11) / (1 << 53)
}

// Uint64N returns an integer in [0, n) by Lemire's method exactly as
// Generator.integers(0, n) does; n == 0 stands for 2^64. n == 1 consumes no
// randomness.
func (g *PCG64) Uint64N(n uint64) uint64 {
	last := n - 1
	switch {
	case last == 0:
		return 0
	case last < math.MaxUint32:
		return uint64(g.uint32N(uint32(n)))
	case last == math.MaxUint32:
		return uint64(g.Uint32())
	case last == math.MaxUint64:
		return g.Uint64()
	}
	hi, lo := bits.Mul64(g.Uint64(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(g.Uint64(), n)
		}
	}
	return hi
}

func (g *PCG64) uint32N(n uint32) uint32 {
	m := uint64(g.Uint32()) * uint64(n)
	if uint32(m) < n {
		for threshold := -n % n; uint32(m) < threshold; {
			m = uint64(g.Uint32()) * uint64(n)
		}
	}
	return uint32(m >> 32)
}

// fillIndices draws len(idx) integers of [0, n), the same as that many calls
// of Uint64N. The generator's state lives in locals because a bootstrap spends
// its time here: two indices per 64-bit word, rejections out of line.
func (g *PCG64) fillIndices(idx []uint32, n uint32) {
	if n <= 1 {
		clear(idx)
		return
	}
	k := 0
	for ; k < len(idx) && g.hasSpare; k++ {
		idx[k] = g.uint32N(n)
	}
	hi, lo, n64 := g.hi, g.lo, uint64(n)
	for k+1 < len(idx) {
		h, l := bits.Mul64(lo, pcgMulLo)
		h += lo*pcgMulHi + hi*pcgMulLo
		var carry uint64
		lo, carry = bits.Add64(l, g.incLo, 0)
		hi, _ = bits.Add64(h, g.incHi, carry)
		w := bits.RotateLeft64(hi^lo, -int(hi>>58))
		m0, m1 := (w&math.MaxUint32)*n64, (w>>32)*n64
		if uint32(m0) >= n && uint32(m1) >= n {
			idx[k], idx[k+1] = uint32(m0>>32), uint32(m1>>32)
			k += 2
			continue
		}
		// Possibly a rejection: replay this word through the slow path until
		// no half of a word is left over.
		g.hi, g.lo = hi, lo
		g.spare, g.hasSpare = uint32(w>>32), true
		if uint32(m0) >= -n%n {
			idx[k] = uint32(m0 >> 32)
			k++
		}
		for ; k < len(idx) && g.hasSpare; k++ {
			idx[k] = g.uint32N(n)
		}
		hi, lo = g.hi, g.lo
	}
	g.hi, g.lo = hi, lo
	for ; k < len(idx); k++ {
		idx[k] = g.uint32N(n)
	}
}
