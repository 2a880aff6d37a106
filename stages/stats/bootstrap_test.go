package stats

import (
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func mustBootstrap(t *testing.T, d []float64, opt BootstrapOptions) Resampled {
	t.Helper()
	r, err := Bootstrap(d, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFastDoesNotDependOnCPUs(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	for name, d := range map[string][]float64{"counts": ternary(500, 30, 20), "indices": fractional(500)} {
		runtime.GOMAXPROCS(1)
		one := mustBootstrap(t, d, BootstrapOptions{Resamples: 1000, Seed: 4, Generator: GeneratorFast})
		runtime.GOMAXPROCS(7)
		many := mustBootstrap(t, d, BootstrapOptions{Resamples: 1000, Seed: 4, Generator: GeneratorFast})
		if !slices.Equal(one.Means, many.Means) {
			t.Errorf("%s: means depend on the number of CPUs", name)
		}
	}
}

// The first means of the fast generator are part of its algorithm id.
func TestFastIsFixed(t *testing.T) {
	r := mustBootstrap(t, ternary(100, 12, 7), BootstrapOptions{Resamples: 200, Seed: 1, Generator: GeneratorFast})
	if got, want := r.Means[196:], []float64{-0.04, -0.06, -0.08, -0.05}; !slices.Equal(got, want) {
		t.Errorf("counted means %v, want %v", got, want)
	}
	r = mustBootstrap(t, fractional(100), BootstrapOptions{Resamples: 200, Seed: 1, Generator: GeneratorFast})
	exact(t, "indexed mean", r.Means[199], "-0x1.d7a0ed65c2b8dp-05")
	if r.Algorithm != "cupel-splitmix-blocks/1" {
		t.Errorf("algorithm %s", r.Algorithm)
	}
}

// Both generators draw from the same distribution: mean delta, standard
// deviation sd sqrt((n-1)/n)/sqrt(n).
func TestResampledMeansHaveTheRightMoments(t *testing.T) {
	mixed := ternary(400, 50, 20)
	for i := range 60 {
		mixed[i*6] = []float64{0.25, -0.5, 0.125}[i%3]
	}
	for name, d := range map[string][]float64{"counts": ternary(400, 50, 20), "many values": mixed, "indices": fractional(400)} {
		for _, generator := range []string{GeneratorNumPy, GeneratorFast} {
			const resamples = 40000
			r := mustBootstrap(t, d, BootstrapOptions{Resamples: resamples, Seed: 2, Generator: generator})
			p, q := PairedMean(d), PairedMean(r.Means)
			sd := p.SE * math.Sqrt(float64(p.N-1)/float64(p.N))
			if math.Abs(q.Mean-p.Mean) > 4*q.SE {
				t.Errorf("%s, %s: mean %v, want %v", name, generator, q.Mean, p.Mean)
			}
			if math.Abs(q.SD/sd-1) > 4/math.Sqrt(2*resamples) {
				t.Errorf("%s, %s: sd %v, want %v", name, generator, q.SD, sd)
			}
		}
	}
}

func TestBinomialDrawFitsItsProbabilities(t *testing.T) {
	for _, c := range []struct {
		m int
		p float64
	}{{1, 0.3}, {30, 0.02}, {50, 0.9}, {2000, 0.06}} {
		const draws = 100000
		g, b := &splitMix{state: 11}, newBinomialDraw(c.p)
		counts := make([]int, c.m+1)
		for range draws {
			counts[b.draw(g, c.m)]++
		}
		chi2, cells := 0.0, 0.0
		for k, n := range counts {
			expected := draws * binomialRaw(float64(k), float64(c.m), c.p, 1-c.p)
			if expected < 10 {
				continue
			}
			chi2 += (float64(n) - expected) * (float64(n) - expected) / expected
			cells++
		}
		if chi2 > cells+4*math.Sqrt(2*cells) {
			t.Errorf("m %d, p %v: chi-square %.1f over %v cells", c.m, c.p, chi2, cells)
		}
	}
}

func TestBootstrapSeeds(t *testing.T) {
	d := fractional(50)
	small := mustBootstrap(t, d, BootstrapOptions{Resamples: 50, Seed: 77})
	large := mustBootstrap(t, d, BootstrapOptions{Resamples: 50, BigSeed: big.NewInt(77)})
	other := mustBootstrap(t, d, BootstrapOptions{Resamples: 50, Seed: 78})
	if !slices.Equal(small.Means, large.Means) || slices.Equal(small.Means, other.Means) {
		t.Error("seed 77 as a number and as a big number agree, and differ from 78: not so")
	}
}

func TestBootstrapRefuses(t *testing.T) {
	for want, opt := range map[string]BootstrapOptions{
		"resamples is -1":     {Resamples: -1},
		"confidence is 95":    {Confidence: 95},
		"unknown generator":   {Generator: "mt19937"},
		"seed -1 is negative": {BigSeed: big.NewInt(-1)},
	} {
		if _, err := Bootstrap([]float64{1}, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := Bootstrap([]float64{math.NaN()}, BootstrapOptions{}); err == nil {
		t.Error("a difference that is not a number is accepted")
	}
	if r := mustBootstrap(t, nil, BootstrapOptions{}); r.Interval.Defined || r.Interval.Reason != ReasonNoItems {
		t.Errorf("no items: %+v", r.Interval)
	}
}

func TestPercentsOfConfidence(t *testing.T) {
	for confidence, want := range map[float64][2]float64{0.95: {2.5, 97.5}, 0.9: {5, 95}, 0.99: {0.5, 99.5}, 0.8: {10, 90}} {
		if lo, hi := tailPercents(confidence); lo != want[0] || hi != want[1] {
			t.Errorf("%v: %v and %v, want %v", confidence, lo, hi, want)
		}
	}
}

func TestBCaIsNeverAPoint(t *testing.T) {
	for name, c := range map[string]struct {
		d    []float64
		want Reason
	}{
		"no item":      {nil, ReasonNoItems},
		"no spread":    {make([]float64, 30), ReasonZeroVariance},
		"equal thirds": {[]float64{0.1, 0.1, 0.1}, ReasonZeroVariance},
	} {
		iv, _ := BCa(c.d, mustBootstrap(t, c.d, BootstrapOptions{Resamples: 100}), 0.95)
		if iv.Defined || iv.Reason != c.want {
			t.Errorf("%s: %+v, want %s", name, iv, c.want)
		}
	}
	d := ternary(30, 1, 0)
	if iv, _ := BCa(d, mustBootstrap(t, d, BootstrapOptions{Resamples: 3, Seed: 3}), 0.95); iv.Defined && iv.Lo >= iv.Hi {
		t.Errorf("point interval %+v", iv)
	}
}
