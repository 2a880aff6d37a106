package stats

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
)

type vector struct {
	Name, Kind       string
	Inputs, Expected map[string]json.RawMessage
}

func loadVectors(t *testing.T) []vector {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/vectors/stats.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Vectors
}

// in reads an input, want an expected value; a missing name fails the test, so
// that no check passes by reading nothing.
func in[T any](t *testing.T, v vector, name string) T {
	t.Helper()
	return decode[T](t, v.Inputs, name)
}

func want[T any](t *testing.T, v vector, name string) T {
	t.Helper()
	return decode[T](t, v.Expected, name)
}

func decode[T any](t *testing.T, from map[string]json.RawMessage, name string) T {
	t.Helper()
	var x T
	if err := json.Unmarshal(from[name], &x); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return x
}

const tolerance = 1e-11

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	nearTo(t, name, got, want, tolerance)
}

func nearTo(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(math.Abs(want), 1e-3)) {
		t.Errorf("%s = %.17g, want %.17g", name, got, want)
	}
}

func nearAll(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d values, want %d", name, len(got), len(want))
	}
	for i := range want {
		near(t, name+"["+strconv.Itoa(i)+"]", got[i], want[i])
	}
}

func nearInterval(t *testing.T, name string, got Interval, want [2]float64) {
	t.Helper()
	if !got.Defined {
		t.Errorf("%s is undefined (%s)", name, got.Reason)
		return
	}
	near(t, name+".lo", got.Lo, want[0])
	near(t, name+".hi", got.Hi, want[1])
}

func exact(t *testing.T, name string, got float64, hex string) {
	t.Helper()
	want, err := strconv.ParseFloat(hex, 64)
	if err != nil {
		t.Fatal(err)
	}
	if math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("%s = %x, want %s", name, got, hex)
	}
}

// vectorChecks has one entry per kind; a vector of another kind is an error.
var vectorChecks = map[string]func(*testing.T, vector){
	"rng_state":                  checkRNGState,
	"rng_integers":               checkIntegers,
	"rng_interleaved":            checkInterleaved,
	"paired_bootstrap_seed":      checkSeedBootstrap,
	"paired_bootstrap_generated": checkGeneratedBootstrap,
	"numpy_mean":                 checkNumPyMean,
	"percentile":                 checkPercentile,
	"paired_mean":                checkPairedMean,
	"unpaired_se":                checkUnpaired,
	"bca":                        checkBCa,
	"clustered_se":               checkClustered,
	"epochs":                     checkEpochs,
	"mcnemar":                    checkMcNemar,
	"wilson":                     checkWilson,
	"paired_binary_ci":           checkPairedBinary,
	"sample_size":                checkSampleSize,
	"mde":                        checkMDE,
	"power":                      checkPower,
	"power_exact":                checkPowerExact,
	"sample_size_ni":             checkSizeNI,
	"sample_size_miller":         checkSizeMiller,
	"noninferiority":             checkNonInferiority,
	"multiplicity":               checkMultiplicity,
	"noise_floor":                checkNoiseFloor,
	"noise_floor_vs_candidate":   checkExcess,
	"judge":                      checkJudge,
	"group_sequential":           checkSequential,
	"alpha_spending":             checkSpending,
	"evalue_binary":              checkEValue,
	"evalue_betting":             checkEProcess,
	"acs":                        checkSequence,
	"stratified":                 checkStratified,
}

func TestVectors(t *testing.T) {
	vectors := loadVectors(t)
	seen := map[string]bool{}
	for _, v := range vectors {
		seen[v.Kind] = true
		t.Run(v.Name, func(t *testing.T) {
			check := vectorChecks[v.Kind]
			if check == nil {
				t.Fatalf("no check for kind %q", v.Kind)
			}
			check(t, v)
		})
	}
	for kind := range vectorChecks {
		if !seen[kind] {
			t.Errorf("no vector of kind %q", kind)
		}
	}
}

