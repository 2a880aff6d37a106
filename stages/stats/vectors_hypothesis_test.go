package stats

import (
	"math"
	"strconv"
	"testing"
)

type mcnemarExpected struct {
	Discordant int      `json:"n_discordant"`
	Exact      float64  `json:"p_exact_two_sided"`
	Worse      float64  `json:"p_exact_one_sided_b_greater"`
	MidP       float64  `json:"p_mid_two_sided"`
	Chi2       *float64 `json:"chi2_no_cc"`
	PChi2      *float64 `json:"p_chi2_no_cc"`
	Edwards    *float64 `json:"chi2_edwards_cc"`
	PEdwards   *float64 `json:"p_chi2_edwards_cc"`
}

func (w mcnemarExpected) check(t *testing.T, got McNemar) {
	t.Helper()
	if got.Discordant != w.Discordant {
		t.Errorf("discordant = %d, want %d", got.Discordant, w.Discordant)
	}
	near(t, "exact", got.Exact, w.Exact)
	near(t, "worse", got.Worse, w.Worse)
	near(t, "mid-p", got.MidP, w.MidP)
	if (got.ChiSquare == nil) != (w.Chi2 == nil) || (got.Edwards == nil) != (w.Edwards == nil) {
		t.Fatalf("chi-square present: %v, want %v", got.ChiSquare != nil, w.Chi2 != nil)
	}
	if w.Chi2 != nil {
		near(t, "chi2", got.ChiSquare.Statistic, *w.Chi2)
		near(t, "chi2 p", got.ChiSquare.P, *w.PChi2)
		near(t, "edwards", got.Edwards.Statistic, *w.Edwards)
		near(t, "edwards p", got.Edwards.P, *w.PEdwards)
	}
}

func checkMcNemar(t *testing.T, v vector) {
	w := mcnemarExpected{
		Discordant: want[int](t, v, "n_discordant"),
		Exact:      want[float64](t, v, "p_exact_two_sided"),
		Worse:      want[float64](t, v, "p_exact_one_sided_b_greater"),
		MidP:       want[float64](t, v, "p_mid_two_sided"),
	}
	for name, at := range map[string]**float64{"chi2_no_cc": &w.Chi2, "p_chi2_no_cc": &w.PChi2, "chi2_edwards_cc": &w.Edwards, "p_chi2_edwards_cc": &w.PEdwards} {
		if _, ok := v.Expected[name]; ok {
			x := want[float64](t, v, name)
			*at = &x
		}
	}
	w.check(t, McNemarTest(in[int](t, v, "b_A1B0"), in[int](t, v, "c_A0B1")))
}

func checkSampleSize(t *testing.T, v vector) {
	d := Design{Disagree: in[float64](t, v, "p_disagree"), Delta: in[float64](t, v, "delta")}
	if _, rounded := v.Inputs["z_alpha"]; rounded {
		s := SizeFromQuantiles(in[float64](t, v, "z_alpha"), in[float64](t, v, "z_beta"), d.Disagree, d.Delta)
		near(t, "raw", s.Raw, want[float64](t, v, "n_raw"))
		if s.Items != want[int](t, v, "n_ceil") {
			t.Errorf("items = %d", s.Items)
		}
		return
	}
	d.Alpha, d.Power = in[float64](t, v, "alpha_two_sided"), in[float64](t, v, "power")
	s, err := d.SizePaired()
	if err != nil {
		t.Fatal(err)
	}
	near(t, "raw", s.Raw, want[float64](t, v, "n_raw_var_pd"))
	if s.Items != want[int](t, v, "n_ceil_var_pd") {
		t.Errorf("items = %d", s.Items)
	}
}

func checkMDE(t *testing.T, v vector) {
	pd, alpha, power := in[float64](t, v, "p_disagree"), in[float64](t, v, "alpha_two_sided"), in[float64](t, v, "power")
	var mde, half []float64
	for _, n := range in[[]int](t, v, "n") {
		mde = append(mde, MDE(math.Sqrt(pd), n, alpha, power))
		half = append(half, MDE(math.Sqrt(pd), n, alpha, 0.5))
	}
	nearAll(t, "mde", mde, want[[]float64](t, v, "mde"))
	nearAll(t, "half width", half, want[[]float64](t, v, "half_width_95"))
}

func checkPower(t *testing.T, v vector) {
	checkPowerOf(t, v, Design.PowerNormal, "power_normal_var_pd_both_tails")
}

func checkPowerExact(t *testing.T, v vector) { checkPowerOf(t, v, Design.PowerExact, "power") }

func checkPowerOf(t *testing.T, v vector, of func(Design, int) (float64, error), name string) {
	d := Design{Disagree: in[float64](t, v, "p_disagree"), Delta: in[float64](t, v, "delta"), Alpha: in[float64](t, v, "alpha_two_sided")}
	var got []float64
	for _, n := range in[[]int](t, v, "n") {
		p, err := of(d, n)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p)
	}
	nearAll(t, name, got, want[[]float64](t, v, name))
}

func checkSizeNI(t *testing.T, v vector) {
	for i, pd := range in[[]float64](t, v, "p_disagree") {
		s, err := SizeNonInferior(pd, in[float64](t, v, "margin"), in[float64](t, v, "true_delta"), in[float64](t, v, "alpha_one_sided"), in[float64](t, v, "power"))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "raw", s.Raw, want[[]float64](t, v, "n_raw")[i])
		if s.Items != want[[]int](t, v, "n_ceil")[i] {
			t.Errorf("items = %d", s.Items)
		}
	}
}

