package stats

import (
	"fmt"
	"math"
	"testing"
)

// falsePass is the exact probability that "lo > -0.02" holds although the
// true difference is -0.02: the multinomial probabilities of all tables (b, c)
// that pass. For fixed b the gate opens from some c on, so that c is found by
// bisection.
func falsePass(n int, disagree float64, passes func(b, c int) bool) float64 {
	const truth = -0.02
	pb, pc := (disagree-truth)/2, (disagree+truth)/2
	total := 0.0
	for b := range n + 1 {
		weight := binomialRaw(float64(b), float64(n), pb, 1-pb)
		if weight < 1e-12 {
			continue
		}
		lo, hi := -1, n-b+1 // passes is false at lo and true at hi, by convention
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; passes(b, mid) {
				hi = mid
			} else {
				lo = mid
			}
		}
		total += weight * atLeast(hi, n-b, pc/(1-pb))
	}
	return total
}

// atLeast is P(X >= k) for X ~ Binomial(m, p), p small, summed term by term.
func atLeast(k, m int, p float64) float64 {
	if k <= 0 {
		return 1
	}
	sum := 0.0
	for i := k; i <= m; i++ {
		term := binomialRaw(float64(i), float64(m), math.Max(p, 0), 1-math.Max(p, 0))
		sum += term
		if float64(i) > float64(m)*p && term < 1e-16 {
			break
		}
	}
	return sum
}

var gateGrid = struct {
	items    []int
	disagree []float64
}{[]int{20, 50, 100, 200, 500}, []float64{0.02, 0.05, 0.10, 0.20}}

func gate(iv Interval) bool { return iv.Defined && iv.Lo > -0.02 }

func autoPasses(n int, isBinary bool) func(b, c int) bool {
	return func(b, c int) bool {
		p := BinaryPaired(n, b, c)
		e := Evidence{N: float64(n), B: float64(b), C: float64(c), Binary: isBinary, Mean: p.Mean, SD: p.SD}
		return gate(Auto(e, 0.95))
	}
}

func bootstrapPasses(n int) func(b, c int) bool {
	return func(b, c int) bool {
		d := make([]float64, n)
		for i := range b + c {
			d[i] = indicator(i >= b)*2 - 1
		}
		r, err := Bootstrap(d, BootstrapOptions{Resamples: 2000, Generator: GeneratorFast})
		return err == nil && gate(r.Interval)
	}
}

func TestAutoKeepsItsLevelAtTheLimit(t *testing.T) {
	for _, n := range gateGrid.items {
		for _, p := range gateGrid.disagree {
			if got := falsePass(n, p, autoPasses(n, true)); got > 0.029 {
				t.Errorf("n %d, disagreement %v: a candidate on the limit passes with probability %.4f", n, p, got)
			}
		}
	}
	// The check can fail: the plain bootstrap passes two candidates in three.
	if got := falsePass(20, 0.02, bootstrapPasses(20)); math.Abs(got-0.668) > 0.02 {
		t.Errorf("plain bootstrap at n 20, disagreement 0.02: %.4f, want about 0.668", got)
	}
}

// The thresholds of fractional scores, on differences of -1, 0 and 1, the
// hardest case for a t interval.
func TestAutoThresholdsForFractionalScores(t *testing.T) {
	for _, n := range gateGrid.items {
		for _, p := range gateGrid.disagree {
			got := falsePass(n, p, autoPasses(n, false))
			if got > 0.04 || n < MinItems && got != 0 {
				t.Errorf("n %d, disagreement %v: false pass %.4f", n, p, got)
			}
		}
	}
}

// BenchmarkFalsePass prints the table of false passes of the gate lo > -0.02
// at a true difference of -0.02; run it with -benchtime 1x.
func BenchmarkFalsePass(b *testing.B) {
	for _, n := range gateGrid.items {
		for _, p := range gateGrid.disagree {
			b.Run(fmt.Sprintf("n=%d/p=%v", n, p), func(b *testing.B) {
				for b.Loop() {
					b.ReportMetric(100*falsePass(n, p, autoPasses(n, true)), "%auto")
					b.ReportMetric(100*falsePass(n, p, autoPasses(n, false)), "%t-rule")
					b.ReportMetric(100*falsePass(n, p, bootstrapPasses(n)), "%bootstrap")
				}
			})
		}
	}
}

// clusteredPasses has n clusters of four 0/1 items that answer alike.
func clusteredPasses(n int) func(b, c int) bool {
	const size = 4
	return func(b, c int) bool {
		p := BinaryPaired(n, b, c)
		e := Evidence{
			N: float64(size * n), B: float64(size * b), C: float64(size * c), Binary: true,
			Mean: p.Mean, SD: p.SD, Clusters: float64(n), Moved: float64(b + c),
			Effective: float64(n), ClusterSE: p.SE,
		}
		return gate(Auto(e, 0.95))
	}
}

func TestAutoKeepsItsLevelOnClusters(t *testing.T) {
	for _, n := range gateGrid.items {
		for _, p := range gateGrid.disagree {
			got := falsePass(n, p, clusteredPasses(n))
			t.Logf("%d clusters, disagreement %v: false pass %.4f", n, p, got)
			// The t interval needs clusters; below EnoughClusters there is a
			// warning, which keeps the gate shut.
			if n >= EnoughClusters && got > 0.033 {
				t.Errorf("%d clusters, disagreement %v: false pass %.4f", n, p, got)
			}
		}
	}
}
