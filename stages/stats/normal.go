package stats

import "math"

// NormalCDF is the probability that a standard normal variable is <= x.
func NormalCDF(x float64) float64 { return float64(erfc(-x/math.Sqrt2) / 2) }

// normalTwoSided is P(|Z| >= |z|).
func normalTwoSided(z float64) float64 { return erfc(math.Abs(z) / math.Sqrt2) }

func normalDensity(x float64) float64 {
	return expE(-float64(x*x)/2) / math.Sqrt(2*math.Pi)
}

// NormalQuantile is the x with NormalCDF(x) = p, for 0 < p < 1 (M. J. Wichura,
// algorithm AS 241, PPND16, Applied Statistics 37, 1988; relative error below
// 1e-15). Outside it returns the largest finite numbers, so that no infinity
// enters a formula.
func NormalQuantile(p float64) float64 {
	if p <= 0 {
		return -math.MaxFloat64
	}
	if p >= 1 {
		return math.MaxFloat64
	}
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		return float64(q * as241Centre(0.180625-float64(q*q)))
	}
	tail := min(p, 1-p)
	r := math.Sqrt(-logE(tail))
	x := 0.0
	if r <= 5 {
		x = as241Middle(r - 1.6)
	} else {
		x = as241Far(r - 5)
	}
	return math.Copysign(x, q)
}

func as241Centre(r float64) float64 {
	return horner(r, 3.3871328727963666080e0, 1.3314166789178437745e+2,
		1.9715909503065514427e+3, 1.3731693765509461125e+4, 4.5921953931549871457e+4,
		6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3) /
		horner(r, 1, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
			5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
			2.8729085735721942674e+4, 5.2264952788528545610e+3)
}

func as241Middle(r float64) float64 {
	return horner(r, 1.42343711074968357734e0, 4.63033784615654529590e0,
		5.76949722146069140550e0, 3.64784832476320460504e0, 1.27045825245236838258e0,
		2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4) /
		horner(r, 1, 2.05319162663775882187e0, 1.67638483018380384940e0,
			6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
			5.47593808499534494600e-4, 1.05075007164441684324e-9)
}

func as241Far(r float64) float64 {
	return horner(r, 6.65790464350110377720e0, 5.46378491116411436990e0,
		1.78482653991729133580e0, 2.96560571828504891230e-1, 2.65321895265761230930e-2,
		1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7) /
		horner(r, 1, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
			1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
			1.42151175831644588870e-7, 2.04426310338993978564e-15)
}

// zFor is the two-sided normal quantile of a confidence level; 0.95 gives
// 1.959963984540054.
func zFor(confidence float64) float64 { return NormalQuantile((1 + confidence) / 2) }
