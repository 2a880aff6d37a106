package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The limit solves its own definition: at the limit, the mean lies q standard
// errors away, by the variance of the sample with a share moved to -1.
func TestBoundedSolvesItsEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(-1, 1), 100, 300).Draw(t, "d")
		p := PairedMean(d)
		q := TQuantile(0.975, float64(p.N-1))
		n := float64(p.N)
		second := p.Mean*p.Mean + p.SD*p.SD*(n-1)/n
		x := scoreReach(p.Mean, second, p.SE, n, q)
		limit := p.Mean - x
		if p.Mean < -0.95 {
			return
		}
		moved := x / (1 + p.Mean)
		variance := (1-moved)*second + moved - limit*limit
		// The sample's variance has n-1 below it, the rest n.
		variance += p.SD * p.SD / n
		if want := q * math.Sqrt(variance/n); math.Abs(x-want) > 1e-9 {
			t.Fatalf("reach %v, its equation gives %v", x, want)
		}
	})
}

func TestBoundedWidens(t *testing.T) {
	e := Evidence{N: 500, B: 20, C: 10, Bounded: true, Mean: -0.01, SD: 0.2}
	wide := Auto(e, 0.95)
	e.Bounded = false
	plain := Auto(e, 0.95)
	if wide.Method != MethodTBounded || plain.Method != MethodT || !(wide.Lo < plain.Lo && wide.Hi > plain.Hi && wide.Lo > -1) {
		t.Errorf("bounded %+v, not bounded %+v", wide, plain)
	}
	// Swapping the sides mirrors the interval.
	m := Auto(Evidence{N: 500, B: 10, C: 20, Bounded: true, Mean: 0.01, SD: 0.2}, 0.95)
	if m.Lo != -wide.Hi || m.Hi != -wide.Lo {
		t.Errorf("mirrored %+v of %+v", m, wide)
	}
	// Without any difference it would be Wilson's and Tango's limit.
	if x, want := scoreReach(0, 0, 0, 50, 1.959963984540054), 0.0713475991334; math.Abs(x-want) > 1e-12 {
		t.Errorf("no difference: %v, want %v", x, want)
	}
}