func checkRNGState(t *testing.T, v vector) {
	seed, ok := new(big.Int).SetString(in[string](t, v, "seed"), 10)
	if !ok {
		t.Fatal("seed")
	}
	seq := BigSeedSequence(seed)
	if pool := want[[4]uint32](t, v, "pool_u32"); seq.pool != pool {
		t.Errorf("pool = %v, want %v", seq.pool, pool)
	}
	if small := NewSeedSequence(seed.Uint64()); small != seq {
		t.Errorf("64-bit seed gives %v, big seed %v", small, seq)
	}
	g := NewPCG64(seq)
	join := func(hi, lo uint64) string {
		x := new(big.Int).SetUint64(hi)
		return x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(lo)).String()
	}
	for name, got := range map[string]string{"pcg_state": join(g.hi, g.lo), "pcg_inc": join(g.incHi, g.incLo)} {
		if w := want[string](t, v, name); got != w {
			t.Errorf("%s = %s, want %s", name, got, w)
		}
	}
	state := seq.State()
	for i, w := range want[[4]string](t, v, "generate_state_4_u64") {
		if got := strconv.FormatUint(state[i], 10); got != w {
			t.Errorf("state[%d] = %s, want %s", i, got, w)
		}
	}
	for i, w := range want[[4]string](t, v, "first_4_next64") {
		if got := strconv.FormatUint(g.Uint64(), 10); got != w {
			t.Errorf("next64[%d] = %s, want %s", i, got, w)
		}
	}
}

