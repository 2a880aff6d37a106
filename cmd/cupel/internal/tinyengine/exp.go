package tinyengine

import "math"

// exp2Table holds 2^(i/32) as bits with i<<47 taken off, so that adding k<<47
// for any k yields 2^(k/32).
var exp2Table = func() (t [32]uint64) {
	for i := range t {
		t[i] = math.Float64bits(math.Exp2(float64(i)/32)) - uint64(i)<<47
	}
	return t
}()

// exp32 is e^x with the method and the cubic of glibc's expf (about 0.502 ulp),
// which the attention of the reference engine calls.
func exp32(x float32) float32 {
	switch {
	case x != x:
		return x
	case x > 88.72284:
		return float32(math.Inf(1))
	case x < -103.97208:
		return 0
	}
	const shift = 0x1.8p52
	z := float64(x) * (0x1.71547652b82fep+0 * 32)
	kd := z + shift
	k := math.Float64bits(kd)
	r := z - (kd - shift)
	scale := math.Float64frombits(exp2Table[k%32] + k<<47)
	p := (0x1.c6af84b912394p-5/32/32/32)*r + 0x1.ebfce50fac4f3p-3/32/32
	q := (0x1.62e42ff0c52d6p-1/32)*r + 1
	return float32((p*(r*r) + q) * scale)
}

// expFast is the reference engine's single precision vector exponential (about
// 1.95 ulp), used by its SiLU. Products are converted explicitly so that no
// architecture fuses them with the sum behind.
func expFast(x float32) float32 {
	const magic = 0x1.8p23
	z := float32(x*0x1.715476p+0) + magic
	n := z - magic
	if !(n >= -126 && n <= 126) { // scaling would leave the exponent range
		return exp32(x)
	}
	b := x - float32(n*0x1.62e4p-1)
	b -= float32(n * 0x1.7f7d1cp-20)
	scale := math.Float32frombits(math.Float32bits(z)<<23 + math.Float32bits(1))
	u := float32(b * b)
	hi := float32(0x1.0e4020p-7*b) + 0x1.573e2ep-5
	lo := float32(0x1.555e66p-3*b) + 0x1.fffdb6p-2
	j := float32((float32(hi*u)+lo)*u) + float32(0x1.ffffecp-1*b)
	return float32(j*scale) + scale
}

// silu is x * sigmoid(x).
func silu(x float32) float32 { return x / (1 + expFast(-x)) }
