package stats

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// maxFalsePass is what the gate may come to where 2.5 % is nominal.
const maxFalsePass = 0.029

var gateGrid, _ = SimulateOptions{}.filled()

// The whole grid, exact: a candidate on the limit of -0.02.
func TestAutoKeepsItsLevelAtTheLimit(t *testing.T) {
	for _, n := range gateGrid.Items {
		for _, p := range gateGrid.Disagree {
			got := passRates(n, p, []float64{-0.02}, autoOpens(n, 0.02, 0.95))[0]
			if got > maxFalsePass {
				t.Errorf("n %d, disagreement %v: a candidate on the limit passes with probability %.4f", n, p, got)
			}
		}
	}
	// The check can fail: the plain bootstrap passes two candidates in three.
	boot := SimulateOptions{Margin: 0.02, Confidence: 0.95, Resamples: 2000}
	got := passRates(20, 0.02, []float64{-0.02}, func(b, c int) bool { return boot.bootstrapped(20, b, c).plain })[0]
	if math.Abs(got-0.668) > 0.001 { // 0.98^20 = 0.6676: no item of the sample differs
		t.Errorf("plain bootstrap at n 20, disagreement 0.02: %.4f, want about 0.668", got)
	}
}

// Several candidates share the risk: all of them together keep the level of one.
func TestSharedLevel(t *testing.T) {
	for _, k := range []int{2, 3, 5, 10} {
		level := 1 - 0.05/float64(k)
		for _, n := range gateGrid.Items {
			for _, p := range gateGrid.Disagree {
				one := passRates(n, p, []float64{-0.02}, autoOpens(n, 0.02, level))[0]
				if risk := float64(k) * one; risk > 0.025 {
					t.Errorf("%d candidates, n %d, disagreement %v: one on the limit passes with up to %.4f", k, n, p, risk)
				}
			}
		}
	}
}

// False passes and power from an independent enumeration of all tables (exact
// binomial coefficients, the limit by bisection of its own).
func TestGateGolden(t *testing.T) {
	for _, c := range []struct {
		items                  int
		disagree               float64
		onLimit, equal, better float64
	}{
		{20, 0.02, 0, 0.000036247, 0.000186595},
		{20, 0.2, 0.015554506, 0.025258398, 0.031655311},
		{50, 0.05, 0.007253177, 0.039089177, 0.073138083},
		{50, 0.1, 0.018990238, 0.047687407, 0.071846414},
		{100, 0.02, 0, 0.104971789, 0.289710418},
		{100, 0.1, 0.025791801, 0.088927965, 0.148446221},
		{100, 0.2, 0.022704406, 0.059230111, 0.089960504},
	} {
		for truth, want := range map[float64]float64{-0.02: c.onLimit, 0: c.equal, 0.01: c.better} {
			got, err := GatePower(c.items, c.disagree, truth, 0.02, 0.95)
			if err != nil || math.Abs(got-want) > 1e-8 {
				t.Errorf("%d items, disagreement %v, truth %v: %.9f, %v; want %.9f", c.items, c.disagree, truth, got, err, want)
			}
		}
	}
}

// The search for the first table that opens the gate equals a walk over all
// tables: the limit rises with c, and so does that of the bootstrap.
func TestPassRatesBySummation(t *testing.T) {
	boot := SimulateOptions{Margin: 0.02, Confidence: 0.95, Resamples: 200}
	for name, opens := range map[string]func(n, b, c int) bool{
		"auto":      func(n, b, c int) bool { return autoOpens(n, 0.02, 0.95)(b, c) },
		"bootstrap": func(n, b, c int) bool { return boot.bootstrapped(n, b, c).plain },
	} {
		for _, n := range []int{1, 20, 45} {
			for _, truth := range []float64{-0.1, -0.02, 0.1} {
				const p = 0.1
				pb, pc, want := (p-truth)/2, (p+truth)/2, 0.0
				for b := range n + 1 {
					for c := range n - b + 1 {
						if opens(n, b, c) {
							want += binomialRaw(float64(b), float64(n), pb, 1-pb) * binomialRaw(float64(c), float64(n-b), pc/(1-pb), 1-pc/(1-pb))
						}
					}
				}
				got := passRates(n, p, []float64{truth}, func(b, c int) bool { return opens(n, b, c) })[0]
				if math.Abs(got-want) > 1e-9 {
					t.Errorf("%s, n %d, truth %v: %v, all tables give %v", name, n, truth, got, want)
				}
			}
		}
	}
}

func TestFirstOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(0, 300).Draw(t, "m")
		want, guess := rapid.IntRange(0, m+1).Draw(t, "first"), rapid.IntRange(0, 400).Draw(t, "guess")
		calls := 0
		got := firstOpen(guess, m, func(c int) bool {
			if c < 0 || c > m {
				t.Fatalf("asked for %d of %d", c, m)
			}
			calls++
			return c >= want
		})
		if got != want || calls > 25 {
			t.Fatalf("%d after %d calls, want %d", got, calls, want)
		}
	})
}

func comparison(t *rapid.T, pairs []Pair, opt Options) Result {
	res, err := Compare(pairs, opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// What is enumerated and drawn is what a comparison of the same items gives.
func TestSimulatedGateIsTheGate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 400).Draw(t, "n")
		b := rapid.IntRange(0, n/2).Draw(t, "b")
		c := rapid.IntRange(0, n/2).Draw(t, "c")
		margin := rapid.Float64Range(0.005, 0.2).Draw(t, "margin")
		o := SimulateOptions{Margin: margin, Confidence: 0.95, Resamples: 200}
		real := comparison(t, tablePairs(n, b, c), Options{Resamples: 200})
		if got, want := autoOpens(n, margin, 0.95)(b, c), o.opens(real.Overall); got != want {
			t.Fatalf("auto, table %d %d %d: %v, the comparison says %v", n, b, c, got, want)
		}
		real = comparison(t, tablePairs(n, b, c), Options{Interval: MethodBootstrap, Generator: GeneratorFast, Resamples: 1000})
		o.Resamples = 1000
		if got, want := o.bootstrapped(n, b, c).warned, o.opens(real.Overall); got != want {
			t.Fatalf("bootstrap, table %d %d %d: %v, the comparison says %v", n, b, c, got, want)
		}
	})
}

