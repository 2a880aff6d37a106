package stats

import "math"

// Paired summarises n differences: their mean, their standard deviation with
// n-1 in the denominator, and the standard error of the mean.
type Paired struct {
	N            int
	Mean, SD, SE float64
}

// PairedMean summarises d. When all differences are equal SD and SE are
// exactly 0 and every interval is undefined; without items all is 0.
func PairedMean(d []float64) Paired {
	n := len(d)
	if n == 0 {
		return Paired{}
	}
	p := Paired{N: n, Mean: Mean(d)}
	if !varies(d) {
		return p
	}
	p.SD = math.Sqrt(sumSquares(d, p.Mean) / float64(n-1))
	p.SE = p.SD / math.Sqrt(float64(n))
	return p
}

func sumSquares(d []float64, mean float64) float64 {
	sq := make([]float64, len(d))
	for i, v := range d {
		sq[i] = (v - mean) * (v - mean)
	}
	return Sum(sq)
}

// T is the interval mean -+ t SE with n-1 degrees of freedom.
func (p Paired) T(confidence float64) Interval {
	if why := p.unusable(confidence); why != "" {
		return undefined(MethodT, why)
	}
	return p.around(MethodT, TQuantile((1+confidence)/2, float64(p.N-1)))
}

// Z is the interval mean -+ z SE.
func (p Paired) Z(confidence float64) Interval {
	if why := p.unusable(confidence); why != "" {
		return undefined(MethodZ, why)
	}
	return p.around(MethodZ, zFor(confidence))
}

func (p Paired) around(method string, quantile float64) Interval {
	half := float64(quantile * p.SE)
	return defined(method, p.Mean-half, p.Mean+half)
}

func (p Paired) unusable(confidence float64) Reason {
	switch {
	case badConfidence(confidence):
		return ReasonBadConfidence
	case p.N == 0:
		return ReasonNoItems
	case p.N == 1:
		return ReasonTooFewItems
	case p.SE == 0:
		return ReasonZeroVariance
	}
	return ""
}

// Statistic is mean/SE with its two-sided p-values by Student's t and by the
// normal distribution; ok is false when SE is 0.
func (p Paired) Statistic() (stat, pT, pZ float64, ok bool) {
	if p.N < 2 || p.SE == 0 {
		return 0, 0, 0, false
	}
	stat = p.Mean / p.SE
	return stat, tTwoSided(stat, float64(p.N-1)), normalTwoSided(stat), true
}

// Unpaired compares the paired standard error with the one that ignores the
// pairing: SEPaired^2 = (var A + var B - 2 Cov)/n.
type Unpaired struct{ SE, Covariance, SEPaired float64 }

// UnpairedSE needs two slices of the same length of at least 2; ok is false
// otherwise.
func UnpairedSE(a, b []float64) (u Unpaired, ok bool) {
	n := len(a)
	if n < 2 || len(b) != n {
		return Unpaired{}, false
	}
	va, vb, cov := covariance(a, a), covariance(b, b), covariance(a, b)
	return Unpaired{
		SE:         math.Sqrt((va + vb) / float64(n)),
		Covariance: cov,
		SEPaired:   math.Sqrt(max(0, va+vb-float64(2*cov)) / float64(n)),
	}, true
}

// covariance has n-1 in the denominator.
func covariance(a, b []float64) float64 {
	ma, mb := Mean(a), Mean(b)
	prod := make([]float64, len(a))
	for i := range a {
		prod[i] = (a[i] - ma) * (b[i] - mb)
	}
	return Sum(prod) / float64(len(a)-1)
}
