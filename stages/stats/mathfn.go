package stats

import "math"

// log, exp and erfc are written out here because those of package math use
// assembly or fused operations on some architectures, and the last bit of a
// result must not depend on the machine that computed it.

const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// horner evaluates c[0] + c[1]*x + c[2]*x^2 + ... without fusing.
func horner(x float64, c ...float64) float64 {
	s := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		s = float64(s*x) + c[i]
	}
	return s
}

// logE is the natural logarithm of x > 0 (FreeBSD msun e_log.c).
func logE(x float64) float64 {
	frac, exponent := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac *= 2
		exponent--
	}
	f, k := frac-1, float64(exponent)
	s := f / (2 + f)
	s2 := s * s
	s4 := s2 * s2
	r := float64(s2*horner(s4, 6.666666666666735130e-01, 2.857142874366239149e-01,
		1.818357216161805012e-01, 1.479819860511658591e-01)) +
		float64(s4*horner(s4, 3.999999999940941908e-01, 2.222219843214978396e-01,
			1.531383769920937332e-01))
	half := float64(float64(0.5*f) * f)
	return float64(k*ln2Hi) - ((half - (float64(s*(half+r)) + float64(k*ln2Lo))) - f)
}

// log1pE is log(1+x) for x > -1, accurate near 0 (Hewlett-Packard's
// correction of the rounding of 1+x).
func log1pE(x float64) float64 {
	u := 1 + x
	if u == 1 {
		return x
	}
	return logE(u) * (x / (u - 1))
}

// expE is e^x (FreeBSD msun e_exp.c); 0 below the range of float64. The
// package never exponentiates a number above 709.
func expE(x float64) float64 {
	if x < -745 {
		return 0
	}
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	t := r * r
	c := r - float64(t*horner(t, 1.66666666666666657415e-01, -2.77777777770155933842e-03,
		6.61375632143793436117e-05, -1.65339022054652515390e-06, 4.13813679705723846039e-08))
	return math.Ldexp(1-((lo-float64(r*c)/(2-c))-hi), int(k))
}

// erfc is the complementary error function: the series DLMF 7.6.2 near 0 and
// the continued fraction DLMF 7.9.1 beyond.
func erfc(x float64) float64 {
	if x < 0 {
		return 2 - erfc(-x)
	}
	gauss := expE(-float64(x * x))
	if x < 1.5 {
		term, sum := x, x
		for k := 1; term > sum*1e-17; k++ {
			term *= 2 * float64(x*x) / float64(2*k+1)
			sum += float64(term)
		}
		return 1 - float64(2/math.SqrtPi*float64(gauss*sum))
	}
	f := x
	for k := 120; k >= 1; k-- {
		f = x + float64(k)/2/f
	}
	return gauss / (math.SqrtPi * f)
}