// The drawn table at two sizes, with its own level. Plain t is beside it and
// does not keep it, so the check can fail.
func TestSimulateOtherScores(t *testing.T) {
	o := SimulateOptions{Items: []int{100, 500}, Disagree: []float64{0.02, 0.1}, Resamples: 200, Runs: 2000, Seed: 1}
	sim, err := Simulate(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(sim.Binary) != 4 || len(sim.Other) != 4*len(Models) {
		t.Fatalf("%d and %d cells", len(sim.Binary), len(sim.Other))
	}
	wide := map[string]bool{}
	for _, c := range sim.Other {
		if c.Auto.OnLimit == nil {
			if c.Scores != "partial" || c.Disagree > 0.02 {
				t.Errorf("%+v has no candidate on the limit", c)
			}
			continue
		}
		if p := *c.Auto.OnLimit; p.P > maxFalsePass+3*p.SE || p.SE <= 0 {
			t.Errorf("%s, n %d, disagreement %v: false pass %+v", c.Scores, c.Items, c.Disagree, p)
		}
		if c.T.OnLimit.P > 0.05 {
			wide[c.Scores] = true
		}
		if c.Auto.Equal.P > c.Auto.Better.P+0.05 || c.Auto.OnLimit.P > c.Auto.Equal.P+0.02 {
			t.Errorf("%s, n %d, disagreement %v: a better candidate passes less often: %+v", c.Scores, c.Items, c.Disagree, c.Auto)
		}
	}
	if diff := cmp.Diff(map[string]bool{"whole": true, "rare-loss": true, "clusters-4": true, "clusters-20": true}, wide); diff != "" {
		t.Errorf("models on which plain t passes more than 5 %% (-want +got):\n%s", diff)
	}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	again, err := Simulate(o)
	if diff := cmp.Diff(sim, again); err != nil || diff != "" {
		t.Errorf("another number of CPUs gives other numbers: %v\n%s", err, diff)
	}
}

// The draws have the differences that were asked for.
func TestDrawnDifferences(t *testing.T) {
	for _, m := range Models {
		const n, truth, p = 20000, -0.02, 0.1
		atoms := m.atoms(p, truth)
		d := newDrawing(m, atoms, n)
		g := &splitMix{state: 3}
		sum, deff, moved := 0.0, 0.0, 0
		for range 20 {
			s := d.draw(g)
			b, c := discordant(s.d)
			sum, moved = sum+Mean(s.d)/20, moved+b+c
			if !bounded(s.a) || !bounded(s.b) || binary(s.a) != (m.cluster > 0) {
				t.Fatalf("%s: scores are not what they should be", m.Name)
			}
			if one, ok := ClusteredMean(s.d, s.cluster).DesignEffect(); ok {
				deff += one / 20
			}
		}
		if rate := float64(moved) / (20 * n); math.Abs(sum-truth) > 0.003 || math.Abs(rate-p) > 0.005 {
			t.Errorf("%s: mean difference %.4f, disagreement %.4f", m.Name, sum, rate)
		}
		if want := 1 + float64(max(0, m.cluster-1))*m.icc; math.Abs(deff/want-1) > 0.05 {
			t.Errorf("%s: design effect %.3f, want %.3f", m.Name, deff, want)
		}
	}
}

func TestGateSize(t *testing.T) {
	items, ok, err := GateSize(0.1, 0, 0.02, 0.95, 0.8)
	at, _ := GatePower(items, 0.1, 0, 0.02, 0.95)
	before, _ := GatePower(items-1, 0.1, 0, 0.02, 0.95)
	if err != nil || !ok || at < 0.8 || before >= 0.8 || items < 1950 || items > 2050 {
		t.Errorf("%d items with power %v, %v before; %v %v", items, at, before, ok, err)
	}
	if _, ok, err := GateSize(0.5, 0, 0.0005, 0.95, 0.8); ok || err != nil {
		t.Errorf("millions of items: %v %v", ok, err)
	}
	for _, bad := range []struct{ disagree, truth, margin, confidence float64 }{
		{0, 0, 0.02, 0.95}, {0.1, 0.2, 0.02, 0.95}, {0.1, -0.02, 0.02, 0.95}, {0.1, 0, 0.02, 1}, {math.NaN(), 0, 0.02, 0.95},
	} {
		if _, _, err := GateSize(bad.disagree, bad.truth, bad.margin, bad.confidence, 0.8); err == nil {
			t.Errorf("size of %+v", bad)
		}
	}
	for _, o := range []SimulateOptions{{Margin: 2}, {Better: -1}, {Confidence: 3}, {Items: []int{1}}, {Items: []int{1 << 30}}, {Disagree: []float64{0}}, {Runs: 1}, {Resamples: -1}} {
		if _, err := Simulate(o); err == nil {
			t.Errorf("simulated %+v", o)
		}
	}
}

// BenchmarkFalsePass prints the exact table; run it with -benchtime 1x.
func BenchmarkFalsePass(b *testing.B) {
	for _, n := range gateGrid.Items {
		for _, p := range gateGrid.Disagree {
			b.Run(fmt.Sprintf("n=%d/p=%v", n, p), func(b *testing.B) {
				for b.Loop() {
					c := gateGrid.binaryCell(n, p)
					b.ReportMetric(100*c.Auto.OnLimit.P, "%auto")
					b.ReportMetric(100*c.Bootstrap.OnLimit.P, "%bootstrap")
				}
			})
		}
	}
}

func TestFewestItems(t *testing.T) {
	n := FewestItems(0.02, 0.95)
	if n != 189 || !autoOpens(n, 0.02, 0.95)(0, 0) || autoOpens(n-1, 0.02, 0.95)(0, 0) {
		t.Errorf("%d items", n)
	}
	if FewestItems(0, 0.95) != 0 || FewestItems(0.02, 1) != 0 {
		t.Error("a number of items where there is none")
	}
}

func TestPowerNonInferiorInvertsItsSize(t *testing.T) {
	for _, truth := range []float64{-0.005, 0, 0.01} {
		size, err := SizeNonInferior(0.1, 0.02, truth, 0.025, 0.8)
		if at, before := PowerNonInferior(0.1, 0.02, truth, 0.025, size.Items), PowerNonInferior(0.1, 0.02, truth, 0.025, size.Items-1); err != nil || at < 0.8 || before >= 0.8 {
			t.Errorf("truth %v: %d items have power %v, one less %v; %v", truth, size.Items, at, before, err)
		}
	}
	if PowerNonInferior(0.1, 0.02, 0, 0.025, 0) != 0 || PowerNonInferior(0, 0.02, 0, 0.025, 9) != 1 {
		t.Error("no items, or no variance")
	}
}
