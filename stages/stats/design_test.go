package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSampleSizesOfTheUsualDesign(t *testing.T) {
	d := Design{Disagree: 0.1, Delta: 0.02}
	for name, c := range map[string]struct {
		of   func() (Size, error)
		want int
	}{
		"conservative": {d.SizePaired, 1963}, "exact variance": {d.SizePairedExact, 1955}, "connor": {d.SizeConnor, 1960},
		"true drop": {func() (Size, error) { return SizeNonInferior(0.1, 0.02, -0.005, 0.025, 0.8) }, 3489},
	} {
		got, err := c.of()
		if err != nil || got.Items != c.want {
			t.Errorf("%s: %+v, %v; want %d", name, got, err, c.want)
		}
	}
	items, ok, err := d.SizeMcNemar()
	if err != nil || !ok {
		t.Fatal(items, ok, err)
	}
	at, _ := d.PowerExact(items)
	before, _ := d.PowerExact(items - 1)
	if at < 0.8 || before >= 0.8 || items < 2000 || items > 2100 {
		t.Errorf("exact McNemar: %d items with power %v, %v before", items, at, before)
	}
}

func TestDesignsThatMakeNoSense(t *testing.T) {
	for _, d := range []Design{{}, {Disagree: 0.1}, {Disagree: 0.1, Delta: 0.2}, {Disagree: 2, Delta: 0.1}, {Disagree: 0.1, Delta: 0.02, Power: 1}, {Disagree: math.NaN(), Delta: 0.1}} {
		if _, err := d.SizePaired(); err == nil {
			t.Errorf("size of %+v", d)
		}
		if _, err := d.PowerExact(10); err == nil {
			t.Errorf("power of %+v", d)
		}
		if _, _, err := d.SizeMcNemar(); err == nil {
			t.Errorf("McNemar size of %+v", d)
		}
	}
	if _, err := SizeNonInferior(0.1, 0.02, -0.02, 0.025, 0.8); err == nil {
		t.Error("a candidate on the limit needs a finite number of items")
	}
	if _, err := (MillerDesign{Omega2: 1, KA: 0, KB: 1}).Size(0.1, 0.05, 0.8); err == nil {
		t.Error("no samples")
	}
}

// All b, c of an exact test: its power equals a sum over tables.
func TestPowerExactBySummation(t *testing.T) {
	d := Design{Disagree: 0.4, Delta: 0.2}
	const n = 25
	want := 0.0
	for m := 0; m <= n; m++ {
		for c := 0; c <= m; c++ {
			if McNemarTest(m-c, c).Exact <= 0.05 {
				want += binomialRaw(float64(m), n, 0.4, 0.6) * binomialRaw(float64(c), float64(m), 0.75, 0.25)
			}
		}
	}
	got, err := d.PowerExact(n)
	if err != nil {
		t.Fatal(err)
	}
	nearTo(t, "power", got, want, 1e-12)
}

// The power where all, or nearly all, discordant items go one way, and where
// the tables of a sum are too improbable for a float: against binomial sums by
// log-gamma that share no code with PowerExact.
func TestPowerExactNearTheDisagreement(t *testing.T) {
	point := func(k, n int, p float64) float64 {
		if p == 0 || p == 1 {
			return indicator(k == int(p)*n)
		}
		lg := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
		return math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	tail := func(k, m int, p float64) float64 { // P(X <= k)
		sum := 0.0
		for i := 0; i <= k; i++ {
			sum += point(i, m, p)
		}
		return sum
	}
	for _, c := range []struct {
		n               int
		disagree, delta float64
		want            float64 // to 1e-3, 0 when not known otherwise
	}{
		{400, 0.02, 0.02, 0.812}, {500, 0.02, 0.02, 0.935}, {400, 0.02, -0.02, 0.812},
		{20, 1, 1, 1}, {5, 1, 1, 0}, {400, 0.02, 0.0199999, 0.812},
		{300, 0.1, 0.099, 0}, {300, 0.1, 0.02, 0}, {3000, 0.5, 0.49, 1}, {3000, 1, 0.999, 1}, {2000, 0.9, 0.05, 0},
	} {
		share, direct := (1+c.delta/c.disagree)/2, 0.0
		for m := 1; m <= c.n; m++ {
			weight := point(m, c.n, c.disagree)
			if weight < 1e-18 {
				continue
			}
			k, below := -1, 0.0 // largest k with 2 P(X <= k; 1/2) <= 0.05
			for below += point(0, m, 0.5); 2*below <= 0.05; below += point(k+1, m, 0.5) {
				k++
			}
			direct += weight * (tail(k, m, share) + tail(k, m, 1-share))
		}
		got, err := Design{Disagree: c.disagree, Delta: c.delta}.PowerExact(c.n)
		if err != nil || math.Abs(got-direct) > 1e-9 || c.want > 0 && math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%+v: %v, %v; direct sum %v", c, got, err, direct)
		}
	}
	for _, d := range []Design{{Disagree: 1, Delta: 0.2}, {Disagree: 0.0201, Delta: 0.02}} {
		if got, err := d.PowerExact(200_000); err != nil || got < 1-1e-9 {
			t.Errorf("%+v: %v, %v with 200,000 items", d, got, err)
		}
	}
	if items, ok, err := (Design{Disagree: 0.02, Delta: 0.02}).SizeMcNemar(); err != nil || !ok || items < 380 || items > 400 {
		t.Errorf("%d items, %v, %v", items, ok, err)
	}
}

func TestAdjustedPValuesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 12).Draw(t, "p")
		holm, bh, bonferroni := Holm(p), BenjaminiHochberg(p), Bonferroni(p)
		for i := range p {
			const slack = 1 + 1e-15
			if !(p[i] <= bh[i]*slack && bh[i] <= holm[i]*slack && holm[i] <= bonferroni[i]*slack && bonferroni[i] <= 1) {
				t.Fatalf("p %v, bh %v, holm %v, bonferroni %v", p[i], bh[i], holm[i], bonferroni[i])
			}
			for j := range p {
				if p[i] <= p[j] && (holm[i] > holm[j] || bh[i] > bh[j]) {
					t.Fatalf("order of %v and %v is lost", p[i], p[j])
				}
			}
		}
	})
}

func TestSpendingBounds(t *testing.T) {
	fractions := []float64{0.2, 0.4, 0.6, 0.8, 1}
	// Published: Lan-DeMets O'Brien-Fleming type, 5 looks, two-sided 0.05.
	want := []float64{4.877, 3.357, 2.680, 2.290, 2.031}
	got, err := SpendingBounds(fractions, 0.05, lanDeMetsTwoSided)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-3 {
			t.Errorf("look %d: %.4f, want %.3f", i+1, got[i], want[i])
		}
	}
	one, err := SpendingBounds([]float64{1}, 0.05, SpendPocock)
	if err != nil {
		t.Fatal(err)
	}
	nearTo(t, "one look", one[0], 1.959963984540054, 1e-9)
	for _, bad := range [][]float64{{0.5, 0.5}, {0, 1}, {1.1}} {
		if _, err := SpendingBounds(bad, 0.05, SpendPocock); err == nil {
			t.Errorf("fractions %v are accepted", bad)
		}
	}
	if single, err := Pocock(1, 0.05); err != nil || math.Abs(single-1.959963984540054) > 1e-9 {
		t.Errorf("one look: %v, %v", single, err)
	}
	if _, err := OBrienFleming(0, 0.05); err == nil {
		t.Error("no looks")
	}
}

// lanDeMetsTwoSided spends alpha/2 on each side, as the published table does.
func lanDeMetsTwoSided(alpha, t float64) float64 { return 2 * SpendOBrienFleming(alpha/2, t) }

