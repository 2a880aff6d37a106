package guard

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type bounds struct {
	Lo *float64 `cel:"lo" interval:"lo"`
	Hi *float64 `cel:"hi" interval:"hi"`
}

type side struct {
	Mean float64 `cel:"mean"`
	TTFT latency `cel:"ttft_ms"`
	Name string  `cel:"name"`
	OK   bool    `cel:"ok"`
}

type latency struct {
	P50 *float64 `cel:"p50"`
	P95 *float64 `cel:"p95"`
}

type facts struct {
	Lo        *float64 `cel:"lo" interval:"lo"`
	Hi        *float64 `cel:"hi" interval:"hi"`
	Delta     *float64 `cel:"delta" interval:"point"`
	N         float64  `cel:"n"`
	Boot      *bounds  `cel:"boot"`
	Candidate side     `cel:"candidate"`
	Baseline  *side    `cel:"baseline"`
}

func f(x float64) *float64 { return &x }

func testEnv(t testing.TB) *Env {
	t.Helper()
	env, err := New(facts{})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func full(lo, hi float64) facts {
	s := side{Mean: 0.8, TTFT: latency{f(100), f(200)}, Name: "fp8", OK: true}
	b := s
	return facts{Lo: f(lo), Hi: f(hi), Delta: f((lo + hi) / 2), N: 500, Boot: &bounds{f(lo), f(hi)}, Candidate: s, Baseline: &b}
}

func TestCompileRefuses(t *testing.T) {
	env := testEnv(t)
	for _, tt := range []struct {
		rule      string
		offset    int
		msg, hint string
	}{
		{"", 0, "the rule is empty", ""},
		{"lwo > -0.02", 0, "there is no value named lwo", "did you mean lo?"},
		{"candidate.ttft_ms.p59 < 1.0", 17, "there is no field p59 in candidate.ttft_ms", "did you mean candidate.ttft_ms.p50?"},
		{"ttft_ms.p95 < 1.0", 0, "there is no value named ttft_ms", "did you mean candidate.ttft_ms?"},
		{"lo > -0.02 &&\n  candidate.latency < 1.0", 25, "there is no field latency in candidate", "there are: mean, ttft_ms, name, ok"},
		{"'é' != '' && lwo > 0.0", 14, "there is no value named lwo", "did you mean lo?"},
		{"lo", 0, "the rule gives double", "true or false"},
		{"2 * lo > 0.0", 2, "* cannot be used on (int, double)", "2.0 for 2"},
		{"lo > 'a'", 3, "> cannot be used on (double, string)", ""},
		{"lo >", 4, "syntax error", ""},
		{"true", 0, "names no value", ""},
		{"1 < 2", 2, "names no value", ""},
		{"lo > 1/50", 6, "1/50 is 0", "1.0/50.0"},
		{"candidate == baseline", 0, "candidate is a group", "candidate.mean"},
		{"[candidate].all(c, c.mean > 0.0)", 1, "candidate is a group", ""},
		{"dyn(lo) > 0.0", 3, "no type that could be checked", ""},
		{"has(candidate.mean) && lo > 0.0", 3, "has() says nothing", ""},
		{"[lo].all(hi, hi > 0.0)", 8, "hides the value", ""},
		{"[lo, hi].all(x, 1.0 / x > 0.0)", 12, "only comparisons", ""},
		{"[lo].all(x, [hi].exists(y, x > y))", 8, "loop inside", ""},
		{"guard.bounds{lo: 1.0}.lo > lo", 12, "make values", ""},
		{strings.Repeat("(", 200) + "lo > 0.0" + strings.Repeat(")", 200), 0, "", ""},
		{"lo > 0.0" + strings.Repeat(" || lo > 0.0", 2000), 0, "", ""},
	} {
		t.Run(tt.rule[:min(len(tt.rule), 40)], func(t *testing.T) {
			_, err := env.Compile(tt.rule)
			var ce *CompileError
			if !errors.As(err, &ce) {
				t.Fatalf("error = %v, want a CompileError", err)
			}
			p := ce.Problems[0]
			if !strings.Contains(p.Msg, tt.msg) || !strings.Contains(p.Hint, tt.hint) {
				t.Errorf("message %q, hint %q; want %q, %q", p.Msg, p.Hint, tt.msg, tt.hint)
			}
			if tt.msg != "" && p.Offset != tt.offset {
				t.Errorf("offset = %d (%s), want %d", p.Offset, ce.Caret(p), tt.offset)
			}
		})
	}
}

func TestAllProblemsAreReported(t *testing.T) {
	_, err := testEnv(t).Compile("lwo > 0.0 && hii > 0.0\n&& candidate.mena > 0.0")
	var ce *CompileError
	if !errors.As(err, &ce) || len(ce.Problems) != 3 {
		t.Fatalf("error = %v, want three problems", err)
	}
	if got, want := ce.Error(), "rule:1:1: there is no value named lwo; did you mean lo? (and 2 more)"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if got, want := ce.Caret(ce.Problems[2]), "&& candidate.mena > 0.0\n            ^"; got != want {
		t.Errorf("Caret() =\n%s\nwant\n%s", got, want)
	}
}

func TestClauses(t *testing.T) {
	p, err := testEnv(t).Compile("lo > -0.02 && (candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95 || !(boot.hi > 0.05 && lo < 1)) && [n].all(x, x > 3)")
	if err != nil {
		t.Fatal(err)
	}
	want := []Clause{
		{"lo > -0.02", []string{"lo"}, []string{"lo"}},
		{"candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95", []string{"candidate", "baseline"}, []string{"candidate.ttft_ms.p95", "baseline.ttft_ms.p95"}},
		{"!(boot.hi > 0.05 && lo < 1)", []string{"boot", "lo"}, []string{"boot.hi", "lo"}}, {"[n].all(x, x > 3)", []string{"n"}, []string{"n"}},
	}
	if diff := cmp.Diff(want, p.Clauses()); diff != "" {
		t.Error(diff)
	}
}

func TestPathsVarsBounds(t *testing.T) {
	p, err := testEnv(t).Compile("lo > -0.02 && candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95 && 0.05 >= boot.hi && lo < 1 && [n].all(x, x > 3)")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lo", "candidate.ttft_ms.p95", "baseline.ttft_ms.p95", "boot.hi", "n"}, p.Paths()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"lo", "candidate", "baseline", "boot", "n"}, p.Vars()); diff != "" {
		t.Error(diff)
	}
	want := []Bound{{"lo", ">", -0.02}, {"boot.hi", "<=", 0.05}, {"lo", "<", 1}}
	if diff := cmp.Diff(want, p.Bounds()); diff != "" {
		t.Error(diff)
	}
}