func checkIntegers(t *testing.T, v vector) {
	n, err := strconv.ParseUint(in[string](t, v, "high_exclusive"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	seed := in[uint64](t, v, "seed")
	g, rows := NewPCG64(NewSeedSequence(seed)), NewPCG64(NewSeedSequence(seed))
	values := want[[]string](t, v, "values")
	idx := make([]uint32, len(values))
	if n <= math.MaxUint32 {
		rows.fillIndices(idx, uint32(n))
	}
	for i, w := range values {
		got := g.Uint64N(n)
		if strconv.FormatUint(got, 10) != w {
			t.Errorf("values[%d] = %d, want %s", i, got, w)
		}
		if n <= math.MaxUint32 && uint64(idx[i]) != got {
			t.Errorf("row[%d] = %d, want %s", i, idx[i], w)
		}
	}
}

func checkInterleaved(t *testing.T, v vector) {
	g := NewPCG64(NewSeedSequence(in[uint64](t, v, "seed")))
	results := want[[]json.RawMessage](t, v, "results")
	integers := func(at int, n uint64) {
		var ws []uint64
		if err := json.Unmarshal(results[at], &ws); err != nil {
			t.Fatal(err)
		}
		for i, w := range ws {
			if got := g.Uint64N(n); got != w {
				t.Errorf("call %d draw %d = %d, want %d", at, i, got, w)
			}
		}
	}
	integers(0, 10)
	integers(1, 1000)
	if got := strconv.FormatFloat(g.Float64(), 'g', -1, 64); got != string(results[2]) {
		t.Errorf("random() = %s, want %s", got, results[2])
	}
	integers(3, 10)
}

func checkSeedBootstrap(t *testing.T, v vector) {
	ids, a, b := in[[]string](t, v, "ids"), in[[]float64](t, v, "a"), in[[]float64](t, v, "b")
	var pairs []Pair
	for i := range ids {
		pairs = append([]Pair{{ID: ids[i], A: a[i], B: b[i]}}, pairs...)
	}
	opt := Options{Interval: MethodBootstrap, Resamples: in[int](t, v, "n_boot"), Seed: in[uint64](t, v, "seed")}
	res, err := Compare(pairs, opt)
	if err != nil {
		t.Fatal(err)
	}
	exact(t, "delta", *res.Overall.Delta, want[string](t, v, "delta_hex"))
	exact(t, "lo", *res.Overall.Lo, want[string](t, v, "lo_hex"))
	exact(t, "hi", *res.Overall.Hi, want[string](t, v, "hi_hex"))
	if res.Overall.N != want[int](t, v, "n") || res.Overall.Generator != AlgorithmNumPy {
		t.Errorf("n %d, generator %s", res.Overall.N, res.Overall.Generator)
	}
	r, err := Bootstrap(differences(a, b), BootstrapOptions{Resamples: opt.Resamples, Seed: opt.Seed})
	if err != nil {
		t.Fatal(err)
	}
	for i, hex := range want[[]string](t, v, "first_5_means_hex") {
		exact(t, "mean", r.Means[i], hex)
	}
	exact(t, "last mean", r.Means[len(r.Means)-1], want[string](t, v, "last_mean_hex"))
	near(t, "sum of means", Sum(r.Means), want[float64](t, v, "sum_of_means"))
}

func checkGeneratedBootstrap(t *testing.T, v vector) {
	r, err := Bootstrap(fractional(in[int](t, v, "n")), BootstrapOptions{
		Resamples: in[int](t, v, "n_boot"), Seed: in[uint64](t, v, "seed")})
	if err != nil {
		t.Fatal(err)
	}
	exact(t, "delta", r.Delta, want[string](t, v, "delta_hex"))
	exact(t, "lo", r.Interval.Lo, want[string](t, v, "lo_hex"))
	exact(t, "hi", r.Interval.Hi, want[string](t, v, "hi_hex"))
	for i, hex := range want[[]string](t, v, "first_3_means_hex") {
		exact(t, "mean", r.Means[i], hex)
	}
}

func checkNumPyMean(t *testing.T, v vector) {
	x := make([]float64, in[int](t, v, "n"))
	idx := make([]uint32, len(x))
	// numpy computes 10**k in float64, so the negative powers are pow(), not
	// quotients; both round to the same here.
	powers := []float64{0.01, 0.1, 1, 10, 100}
	for i := range x {
		x[i] = math.Mod(float64(i+1)*0.6180339887498949, 1) * powers[i%5]
		idx[i] = uint32(i)
	}
	exact(t, "sum", Sum(x), want[string](t, v, "sum_hex"))
	exact(t, "indexed sum", sumIndexed(x, idx), want[string](t, v, "sum_hex"))
	exact(t, "mean", Mean(x), want[string](t, v, "mean_hex"))
}

func checkPercentile(t *testing.T, v vector) {
	x := in[[]float64](t, v, "x")
	sorted := append([]float64{}, x...)
	for i := range sorted {
		for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	for i, q := range in[[]float64](t, v, "q") {
		exact(t, "percentile", percentileSorted(sorted, q), want[[]string](t, v, "hex")[i])
	}
}

func checkJudge(t *testing.T, v vector) {
	j, err := CalibrateJudge(in[[]float64](t, v, "human_labels"), in[[]float64](t, v, "judge_on_labelled"), in[[]float64](t, v, "judge_on_unlabelled"))
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]float64{
		"agreement": j.Agreement, "cohen_kappa": *j.Kappa, "sensitivity_q1": *j.Sensitivity,
		"specificity_q0": *j.Specificity, "naive_judge_mean_unlabelled": j.Naive,
		"rogan_gladen": j.RoganGladen.Value, "rogan_gladen_se_delta_method": j.RoganGladen.SE,
		"ppi": j.PPI.Value, "ppi_se": j.PPI.SE, "ppi_pp_lambda": j.Lambda,
		"ppi_pp": j.PPIPlus.Value, "ppi_pp_se": j.PPIPlus.SE,
		"human_only_mean": j.HumanOnly.Value, "human_only_se": j.HumanOnly.SE,
	} {
		near(t, name, got, want[float64](t, v, name))
	}
	nearInterval(t, "ppi", j.PPI.Interval(0.95), want[[2]float64](t, v, "ppi_ci_z"))
}

// repeated expands the notation "[...] repeated K times" of one input.
func repeated(t *testing.T, text string) []float64 {
	t.Helper()
	list, rest, found := strings.Cut(text, " repeated ")
	var once, all []float64
	if err := json.Unmarshal([]byte(list), &once); err != nil || !found {
		t.Fatalf("%q: %v", text, err)
	}
	times, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	for range times {
		all = append(all, once...)
	}
	return all
}