func checkSizeMiller(t *testing.T, v vector) {
	m := MillerDesign{in[float64](t, v, "omega2_var_of_conditional_mean_diff"), in[float64](t, v, "sigma2_A"), in[float64](t, v, "sigma2_B"), in[int](t, v, "K_A"), in[int](t, v, "K_B")}
	s, err := m.Size(in[float64](t, v, "delta"), in[float64](t, v, "alpha_two_sided"), in[float64](t, v, "power"))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "raw", s.Raw, want[float64](t, v, "n_raw"))
	if s.Items != want[int](t, v, "n_ceil") {
		t.Errorf("items = %d", s.Items)
	}
}

func checkNonInferiority(t *testing.T, v vector) {
	p := BinaryPaired(in[int](t, v, "n"), in[int](t, v, "A_only"), in[int](t, v, "B_only"))
	got, ok := NonInferior(p, in[float64](t, v, "margin"), in[float64](t, v, "alpha_one_sided"), 0.05)
	if !ok {
		t.Fatal("not defined")
	}
	near(t, "mean", got.Mean, want[float64](t, v, "mean"))
	near(t, "se", got.SE, want[float64](t, v, "se"))
	nearInterval(t, "95", got.Interval, [2]float64{want[float64](t, v, "lo95"), want[float64](t, v, "hi95")})
	near(t, "z", got.Z, want[float64](t, v, "z_ni"))
	nearTo(t, "p", got.P*1e3, want[float64](t, v, "p_ni_one_sided")*1e3, tolerance)
	nearInterval(t, "tost", got.TOST, want[[2]float64](t, v, "tost_90ci"))
	nearTo(t, "tost p", got.TOSTP*1e3, want[float64](t, v, "tost_p")*1e3, tolerance)
	if got.Pass != want[bool](t, v, "pass") || got.Equivalent != want[bool](t, v, "equivalent_at_0.02") {
		t.Errorf("pass %v, equivalent %v", got.Pass, got.Equivalent)
	}
}

func checkMultiplicity(t *testing.T, v vector) {
	p := in[[]float64](t, v, "p")
	nearAll(t, "holm", Holm(p), want[[]float64](t, v, "holm"))
	nearAll(t, "bh", BenjaminiHochberg(p), want[[]float64](t, v, "bh"))
	nearAll(t, "bonferroni", Bonferroni(p), want[[]float64](t, v, "bonferroni"))
}

func checkSequential(t *testing.T, v vector) {
	alpha := in[float64](t, v, "alpha_two_sided")
	for i, k := range in[[]int](t, v, "K") {
		pocock, err1 := Pocock(k, alpha)
		obf, err2 := OBrienFleming(k, alpha)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		nearTo(t, "pocock", pocock, want[[]float64](t, v, "pocock_c")[i], 1e-10)
		nearTo(t, "obrien-fleming", obf, want[[]float64](t, v, "obrien_fleming_c_at_final")[i], 1e-10)
	}
	bounds, err := OBrienFlemingBounds(5, alpha)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want[[]float64](t, v, "obf_z_boundaries_K5") {
		nearTo(t, "bound", bounds[i], w, 1e-10)
	}
}

func checkSpending(t *testing.T, v vector) {
	alpha := in[float64](t, v, "alpha")
	for i, frac := range in[[]float64](t, v, "t") {
		nearTo(t, "obf", SpendOBrienFleming(alpha, frac)*1e3, want[[]float64](t, v, "lan_demets_obf")[i]*1e3, tolerance)
		near(t, "pocock", SpendPocock(alpha, frac), want[[]float64](t, v, "lan_demets_pocock")[i])
	}
}

func checkEValue(t *testing.T, v vector) {
	var uniform, jeffreys []float64
	for _, bc := range in[[][2]int](t, v, "pairs") {
		uniform = append(uniform, EValueDiscordant(bc[0], bc[1], 1))
		jeffreys = append(jeffreys, EValueDiscordant(bc[0], bc[1], 0.5))
	}
	nearAll(t, "uniform", uniform, want[[]float64](t, v, "e"))
	nearAll(t, "jeffreys", jeffreys, want[[]float64](t, v, "e_jeffreys_Beta_half_half"))
}

func checkEProcess(t *testing.T, v vector) {
	e, err := NewEProcess(in[float64](t, v, "margin"), in[[]float64](t, v, "lambda_grid"))
	if err != nil {
		t.Fatal(err)
	}
	at, first := want[map[string]float64](t, v, "e_at"), 0
	for i, d := range repeated(t, in[string](t, v, "d")) {
		wealth, err := e.Add(d)
		if err != nil {
			t.Fatal(err)
		}
		if wealth >= 20 && first == 0 {
			first = i + 1
		}
		if w, ok := at[strconv.Itoa(i+1)]; ok {
			near(t, "wealth", wealth, w)
			delete(at, strconv.Itoa(i+1))
		}
	}
	if first != want[int](t, v, "first_n_with_e_ge_20") || len(at) > 0 {
		t.Errorf("first at %d; unchecked %v", first, at)
	}
}

func checkSequence(t *testing.T, v vector) {
	sd, alpha := in[float64](t, v, "sd"), in[float64](t, v, "alpha")
	rho := SequenceRho(in[int](t, v, "optimised_for_n"), alpha)
	near(t, "rho", rho, want[float64](t, v, "rho"))
	var half, fixed []float64
	for _, n := range in[[]int](t, v, "n") {
		half = append(half, SequenceHalfWidth(sd, n, rho, alpha))
		fixed = append(fixed, MDE(sd, n, alpha, 0.5))
	}
	nearAll(t, "half width", half, want[[]float64](t, v, "half_width"))
	nearAll(t, "fixed", fixed, want[[]float64](t, v, "fixed_n_half_width"))
}