func TestEvalExplains(t *testing.T) {
	p, err := testEnv(t).Compile("lo > -0.02 ||\n  candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95")
	if err != nil {
		t.Fatal(err)
	}
	res := p.Eval(full(-0.0093, 0.01), nil)
	if !res.Holds() {
		t.Fatalf("%+v", res)
	}
	if want := "lo > -0.02 || candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95   (lo = -0.0093, candidate.ttft_ms.p95 = 200, baseline.ttft_ms.p95 = 200)"; res.Explain != want {
		t.Errorf("Explain = %q\nwant      %q", res.Explain, want)
	}
	limit := 1.1
	want := map[string]any{
		"lo": -0.0093, "lo > -0.02": true, "candidate.ttft_ms.p95": 200.0, "baseline.ttft_ms.p95": 200.0,
		"1.1 * baseline.ttft_ms.p95":                                        limit * 200,
		"candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95":               true,
		"lo > -0.02 || candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95": true,
	}
	if diff := cmp.Diff(want, res.Values); diff != "" {
		t.Error(diff)
	}
}

func TestAbsentIsUndetermined(t *testing.T) {
	env := testEnv(t)
	absent := full(0, 0)
	absent.Lo, absent.Boot, absent.N = nil, nil, math.NaN()
	absent.Candidate.TTFT.P95 = f(math.Inf(1))
	why := map[string]string{"lo": "zero-variance", "boot": "no-bootstrap"}
	for rule, want := range map[string]Missing{
		"!(lo <= 5.0)":                        {"lo", "zero-variance"},
		"true || lo > 0.0":                    {"lo", "zero-variance"},
		"[1.0].exists(x, x > 0.0 || lo > x)":  {"lo", "zero-variance"},
		"boot.hi > 0.0 || hi == hi":           {"boot.hi", "no-bootstrap"},
		"n != n":                              {"n", "absent"},
		"candidate.ttft_ms.p95 > 1.0":         {"candidate.ttft_ms.p95", "absent"},
		"candidate.mean > 0.0 ? true : n > 1": {"n", "absent"},
	} {
		p, err := env.Compile(rule)
		if err != nil {
			t.Fatal(err)
		}
		got, res := p.Classify(absent, why)
		if got != Undetermined || !cmp.Equal(res.Missing, []Missing{want}) {
			t.Errorf("%s: %v, missing %v; want undetermined, %v", rule, got, res.Missing, want)
		}
		if !strings.Contains(res.Explain, want.Path+" is absent: "+want.Reason) {
			t.Errorf("%s: explained as %s", rule, res.Explain)
		}
	}
}

