package stats

import (
	"math"
	"testing"
)

// pairedExpected is how the vectors write a paired mean.
type pairedExpected struct {
	N     int
	Mean  float64
	SD    float64    `json:"sd_ddof1"`
	SE    float64    `json:"se"`
	Z     [2]float64 `json:"z_ci"`
	TCrit float64    `json:"t_crit"`
	T     [2]float64 `json:"t_ci"`
	Stat  float64    `json:"t_stat"`
	PT    float64    `json:"p_two_sided_t"`
	PZ    float64    `json:"p_two_sided_z"`
}

func (w pairedExpected) check(t *testing.T, p Paired) {
	t.Helper()
	if p.N != w.N {
		t.Errorf("n = %d, want %d", p.N, w.N)
	}
	near(t, "mean", p.Mean, w.Mean)
	near(t, "sd", p.SD, w.SD)
	near(t, "se", p.SE, w.SE)
	nearInterval(t, "z", p.Z(0.95), w.Z)
	nearT(t, "t", p.T(0.95), w.T)
	nearTo(t, "t crit", TQuantile(0.975, float64(p.N-1)), w.TCrit, 1e-9)
	stat, pT, pZ, ok := p.Statistic()
	if !ok {
		t.Error("no statistic")
	}
	near(t, "t stat", stat, w.Stat)
	near(t, "p t", pT, w.PT)
	near(t, "p z", pZ, w.PZ)
}

// nearT allows for the stored t quantiles, of which some are right to ten
// digits only: t(5) is stored as 2.57058183661 and is 2.57058183564, see
// TestTQuantile.
func nearT(t *testing.T, name string, got Interval, want [2]float64) {
	t.Helper()
	if !got.Defined {
		t.Errorf("%s is undefined (%s)", name, got.Reason)
	}
	nearTo(t, name+".lo", got.Lo, want[0], 1e-9)
	nearTo(t, name+".hi", got.Hi, want[1], 1e-9)
}

func checkPairedMean(t *testing.T, v vector) {
	w := pairedExpected{
		want[int](t, v, "n"), want[float64](t, v, "mean"), want[float64](t, v, "sd_ddof1"),
		want[float64](t, v, "se"), want[[2]float64](t, v, "z_ci"), want[float64](t, v, "t_crit"),
		want[[2]float64](t, v, "t_ci"), want[float64](t, v, "t_stat"),
		want[float64](t, v, "p_two_sided_t"), want[float64](t, v, "p_two_sided_z"),
	}
	w.check(t, PairedMean(differences(in[[]float64](t, v, "a"), in[[]float64](t, v, "b"))))
}

func checkUnpaired(t *testing.T, v vector) {
	u, ok := UnpairedSE(in[[]float64](t, v, "a"), in[[]float64](t, v, "b"))
	if !ok {
		t.Fatal("not defined")
	}
	near(t, "se", u.SE, want[float64](t, v, "se_unpaired"))
	near(t, "cov", u.Covariance, want[float64](t, v, "cov"))
	near(t, "paired", u.SEPaired, want[float64](t, v, "se_paired_from_cov"))
	near(t, "paired", u.SEPaired, want[float64](t, v, "se_paired"))
}

func checkBCa(t *testing.T, v vector) {
	for _, base := range loadVectors(t) {
		if base.Name != in[string](t, v, "data") {
			continue
		}
		d := differences(in[[]float64](t, base, "a"), in[[]float64](t, base, "b"))
		r, err := Bootstrap(d, BootstrapOptions{Resamples: in[int](t, base, "n_boot"), Seed: in[uint64](t, base, "seed")})
		if err != nil {
			t.Fatal(err)
		}
		iv, acc := BCa(d, r, in[float64](t, v, "level"))
		near(t, "below", acc.Below, want[float64](t, v, "prop_below_midrank"))
		near(t, "z0", acc.Z0, want[float64](t, v, "z0"))
		near(t, "a", acc.A, want[float64](t, v, "a"))
		near(t, "alpha1", acc.Alpha1, want[float64](t, v, "alpha1"))
		near(t, "alpha2", acc.Alpha2, want[float64](t, v, "alpha2"))
		nearInterval(t, "bca", iv, [2]float64{want[float64](t, v, "lo"), want[float64](t, v, "hi")})
		return
	}
	t.Fatal("base vector not found")
}

func checkClustered(t *testing.T, v vector) {
	d := differences(in[[]float64](t, v, "a"), in[[]float64](t, v, "b"))
	c := ClusteredMean(d, in[[]string](t, v, "cluster"))
	deff, ok := c.DesignEffect()
	if c.N != want[int](t, v, "n") || c.Clusters != want[int](t, v, "clusters") || !ok {
		t.Errorf("n %d, clusters %d, deff %v", c.N, c.Clusters, ok)
	}
	near(t, "mean", c.Mean, want[float64](t, v, "mean"))
	near(t, "iid", c.SE, want[float64](t, v, "se_iid"))
	near(t, "CR0", c.CR0, want[float64](t, v, "se_cluster_CR0"))
	near(t, "CR1", c.CR1, want[float64](t, v, "se_cluster_CR1"))
	near(t, "off diagonal", c.OffDiagonal, want[float64](t, v, "se_cluster_iid_plus_offdiag"))
	near(t, "deff", deff, want[float64](t, v, "deff_CR1"))
	nearTo(t, "t crit", TQuantile(0.975, float64(c.Clusters-1)), want[float64](t, v, "t_crit_df_C-1"), 1e-9)
	nearT(t, "CR1 t", c.Interval(0.95), want[[2]float64](t, v, "ci_CR1_t"))
}

