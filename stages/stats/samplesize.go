package stats

import (
	"fmt"
	"math"
)

// Size is a number of items before and after rounding up.
type Size struct {
	Raw   float64 `json:"raw"`
	Items int     `json:"items"`
}

// MaxItems is where searches for a number of items end.
const MaxItems = 10_000_000

// newSize rounds up, but takes 1960.0000000000002 for 1960: the surplus is the
// rounding of the formula.
func newSize(raw float64) Size {
	return Size{Raw: raw, Items: int(math.Ceil(raw * (1 - 1e-12)))}
}

// SizeFromQuantiles is (zAlpha + zBeta)^2 variance / delta^2, the formula
// behind the others; with the rounded quantiles 1.96 and 0.84 it gives the
// 1,960 items often quoted for 2 points at 10 % disagreement.
func SizeFromQuantiles(zAlpha, zBeta, variance, delta float64) Size {
	z := zAlpha + zBeta
	return newSize(z * z * variance / (delta * delta))
}

// SizePaired takes Disagree as the variance of one difference, which is right
// at delta = 0 and slightly conservative elsewhere.
func (d Design) SizePaired() (Size, error) {
	d, err := d.filled()
	if err != nil {
		return Size{}, err
	}
	za, zb := d.quantiles()
	return SizeFromQuantiles(za, zb, d.Disagree, d.Delta), nil
}

// SizePairedExact takes Disagree - Delta^2, the variance under the design.
func (d Design) SizePairedExact() (Size, error) {
	d, err := d.filled()
	if err != nil {
		return Size{}, err
	}
	za, zb := d.quantiles()
	return SizeFromQuantiles(za, zb, d.Disagree-float64(d.Delta*d.Delta), d.Delta), nil
}

// SizeConnor uses one variance under the null and the other under the design
// (R. Connor, Biometrics 43, 1987).
func (d Design) SizeConnor() (Size, error) {
	d, err := d.filled()
	if err != nil {
		return Size{}, err
	}
	za, zb := d.quantiles()
	delta2 := d.Delta * d.Delta
	root := float64(za*math.Sqrt(d.Disagree)) + float64(zb*math.Sqrt(d.Disagree-float64(delta2)))
	return newSize(root * root / delta2), nil
}

// SizeMcNemar is the smallest number of items at which the exact McNemar test
// reaches the power, up to [MaxItems]; ok is false beyond. Its power is not
// quite monotone in n; the search returns a crossing point.
func (d Design) SizeMcNemar() (items int, ok bool, err error) {
	start, err := d.SizeConnor()
	if err != nil {
		return 0, false, err
	}
	target := d.Power
	if target == 0 {
		target = 0.8
	}
	enough := func(n int) bool {
		p, _ := d.PowerExact(n)
		return p >= target
	}
	items, ok = smallest(1, min(MaxItems, max(1, start.Items)), enough)
	return items, ok, nil
}

// SizeNonInferior is the number of items for which a candidate whose true
// difference is trueDelta passes "lower limit > -margin" with the given power.
// alpha is one-sided.
func SizeNonInferior(variance, margin, trueDelta, alpha, power float64) (Size, error) {
	if !(margin+trueDelta > 0) {
		return Size{}, fmt.Errorf("non-inferiority: a true difference of %v is at or below the limit -%v, so no number of items is enough", trueDelta, margin)
	}
	return SizeFromQuantiles(NormalQuantile(1-alpha), NormalQuantile(power), variance, margin+trueDelta), nil
}

// MillerDesign is the general paired design of E. Miller, arXiv 2411.00640:
// Omega2 is the variance over items of the difference of expected scores,
// SigmaA2 and SigmaB2 the variances of one sample, KA and KB samples per item.
type MillerDesign struct {
	Omega2, SigmaA2, SigmaB2 float64
	KA, KB                   int
}

// Size needs KA, KB >= 1 and delta other than 0; alpha is two-sided.
func (m MillerDesign) Size(delta, alpha, power float64) (Size, error) {
	if m.KA < 1 || m.KB < 1 || delta == 0 {
		return Size{}, fmt.Errorf("sample size: samples per item are %d and %d and the difference is %v; give at least 1 sample and a non-zero difference", m.KA, m.KB, delta)
	}
	variance := m.Omega2 + m.SigmaA2/float64(m.KA) + m.SigmaB2/float64(m.KB)
	return SizeFromQuantiles(zFor(1-alpha), NormalQuantile(power), variance, delta), nil
}

// smallest finds the smallest n >= from with enough(n) by doubling from start
// and bisection, for an enough that stays true once it is; ok is false when it
// is not reached by MaxItems.
func smallest(from, start int, enough func(int) bool) (n int, ok bool) {
	if enough(from) {
		return from, true
	}
	lo, hi := from, max(start, from+1)
	for !enough(hi) {
		if hi >= MaxItems {
			return 0, false
		}
		lo, hi = hi, min(2*hi, MaxItems)
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, true
}
