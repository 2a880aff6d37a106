package stats

import (
	"math"
	"sync"
)

// legendreRule returns the nodes and weights of Gauss-Legendre quadrature on
// [-1, 1], by Newton's iteration on the Legendre polynomial (DLMF 3.5.v).
var legendreRule = sync.OnceValues(func() (nodes, weights []float64) {
	const n = sequentialNodes
	nodes, weights = make([]float64, n), make([]float64, n)
	for i := range n / 2 {
		x := math.Cos(math.Pi * (float64(i) + 0.75) / (n + 0.5))
		slope := 0.0
		for range 20 {
			p, dp := legendre(n, x)
			slope = dp
			x -= p / dp
		}
		w := 2 / (float64((1-float64(x*x))*slope) * slope)
		nodes[i], nodes[n-1-i] = -x, x
		weights[i], weights[n-1-i] = w, w
	}
	return nodes, weights
})

// legendre is P_n(x) and its derivative by the three-term recurrence.
func legendre(n int, x float64) (p, dp float64) {
	p0, p1 := 1.0, x
	for k := 2; k <= n; k++ {
		p0, p1 = p1, (float64(float64(2*k-1)*x*p1)-float64(float64(k-1)*p0))/float64(k)
	}
	return p1, float64(n) * (float64(x*p1) - p0) / (float64(x*x) - 1)
}