func TestEProcessRefuses(t *testing.T) {
	for _, c := range []struct {
		margin float64
		grid   []float64
	}{{0.02, nil}, {1, []float64{0.5}}, {0.02, []float64{1.03}}, {0.02, []float64{-0.1}}} {
		if _, err := NewEProcess(c.margin, c.grid); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	e, err := NewEProcess(0.02, []float64{0.9})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Add(-1.5); err == nil {
		t.Error("a difference below -1 is accepted")
	}
	wealth := 0.0
	for range 5000 {
		if wealth, err = e.Add(1); err != nil {
			t.Fatal(err)
		}
	}
	if math.IsInf(wealth, 0) || wealth < 1e290 {
		t.Errorf("wealth %v", wealth)
	}
	if w := EValueDiscordant(3000, 0, 1); math.IsInf(w, 0) || w < 1e290 {
		t.Errorf("e-value %v", w)
	}
}

func TestEpochsRefuse(t *testing.T) {
	for _, scores := range [][][]float64{nil, {{1, 0}}, {{1}, {0}}, {{1, 0}, {1}}} {
		if _, err := NewEpochs(scores); err == nil {
			t.Errorf("%v is accepted", scores)
		}
	}
	for _, c := range []struct{ c, samples, k int }{{1, 4, 5}, {1, 4, 0}, {5, 4, 1}, {-1, 4, 1}} {
		if _, err := PassAtK([]int{c.c}, c.samples, c.k); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	// All 2-subsets of {pass, pass, fail}: one is all-pass, none all-fail.
	all, err1 := PassHatK([]int{2}, 3, 2)
	some, err2 := PassAtK([]int{2}, 3, 2)
	if err1 != nil || err2 != nil || relative(all, 1.0/3) > 1e-15 || some != 1 {
		t.Errorf("pass^2 %v, pass@2 %v", all, some)
	}
}

func TestNoiseFloorDrift(t *testing.T) {
	same, worse := make([]float64, 60), make([]float64, 60)
	for i := range same {
		same[i] = 1
		worse[i] = indicator(i > 12)
	}
	if f, err := NewNoiseFloor(same, worse, 0.95); err != nil || !f.Drift {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := NewNoiseFloor(same, same, 0.95); err != nil || f.Drift || f.Rate != 0 || f.McNemar.Exact != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := NewNoiseFloor([]float64{0.5}, []float64{0.25}, 0.95); err != nil || f.McNemar != nil {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := NewNoiseFloor(same, worse[:5], 0.95); err == nil {
		t.Error("runs of different length")
	}
	if _, err := ExcessDisagreement(nil, nil, nil); err == nil {
		t.Error("no items")
	}
}

func TestJudgeWithoutInformation(t *testing.T) {
	u := []float64{1, 0, 1}
	for name, c := range map[string]struct{ human, judged []float64 }{
		"one class":  {[]float64{1, 1, 1}, []float64{1, 1, 0}},
		"no better":  {[]float64{1, 0, 1, 0}, []float64{1, 1, 0, 0}},
		"both equal": {[]float64{1, 1}, []float64{1, 1}},
	} {
		j, err := CalibrateJudge(c.human, c.judged, u)
		if err != nil || j.RoganGladen != nil || j.Reason != ReasonNoInformation {
			t.Errorf("%s: %+v, %v", name, j, err)
		}
	}
	if _, err := CalibrateJudge([]float64{1, 0.5}, []float64{1, 0}, u); err == nil {
		t.Error("a label of 0.5")
	}
	if _, err := CalibrateJudge([]float64{1}, []float64{1}, u); err == nil {
		t.Error("one label")
	}
}

func TestStratifiedMeanRefuses(t *testing.T) {
	p := map[string]Paired{"x": {N: 10, Mean: 0.1, SE: 0.01}}
	for _, w := range []map[string]float64{nil, {"y": 1}, {"x": -1}, {"x": 0}, {"x": math.Inf(1)}, {"x": 1, "y": 1}} {
		if _, err := StratifiedMean(p, w, 0.95); err == nil {
			t.Errorf("weights %v are accepted", w)
		}
	}
	still := map[string]Paired{"x": p["x"], "y": {N: 10}}
	got, err := StratifiedMean(still, map[string]float64{"x": 1, "y": 1}, 0.95)
	if err != nil || got.Z.Defined || got.Z.Reason != ReasonZeroVariance {
		t.Errorf("a stratum without spread: %+v, %v", got, err)
	}
}

func TestNonInferiorNeedsSpread(t *testing.T) {
	if _, ok := NonInferior(BinaryPaired(500, 0, 0), 0.02, 0.025, 0.05); ok {
		t.Error("no discordance tests nothing")
	}
	got, ok := NonInferior(BinaryPaired(500, 35, 15), 0.02, 0.025, 0.05)
	if !ok || got.Pass || got.Equivalent || got.Interval.Hi > -0.01 {
		t.Errorf("%+v", got)
	}
}

func TestDistinct(t *testing.T) {
	d := slices.Repeat([]float64{1, 0, -1, 0}, 16)
	values, counts := distinct(d, 16)
	if !slices.Equal(values, []float64{-1, 0, 1}) || !slices.Equal(counts, []int{16, 32, 16}) {
		t.Errorf("%v %v", values, counts)
	}
	if values, _ := distinct(fractional(200), 16); values != nil {
		t.Errorf("%d values", len(values))
	}
	if values, _ := distinct(d[:8], 16); values != nil {
		t.Error("few items are counted")
	}
}