func checkEpochs(t *testing.T, v vector) {
	scores := in[[][]float64](t, v, "scores_item_by_epoch")
	e, err := NewEpochs(scores)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mean", e.Mean, want[float64](t, v, "mean"))
	near(t, "se", e.SE, want[float64](t, v, "se_item_means_correct"))
	near(t, "pooled", e.Pooled, want[float64](t, v, "se_pooled_as_independent_WRONG"))
	near(t, "within", e.Within, want[float64](t, v, "within_item_variance"))
	near(t, "between", e.Between, want[float64](t, v, "between_item_variance_unbiased"))
	near(t, "limit", e.SELimit, want[float64](t, v, "se_if_epochs_infinite"))
	passed := make([]int, len(scores))
	for i, s := range scores {
		passed[i] = int(Sum(s))
	}
	for _, c := range []struct {
		name string
		of   func([]int, int, int) (float64, error)
		k    int
	}{{"pass_at_1", PassAtK, 1}, {"pass_at_2_unbiased", PassAtK, 2}, {"pass_hat_2_all_pass", PassHatK, 2}} {
		got, err := c.of(passed, 4, c.k)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.name, got, want[float64](t, v, c.name))
	}
}

func checkWilson(t *testing.T, v vector) {
	k, n, level := in[int](t, v, "k"), in[int](t, v, "n"), in[float64](t, v, "level")
	nearInterval(t, "wilson", Wilson(k, n, level), want[[2]float64](t, v, "wilson"))
	nearInterval(t, "clopper-pearson", ClopperPearson(k, n, level), want[[2]float64](t, v, "clopper_pearson"))
	p := float64(k) / float64(n)
	half := NormalQuantile(0.975) * math.Sqrt(p*(1-p)/float64(n))
	near(t, "p", p, want[float64](t, v, "p"))
	near(t, "wald lo", p-half, want[[2]float64](t, v, "wald")[0])
	near(t, "wald hi", p+half, want[[2]float64](t, v, "wald")[1])
}

func checkPairedBinary(t *testing.T, v vector) {
	tab := Table{in[int](t, v, "both_pass"), in[int](t, v, "A_only"), in[int](t, v, "B_only"), in[int](t, v, "both_fail")}
	level := in[float64](t, v, "level")
	p := BinaryPaired(tab.N(), tab.AOnly, tab.BOnly)
	near(t, "theta", p.Mean, want[float64](t, v, "theta"))
	nearInterval(t, "tango", tab.Tango(level), want[[2]float64](t, v, "tango_score"))
	nearInterval(t, "newcombe", tab.Newcombe(level), want[[2]float64](t, v, "newcombe10"))
	near(t, "phi", tab.newcombePhi(), want[float64](t, v, "newcombe_phi"))
	// Wald's interval, which is a point without discordance.
	half, wald := zFor(level)*p.SE, want[[2]float64](t, v, "wald_z_ddof1")
	near(t, "wald lo", p.Mean-half, wald[0])
	near(t, "wald hi", p.Mean+half, wald[1])
}

func checkNoiseFloor(t *testing.T, v vector) {
	f, err := NewNoiseFloor(in[[]float64](t, v, "run1"), in[[]float64](t, v, "run2"), 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if f.Disagreements != want[int](t, v, "disagreements") || f.N != want[int](t, v, "n") || f.Drift {
		t.Errorf("floor %+v", f)
	}
	near(t, "rate", f.Rate, want[float64](t, v, "rate"))
	near(t, "delta", f.Paired.Mean, want[float64](t, v, "delta"))
	nearInterval(t, "wilson", f.Wilson, want[[2]float64](t, v, "wilson"))
	want[pairedExpected](t, v, "paired").check(t, f.Paired)
	want[mcnemarExpected](t, v, "mcnemar").check(t, *f.McNemar)
}

func checkExcess(t *testing.T, v vector) {
	e, err := ExcessDisagreement(in[[]float64](t, v, "baseline_run1"), in[[]float64](t, v, "baseline_run2"), in[[]float64](t, v, "candidate"))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "floor", e.FloorRate, want[float64](t, v, "floor_rate"))
	near(t, "candidate", e.CandidateRate, want[float64](t, v, "candidate_rate"))
	want[pairedExpected](t, v, "excess").check(t, e.Paired)
}

func checkStratified(t *testing.T, v vector) {
	type side struct{ A, B []float64 }
	strata := map[string]Paired{}
	expected := want[map[string]pairedExpected](t, v, "per_stratum")
	for name, s := range in[map[string]side](t, v, "strata") {
		strata[name] = PairedMean(differences(s.A, s.B))
		expected[name].check(t, strata[name])
	}
	w, err := StratifiedMean(strata, in[map[string]float64](t, v, "traffic_weights"), 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "delta", w.Delta, want[float64](t, v, "weighted_delta"))
	near(t, "se", w.SE, want[float64](t, v, "weighted_se"))
	nearInterval(t, "z", w.Z, want[[2]float64](t, v, "z_ci"))
}
