package stats

// NonInferiority is the test of H0: delta <= -margin, and the two one-sided
// tests (TOST) of equivalence within the margin, by the normal distribution.
type NonInferiority struct {
	Mean, SE   float64
	Z, P       float64
	Pass       bool
	Interval   Interval // two-sided, level 1 - 2 alpha
	TOST       Interval // level 1 - 2 alphaTOST
	TOSTP      float64
	Equivalent bool
}

// NonInferior tests p against the margin (> 0). alpha is one-sided, 0.025 for
// the usual two-sided 95 %; alphaTOST is 0.05 by convention. ok is false when
// SE is 0: a difference without spread tests nothing.
func NonInferior(p Paired, margin, alpha, alphaTOST float64) (t NonInferiority, ok bool) {
	if p.unusable(1-2*alpha) != "" || badConfidence(1-2*alphaTOST) {
		return NonInferiority{}, false
	}
	t = NonInferiority{
		Mean: p.Mean, SE: p.SE,
		Z:        (p.Mean + margin) / p.SE,
		Interval: p.Z(1 - 2*alpha),
		TOST:     p.Z(1 - 2*alphaTOST),
	}
	t.P = NormalCDF(-t.Z)
	t.Pass = t.Interval.Lo > -margin
	t.TOSTP = max(t.P, NormalCDF((p.Mean-margin)/p.SE))
	t.Equivalent = t.TOST.Lo > -margin && t.TOST.Hi < margin
	return t, true
}

// BinaryPaired is PairedMean for n 0/1 items of which only A passes b and only
// B passes c.
func BinaryPaired(n, b, c int) Paired {
	d := make([]float64, n)
	for i := range b {
		d[i] = -1
	}
	for i := range c {
		d[b+i] = 1
	}
	return PairedMean(d)
}
