package stats

import (
	"fmt"
	"math"
)

// sequentialNodes is the order of the Gauss-Legendre rule of each look; 96 and
// 160 nodes agree to 1e-10.
const sequentialNodes = 96

// Pocock is the critical |z| that, used at each of looks equally spaced looks,
// keeps the two-sided level alpha (S. Pocock, 1977).
func Pocock(looks int, alpha float64) (float64, error) {
	return sequentialConstant(looks, alpha, func(c float64, _ float64) float64 { return c })
}

// OBrienFleming is the critical |z| at the last of equally spaced looks; the
// one at look k is it times sqrt(looks/k) (P. O'Brien, T. Fleming, 1979).
func OBrienFleming(looks int, alpha float64) (float64, error) {
	return sequentialConstant(looks, alpha, func(c, t float64) float64 { return c / math.Sqrt(t) })
}

// OBrienFlemingBounds lists the critical |z| of each look.
func OBrienFlemingBounds(looks int, alpha float64) ([]float64, error) {
	c, err := OBrienFleming(looks, alpha)
	if err != nil {
		return nil, err
	}
	bounds := make([]float64, looks)
	for k := range bounds {
		bounds[k] = c * math.Sqrt(float64(looks)/float64(k+1))
	}
	return bounds, nil
}

func sequentialConstant(looks int, alpha float64, shape func(c, t float64) float64) (float64, error) {
	if looks < 1 || looks > 50 || badConfidence(alpha) {
		return 0, fmt.Errorf("group sequential: %d looks at level %v; give 1 to 50 looks and a level between 0 and 1", looks, alpha)
	}
	return bisect(0.5, 12, func(c float64) bool {
		w := newLooks()
		for k := 1; k <= looks; k++ {
			t := float64(k) / float64(looks)
			w.look(t, shape(c, t))
		}
		return w.crossed > alpha
	}), nil
}

// SpendOBrienFleming is the share of alpha spent by information fraction t
// (K. Lan, D. DeMets, 1983): 2 - 2 Phi(z_{1-alpha/2}/sqrt(t)).
func SpendOBrienFleming(alpha, t float64) float64 {
	if t <= 0 {
		return 0
	}
	return normalTwoSided(zFor(1-alpha) / math.Sqrt(min(1, t)))
}

// SpendPocock is alpha log(1 + (e-1) t).
func SpendPocock(alpha, t float64) float64 {
	return alpha * logE(1+float64((math.E-1)*min(1, max(0, t))))
}

// SpendingBounds lists the critical |z| at ascending information fractions in
// (0, 1] so that the two-sided level spent by each look is spend(alpha, t).
func SpendingBounds(fractions []float64, alpha float64, spend func(alpha, t float64) float64) ([]float64, error) {
	bounds := make([]float64, len(fractions))
	w, before := newLooks(), 0.0
	for k, t := range fractions {
		if !(t > before && t <= 1) {
			return nil, fmt.Errorf("group sequential: look %d is at fraction %v after %v; fractions ascend and end at 1 or below", k+1, t, before)
		}
		target := spend(alpha, t)
		bounds[k] = bisect(0.1, 12, func(z float64) bool {
			try := w.clone()
			try.look(t, z)
			return try.crossed > target
		})
		w.look(t, bounds[k])
		before = t
	}
	return bounds, nil
}

// looks carries the density of the running sum of a Brownian motion that has
// stayed inside the bounds so far, on the quadrature nodes of the last look.
type looks struct {
	t       float64
	nodes   []float64
	mass    []float64 // density times quadrature weight
	crossed float64
}

func newLooks() *looks { return &looks{nodes: []float64{0}, mass: []float64{1}} }

func (w *looks) clone() *looks { c := *w; return &c }

// look continues to time t, where the sum S has variance t and paths with
// |S| > z sqrt(t) leave.
func (w *looks) look(t, z float64) {
	step, bound := math.Sqrt(t-w.t), z*math.Sqrt(t)
	unit, weights := legendreRule()
	nodes, mass := make([]float64, len(unit)), make([]float64, len(unit))
	stayed := 0.0
	for i, u := range unit {
		nodes[i] = bound * u
		density := 0.0
		for j, m := range w.mass {
			density += float64(m * normalDensity((nodes[i]-w.nodes[j])/step) / step)
		}
		mass[i] = density * weights[i] * bound
		stayed += float64(mass[i])
	}
	w.t, w.nodes, w.mass, w.crossed = t, nodes, mass, 1-stayed
}
