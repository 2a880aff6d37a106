package tinyengine

import "math"

// sincos32 is sine and cosine of x >= 0 with the method and polynomials of
// glibc's sinf and cosf (about 0.56 ulp), which the rotations of the reference
// engine call. The nearest float32 would differ from it in one of a hundred
// rotations; over 10,000 prompts that moved three answers.
func sincos32(x float32) (sin, cos float32) {
	const quarter = 0x1.921fb54442d18p0 // pi/2
	v := float64(x)
	n := 0
	if x >= 0x1.921fb6p-1 { // from pi/4 on
		n = int(math.Round(v * (1 / quarter)))
		v = math.FMA(float64(-n), quarter, v)
		v = math.FMA(float64(-n), 0x1.1a62633145c07p-54, v) // the rest of pi/2
	}
	s, c := sinPoly(v), cosPoly(v)
	switch n & 3 {
	case 1:
		s, c = c, -s
	case 2:
		s, c = -s, -c
	case 3:
		s, c = -c, s
	}
	return float32(s), float32(c)
}

func sinPoly(x float64) float64 {
	x2 := x * x
	x3 := x * x2
	high := math.FMA(x2, -0x1.994eb3774cf24p-13, 0x1.1107605230bc4p-7)
	low := math.FMA(x3, -0x1.555545995a603p-3, x)
	return math.FMA(x3*x2, high, low)
}

func cosPoly(x float64) float64 {
	x2 := x * x
	x4 := x2 * x2
	high := math.FMA(x2, 0x1.99343027bf8c3p-16, -0x1.6c087e89a359dp-10)
	low := math.FMA(x2, -0x1.ffffffd0c621cp-2, 1)
	low = math.FMA(x4, 0x1.55553e1068f19p-5, low)
	return math.FMA(x4*x2, high, low)
}