// Every one of these is true, or could be, by CEL's own rules.
func TestHiddenErrorsAreErrors(t *testing.T) {
	env := testEnv(t)
	for _, rule := range []string{
		"{}.all(k, true) || n > 1.0",
		"{}.all(k, k > n)",
		"[].all(k, k > n)",
		"!([].exists(k, k > n))",
		"true || int('x') > n",
		"n > 1.0 || [1.0][3] > n",
		"[1.0][3] > n || n > 1.0",
		"!(n / 0.0 <= 5.0)",
		"!(0.0 / (n - n) <= 5.0)",
		"n > 1.0 ? true : int('x') == 1",
		"n > 1.0 ? n > 0.0 : 1.0 / 0.0 > n",
		"!(false && {'a': n}['b'] > 1.0)",
		"{'a': n}.all(k, k != 'b') || double('nan') > n",
		"[n].filter(x, x > 1e9).all(x, x > 1e9)",
		"!([n].filter(x, x > 1e9).exists(x, x > 0.0))",
		"[true, [1.0][3] > n].exists(x, x)",
		"9223372036854775807 + 1 > n || true",
	} {
		p, err := env.Compile(rule)
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if got, res := p.Classify(full(0, 0), nil); got != Error || res.Err == nil || res.Holds() {
			t.Errorf("%s: %v, err %v; want error", rule, got, res.Err)
		}
	}
}

func TestLoopsWork(t *testing.T) {
	env := testEnv(t)
	for rule, want := range map[string]Outcome{
		"[n, candidate.mean].all(x, x > 0.5)":                      Pass,
		"[n, candidate.mean].exists(x, x > 0.9)":                   Pass,
		"[n, candidate.mean].exists_one(x, x > 0.9)":               Pass,
		"[n, candidate.mean].filter(x, x > 0.9).all(x, x == n)":    Pass,
		"[n, candidate.mean].all(x, x > 0.9)":                      Fail,
		"candidate.name in ['fp8', 'int4'] && candidate.ok":        Pass,
		"[n, candidate.mean].map(x, x > 0.9).exists(x, x == true)": Pass,
	} {
		p, err := env.Compile(rule)
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if got, res := p.Classify(full(0, 0), nil); got != want {
			t.Errorf("%s: %v (%v), want %v", rule, got, res.Err, want)
		}
	}
}

func TestCostIsLimited(t *testing.T) {
	list := "[" + strings.Repeat("n,", 600) + "n]"
	p, err := testEnv(t).Compile(list + ".all(x, x in " + list[:1200] + "n])")
	if err == nil {
		if got, _ := p.Classify(full(0, 0), nil); got != Error {
			t.Errorf("an expensive rule gave %v", got)
		}
		return
	}
	if !strings.Contains(err.Error(), "limit") {
		t.Errorf("error = %v, want a limit", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, vars := range []any{
		nil, 3, struct {
			A float64 `cel:"a"`
		}{},
		struct1{}, struct2{}, struct3{},
	} {
		if _, err := New(vars); err == nil {
			t.Errorf("New(%T) accepted", vars)
		}
	}
}

type struct1 struct {
	N int `cel:"n"`
}
type struct2 struct {
	N float64
}
type struct3 struct {
	Lo float64 `cel:"lo" interval:"lo"`
}

func TestOtherStructIsAnError(t *testing.T) {
	p, err := testEnv(t).Compile("n > 0.0")
	if err != nil {
		t.Fatal(err)
	}
	if got, res := p.Classify(side{}, nil); got != Error || res.Err == nil {
		t.Errorf("%v, %v", got, res.Err)
	}
}
