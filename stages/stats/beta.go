package stats

import "math"

// logSqrt2Pi is log(2 pi)/2.
const logSqrt2Pi = 0.91893853320467274178032973640562

// stirlingError is lgamma(x+1) minus Stirling's leading terms
// (x+1/2)log(x) - x + log(2 pi)/2, for x > 0 (C. Loader, "Fast and Accurate
// Computation of Binomial Probabilities", 2000).
func stirlingError(x float64) float64 {
	if x >= 15 {
		y := 1 / (x * x)
		return horner(y, 1./12, -1./360, 1./1260, -1./1680, 1./1188, -691./360360) / x
	}
	leading := float64((x+0.5)*logE(x)) - x + logSqrt2Pi
	return lgamma(x+1) - leading
}

// lgamma is log Gamma(x) for x > 0: the argument is raised to 15 or more,
// where Stirling's series is exact to float64.
func lgamma(x float64) float64 {
	shift := 1.0
	for ; x < 16; x++ {
		shift *= x
	}
	y := x - 1
	return float64((y+0.5)*logE(y)) - y + logSqrt2Pi + stirlingError(y) - logE(shift)
}

// deviance is x log(x/m) + m - x, without the cancellation near x = m
// (Loader's bd0).
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		return float64(x*logE(x/m)) + m - x
	}
	v := (x - m) / (x + m)
	s := (x - m) * v
	ej := 2 * x * v
	for j := 1; j < 1000; j++ {
		ej *= float64(v * v)
		next := s + ej/float64(2*j+1)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// binomialRaw is n!/(x!(n-x)!) p^x q^(n-x) for real 0 <= x <= n and q = 1-p.
func binomialRaw(x, n, p, q float64) float64 {
	switch {
	case p == 0:
		return indicator(x == 0)
	case q == 0:
		return indicator(x == n)
	case x == 0:
		return expE(n * logComplement(q, p))
	case x == n:
		return expE(n * logComplement(p, q))
	}
	rest := n - x
	e := stirlingError(n) - stirlingError(x) - stirlingError(rest) -
		deviance(x, n*p) - deviance(rest, n*q)
	return expE(e) * math.Sqrt(n/(2*math.Pi*x*rest))
}

// logComplement is log(p) where q = 1-p is known more exactly when p is near 1.
func logComplement(p, q float64) float64 {
	if p > 0.5 {
		return log1pE(-q)
	}
	return logE(p)
}

func indicator(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// betaInc is the regularised incomplete beta function I_x(a, b) for a, b > 0,
// with y = 1-x given separately so that neither tail loses digits. Continued
// fraction DLMF 8.17.22, evaluated by Lentz's method.
func betaInc(a, b, x, y float64) float64 {
	switch {
	case x <= 0:
		return 0
	case y <= 0:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - betaInc(b, a, y, x)
	}
	// x^a y^b / (a B(a,b)), through the binomial probability of real arguments.
	front := b / (a + b) * binomialRaw(a, a+b, x, y)
	return front * betaFraction(a, b, x)
}

func betaFraction(a, b, x float64) float64 {
	const tiny = 1e-300
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c := 1.0
	d := 1 / nonzero(1-float64((a+b)*x)/(a+1))
	h := d
	for m := 1.0; m < 1e6; m++ {
		twice := a + float64(2*m)
		even := m * (b - m) * x / ((twice - 1) * twice)
		d = 1 / nonzero(1+float64(even*d))
		c = nonzero(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / (twice * (twice + 1))
		d = 1 / nonzero(1+float64(odd*d))
		c = nonzero(1 + odd/c)
		h *= d * c
		if math.Abs(float64(d*c)-1) < 1e-15 {
			break
		}
	}
	return h
}

// betaQuantile is the x with I_x(a, b) = p.
func betaQuantile(p, a, b float64) float64 {
	return bisect(0, 1, func(x float64) bool { return betaInc(a, b, x, 1-x) < p })
}

// bisect returns the point where below turns from true to false, to the last
// bit that halving can reach.
func bisect(lo, hi float64, below func(float64) bool) float64 {
	for {
		mid := lo + float64((hi-lo)/2)
		if mid <= lo || mid >= hi {
			return hi
		}
		if below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
}
