package metric

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var percentiles = []Percentile{P50, P90, P95, P99, P999}

// TestCertifiedFloors has the floors of MLPerf's early stopping.
func TestCertifiedFloors(t *testing.T) {
	for p, floor := range map[Percentile]int{P50: 11, P90: 64, P95: 130, P99: 662, P999: 6636} {
		if got := Certified(seq(floor), p); got == nil || *got != float64(floor-1) {
			t.Errorf("p%d of %d values: %v, want the second largest", p, floor, got)
		}
		if got := Certified(seq(floor-1), p); got != nil {
			t.Errorf("p%d of %d values: %v, want nil", p, floor-1, *got)
		}
	}
	if Certified(nil, P50) != nil {
		t.Error("no value certifies something")
	}
}

// TestSparedIsBinomial compares with sums of exact fractions.
func TestSparedIsBinomial(t *testing.T) {
	for _, n := range []int{1, 2, 10, 11, 12, 63, 64, 65, 129, 130, 131, 661, 662, 663} {
		for _, p := range percentiles {
			if got, want := spared(n, p), bruteSpared(n, p); got != want {
				t.Errorf("n %d, p%d: %d, want %d", n, p, got, want)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n, p := rapid.IntRange(1, 200).Draw(t, "n"), rapid.SampledFrom(percentiles).Draw(t, "p")
		if got, want := spared(n, p), bruteSpared(n, p); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

// bruteSpared counts in units of 1000^-n: C(n,k) (1000-p)^k p^(n-k).
func bruteSpared(n int, p Percentile) int {
	limit := new(big.Int).Exp(big.NewInt(1000), big.NewInt(int64(n)), nil)
	sum, term := new(big.Int), new(big.Int)
	for k := 0; k <= n; k++ {
		term.Binomial(int64(n), int64(k))
		term.Mul(term, new(big.Int).Exp(big.NewInt(int64(1000-p)), big.NewInt(int64(k)), nil))
		term.Mul(term, new(big.Int).Exp(big.NewInt(int64(p)), big.NewInt(int64(n-k)), nil))
		if sum.Add(sum, term); new(big.Int).Mul(sum, big.NewInt(100)).Cmp(limit) > 0 {
			return k - 1
		}
	}
	return n
}

// TestCertifiedCovers draws samples of a known distribution: in 99 % of them
// the bound is not below the true percentile, and it is not loose either.
func TestCertifiedCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		p Percentile
		n int
	}{{P50, 11}, {P50, 200}, {P90, 64}, {P90, 300}, {P95, 400}, {P99, 662}} {
		const draws = 3000
		covered := 0
		xs := make([]float64, c.n)
		for range draws {
			for i := range xs {
				xs[i] = rng.Float64()
			}
			slices.Sort(xs)
			if *Certified(xs, c.p) >= float64(c.p)/1000 {
				covered++
			}
		}
		// Four standard deviations of a share of 0.99 are 0.0073 here.
		if share := float64(covered) / draws; share < 0.9827 {
			t.Errorf("p%d of %d values: covered in %v", c.p, c.n, share)
		}
	}
}

func TestCertifiedTightens(t *testing.T) {
	small, large := seq(1000), seq(100_000)
	if a, b := *Certified(small, P90)/1000, *Certified(large, P90)/100_000; !(a > b && b > 0.9) {
		t.Errorf("bounds of p90: %v of 1,000 values, %v of 100,000", a, b)
	}
	if n := spared(50_000_000, P50); n < 24_900_000 || n > 25_000_000 {
		t.Errorf("spared of 50 million: %d", n)
	}
}
