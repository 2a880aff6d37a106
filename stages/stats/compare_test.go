package stats

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite testdata/compare.golden.json")

func mustCompare(t testing.TB, pairs []Pair, opt Options) Result {
	t.Helper()
	res, err := Compare(pairs, opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// tablePairs makes n items of which only A passes b and only B passes c.
func tablePairs(n, b, c int) []Pair {
	var pairs []Pair
	for i := range n {
		p := Pair{ID: "item-" + strconv.Itoa(i), A: 1, B: 1}
		if i < b {
			p.B = 0
		} else if i < b+c {
			p.A = 0
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// goldenPairs mixes what a comparison can meet: strata, clusters, fractional
// and 0/1 scores.
func goldenPairs() []Pair {
	var pairs []Pair
	for i := range 240 {
		p := Pair{ID: strconv.Itoa(i), A: 1, B: 1, Strata: map[string]string{"task": "binary"}}
		switch {
		case i%3 == 1:
			p.Strata["task"] = "fractional"
			p.A, p.B = float64(i%7)/7, float64(i*5%11)/11
		case i%3 == 2:
			p.Strata["task"] = "clustered"
			p.Cluster = strconv.Itoa(i / 12)
			p.B = indicator(i/12%5 != 0)
		case i%30 == 0:
			p.B = 0
		case i%33 == 0:
			p.A = 0
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// The golden file holds every number to the last bit; it must not change with
// the architecture or with the number of CPUs.
func TestCompareGolden(t *testing.T) {
	opt := Options{By: "task", Resamples: 2000, Seed: 3, Weights: map[string]float64{"binary": 2, "fractional": 1, "clustered": 1}}
	got, err := json.MarshalIndent(mustCompare(t, goldenPairs(), opt), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/compare.golden.json"
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Errorf("result changed (-want +got):\n%s", diff)
	}
}

// drawPairs draws scores that are 0/1, few-valued or any, with and without
// clusters and strata.
func drawPairs(t *rapid.T) []Pair {
	score := rapid.SampledFrom([]*rapid.Generator[float64]{
		rapid.SampledFrom([]float64{0, 1}), rapid.SampledFrom([]float64{0, 0.25, 1}),
		rapid.Float64Range(0, 1), rapid.Float64Range(-scoreLimit, scoreLimit),
	}).Draw(t, "kind")
	cluster := rapid.SampledFrom([]*rapid.Generator[string]{
		rapid.Just(""), rapid.Just("all"), rapid.SampledFrom([]string{"", "a", "b", "c"}),
	}).Draw(t, "clusters")
	n := rapid.IntRange(0, 150).Draw(t, "n")
	var pairs []Pair
	for i := range n {
		p := Pair{ID: strconv.Itoa(i), A: score.Draw(t, "a"), B: score.Draw(t, "b"), Cluster: cluster.Draw(t, "cluster")}
		if s := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "stratum"); s != "" {
			p.Strata = map[string]string{"s": s}
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// Marshalling fails on NaN and infinities, so this also shows that none leave.
func TestCompareProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pairs := drawPairs(t)
		opt := Options{
			Interval:  rapid.SampledFrom([]string{"auto", "bootstrap", "tango", "t", "bca"}).Draw(t, "interval"),
			Generator: rapid.SampledFrom([]string{"", "fast", "numpy"}).Draw(t, "generator"),
			By:        rapid.SampledFrom([]string{"", "s"}).Draw(t, "by"),
			Resamples: 64,
		}
		res, err := Compare(pairs, opt)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		shuffled := rapid.Permutation(pairs).Draw(t, "order")
		again, err := Compare(shuffled, opt)
		if diff := cmp.Diff(res, again); err != nil || diff != "" {
			t.Fatalf("order matters: %v\n%s", err, diff)
		}
		var back Result
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(res, back); diff != "" {
			t.Fatalf("JSON loses something:\n%s", diff)
		}
		for _, s := range append(slices.Collect(valuesOf(res.Strata)), res.Overall) {
			checkSummary(t, s)
		}
	})
}

func valuesOf(m map[string]Summary) func(func(Summary) bool) {
	return func(yield func(Summary) bool) {
		for _, s := range m {
			if !yield(s) {
				return
			}
		}
	}
}

func checkSummary(t *rapid.T, s Summary) {
	if (s.Lo == nil) != (s.Reason != "") || (s.Lo == nil) != (s.Hi == nil) {
		t.Fatalf("limits and reason disagree: %+v", s)
	}
	if s.Lo != nil && *s.Lo > *s.Hi {
		t.Fatalf("limits are reversed: %v, %v", *s.Lo, *s.Hi)
	}
	if (s.MDE80 == nil) != (s.MDE80Reason != "") || (s.McNemar.Exact == nil) != (s.McNemar.Reason != "") {
		t.Fatalf("a null without a reason: %+v", s)
	}
	if s.Choice == "auto" && s.Lo != nil && *s.Lo == *s.Hi {
		t.Fatalf("auto gives a point: %+v", s)
	}
}

func TestCompareSwapMirrors(t *testing.T) {
	pairs := tablePairs(120, 14, 5)
	swapped := make([]Pair, len(pairs))
	for i, p := range pairs {
		p.A, p.B = p.B, p.A
		swapped[i] = p
	}
	x, y := mustCompare(t, pairs, Options{}).Overall, mustCompare(t, swapped, Options{}).Overall
	for name, iv := range map[string][2]Interval{
		"tango": {x.Intervals.Tango, y.Intervals.Tango}, "t": {x.Intervals.T, y.Intervals.T},
		"auto": {x.Interval(), y.Interval()},
	} {
		if iv[0].Lo != -iv[1].Hi || iv[0].Hi != -iv[1].Lo {
			t.Errorf("%s: %+v and %+v", name, iv[0], iv[1])
		}
	}
	if *x.McNemar.Exact != *y.McNemar.Exact || x.Discordant.B != y.Discordant.C {
		t.Errorf("%+v and %+v", x, y)
	}
}

func codes(ws []Warning) (out []string) {
	for _, w := range ws {
		out = append(out, w.Code)
	}
	return out
}

func TestCompareWarnings(t *testing.T) {
	clustered := tablePairs(120, 14, 5)
	for i := range clustered {
		clustered[i].Cluster = strconv.Itoa(i / 6)
	}
	labelled := tablePairs(120, 14, 5)
	labelled[0].Strata = map[string]string{"task": "x"}
	for i, c := range []struct {
		pairs []Pair
		opt   Options
		want  []string
	}{
		{tablePairs(20, 3, 1), Options{}, nil},
		{tablePairs(20, 3, 1), Options{Interval: "bootstrap"}, []string{WarnSmallSample, WarnFewDifferences}},
		{tablePairs(500, 0, 0), Options{Interval: "bootstrap"}, []string{WarnFewDifferences}},
		{tablePairs(500, 0, 0), Options{Interval: "bca"}, nil},
		{tablePairs(120, 14, 5), Options{Interval: "bca", Resamples: 999}, []string{WarnFewResamples}},
		{tablePairs(120, 14, 5), Options{Interval: "t", Resamples: 10}, nil},
		{clustered, Options{Interval: "tango"}, []string{WarnClustersIgnored}},
		{clustered, Options{Interval: "bootstrap"}, []string{WarnFewClusters}},
		{labelled, Options{By: "task"}, []string{WarnUnlabelledItems}},
		{labelled, Options{By: "task", Weights: map[string]float64{"y": 1}}, []string{WarnUnlabelledItems, WarnWeightsDontMatch}},
	} {
		res := mustCompare(t, c.pairs, c.opt)
		if got := codes(res.Warnings); !slices.Equal(got, c.want) {
			t.Errorf("case %d: warnings %v, want %v", i, got, c.want)
		}
		for _, w := range res.Warnings {
			if w.Message == "" || !slices.ContainsFunc(Warnings, func(row struct{ Code, Sentence string }) bool { return row.Code == w.Code }) {
				t.Errorf("case %d: warning %+v has no sentence or no row", i, w)
			}
		}
	}
}

func TestCompareMethods(t *testing.T) {
	clustered := tablePairs(400, 40, 5)
	for i := range clustered {
		clustered[i].Cluster = strconv.Itoa(i % 100)
	}
	for i, c := range []struct {
		pairs             []Pair
		interval          string
		method, generator string
		reason            Reason
	}{
		{tablePairs(30, 2, 1), "", MethodTango, AlgorithmFast, ""},
		{tablePairs(30, 2, 1), "bootstrap", MethodBootstrap, AlgorithmNumPy, ""},
		{tablePairs(30, 0, 0), "t", MethodT, AlgorithmFast, ReasonZeroVariance},
		{clustered, "", MethodClusteredBounded, AlgorithmFast, ""},
		{clustered, "t", MethodClustered, AlgorithmFast, ""},
		{clustered, "bootstrap", MethodClusterBootstrap, AlgorithmNumPy, ""},
		{nil, "", MethodAuto, AlgorithmFast, ReasonNoItems},
		{[]Pair{{ID: "a", A: 0.5, B: 1}}, "tango", MethodTango, AlgorithmFast, ReasonNotBinary},
	} {
		s := mustCompare(t, c.pairs, Options{Interval: c.interval}).Overall
		if s.Method != c.method || s.Generator != c.generator || s.Reason != c.reason {
			t.Errorf("case %d: method %s, generator %s, reason %q", i, s.Method, s.Generator, s.Reason)
		}
	}
}

func TestCompareRegressions(t *testing.T) {
	pairs := append(tablePairs(100, 0, 0), tablePairs(100, 14, 2)...)
	for i := range pairs {
		name := "same"
		if i >= 100 {
			name = "worse"
		}
		pairs[i].ID += name
		pairs[i].Strata = map[string]string{"task": name}
	}
	res := mustCompare(t, pairs, Options{By: "task"})
	worse, same := res.Strata["worse"].Regression, res.Strata["same"].Regression
	if !worse.Flagged || worse.PHolm != 2*worse.P || same.Flagged || same.PHolm != 1 {
		t.Errorf("worse %+v, same %+v", worse, same)
	}
	near(t, "p", worse.P, McNemarTest(14, 2).Worse)
}

func TestCompareRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		pairs []Pair
		opt   Options
	}{
		`item "a" occurs twice`:                {[]Pair{{ID: "a"}, {ID: "b"}, {ID: "a"}}, Options{}},
		`item "b" has score NaN`:               {[]Pair{{ID: "a"}, {ID: "b", B: math.NaN()}}, Options{}},
		`item "a" has score +Inf`:              {[]Pair{{ID: "a", A: math.Inf(1)}}, Options{}},
		`unknown interval "wald"`:              {nil, Options{Interval: "wald"}},
		`unknown generator "mt"`:               {nil, Options{Generator: "mt"}},
		`weights are given without`:            {nil, Options{Weights: map[string]float64{"x": 1}}},
		`confidence is 95; give a number`:      {nil, Options{Confidence: 95}},
		`resamples is -5; give a positive num`: {nil, Options{Resamples: -5}},
	} {
		if _, err := Compare(c.pairs, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	pairs := tablePairs(2000, 120, 90)
	for b.Loop() {
		mustCompare(b, pairs, Options{})
	}
}
