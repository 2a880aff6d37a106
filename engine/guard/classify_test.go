package guard

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestClassify(t *testing.T) {
	env := testEnv(t)
	for _, tt := range []struct {
		rule   string
		lo, hi float64
		want   Outcome
	}{
		{"lo > -0.02", -0.01, 0.03, Pass},
		{"lo > -0.02", -0.03, 0.03, Undetermined},
		{"lo > -0.02", -0.05, -0.02, Fail},
		{"lo >= -0.02", -0.05, -0.02, Undetermined},
		{"-0.02 < lo", -0.05, -0.03, Fail},
		{"!(lo <= -0.02)", -0.03, 0.03, Undetermined},
		{"hi < 0.02", -0.05, 0.03, Undetermined},
		{"hi < 0.02", 0.02, 0.03, Fail},
		{"delta > 0.0", -0.05, 0.03, Undetermined},
		{"boot.lo > -0.02", -0.05, 0.0, Undetermined},
		{"boot.lo > -0.02", -0.05, -0.02, Fail},
		{"lo > -0.02 && hi < 0.02", -0.05, 0.05, Undetermined}, // false at both ends, true in the middle
		{"lo > -0.02 && hi < 0.02", -0.05, -0.03, Fail},
		{"lo > -0.021 && hi < -0.0209", -0.05, 0.05, Undetermined}, // a narrow window
		{"lo >= 0.01 && hi <= 0.01", -0.03, 0.0499, Undetermined},  // a window of one point
		{"lo > -0.01 && n >= 1000", 0, 0.1, Fail},
		{"lo > -0.02 || n >= 100", -0.5, -0.4, Pass},
		{"lo > -1.0 * candidate.mean / 40.0", -0.1, 0.1, Undetermined},
		{"lo > -0.02", 0.03, -0.03, Pass},
		{"hi < 0.0", 0.03, -0.01, Pass},
		{"hi < -0.5", 0.03, -0.03, Undetermined}, // ends in the wrong order decide nothing
		{"candidate.mean > 0.9", -0.1, 0.1, Fail},
	} {
		p, err := env.Compile(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		v := full(tt.lo, tt.hi)
		if got, res := p.Classify(v, nil); got != tt.want {
			t.Errorf("%s with [%v, %v]: %v, want %v (%+v)", tt.rule, tt.lo, tt.hi, got, tt.want, res)
		}
		if *v.Lo != tt.lo || *v.Boot.Lo != tt.lo || *v.Boot.Hi != tt.hi {
			t.Errorf("%s: classifying changed its input", tt.rule)
		}
	}
}

func TestHalfAnIntervalNeverFails(t *testing.T) {
	p, err := testEnv(t).Compile("hi < -0.5")
	if err != nil {
		t.Fatal(err)
	}
	v := full(-0.1, 0.1)
	v.Lo = nil
	if got, _ := p.Classify(v, nil); got != Undetermined {
		t.Errorf("%v, want undetermined", got)
	}
}

// For rules that are monotone in the interval the verdict is the design's:
// pass where the near end is good, fail where the far end is bad.
func TestMonotoneRules(t *testing.T) {
	env := testEnv(t)
	margin := rapid.Float64Range(-1, 1)
	rapid.Check(t, func(t *rapid.T) {
		m, a, b := margin.Draw(t, "m"), margin.Draw(t, "a"), margin.Draw(t, "b")
		lo, hi := min(a, b), max(a, b)
		lower := rapid.Bool().Draw(t, "lower")
		rule, good, bad := fmt.Sprintf("lo > %s", literal(m)), lo > m, hi <= m
		if !lower {
			rule, good, bad = fmt.Sprintf("hi < %s", literal(m)), hi < m, lo >= m
		}
		p, err := env.Compile(rule)
		if err != nil {
			t.Fatal(err)
		}
		want := Undetermined
		switch {
		case good:
			want = Pass
		case bad:
			want = Fail
		}
		if got, _ := p.Classify(full(lo, hi), nil); got != want {
			t.Fatalf("%s with [%v, %v]: %v, want %v", rule, lo, hi, got, want)
		}
	})
}

func literal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// A fail says that no point of the interval satisfies the rule.
func TestFailMeansNowhere(t *testing.T) {
	env := testEnv(t)
	atom := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%s %s %s", rapid.SampledFrom([]string{"lo", "hi", "delta"}).Draw(t, "v"),
			rapid.SampledFrom([]string{"<", "<=", ">", ">="}).Draw(t, "op"), literal(rapid.Float64Range(-1, 1).Draw(t, "m")))
	})
	rapid.Check(t, func(t *rapid.T) {
		rule := atom.Draw(t, "first")
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			rule = fmt.Sprintf("(%s) %s %s", rule, rapid.SampledFrom([]string{"&&", "||"}).Draw(t, "join"), atom.Draw(t, "next"))
		}
		p, err := env.Compile(rule)
		if err != nil {
			t.Fatal(err)
		}
		a, b := rapid.Float64Range(-1, 1).Draw(t, "a"), rapid.Float64Range(-1, 1).Draw(t, "b")
		lo, hi := min(a, b), max(a, b)
		if got, _ := p.Classify(full(lo, hi), nil); got != Fail {
			return
		}
		x := min(hi, lo+rapid.Float64Range(0, 1).Draw(t, "t")*(hi-lo))
		if p.Eval(full(x, x), nil).Holds() {
			t.Fatalf("%s failed on [%v, %v] and holds at %v", rule, lo, hi, x)
		}
	})
}

// Whatever the rule, a value that it names and that is absent keeps it from
// passing.
func TestAbsentNeverPasses(t *testing.T) {
	env := testEnv(t)
	rules := []string{
		"lo > -0.02", "!(lo <= -0.02)", "true || lo > 0.0", "lo != lo", "lo == lo", "hi > 0.0 || lo > 0.0", "[1.0].all(x, x > 0.0 || x > lo)",
		"n > 0.0 ? true : lo > 1.0", "!(false && lo > 0.0)", "delta > lo || true", "[lo, 1.0][0] != 7.0", "[lo, hi].exists(x, true)", "boot.lo != boot.hi || lo == lo",
	}
	bad := []*float64{nil, f(math.NaN()), f(math.Inf(1)), f(math.Inf(-1))}
	rapid.Check(t, func(t *rapid.T) {
		p, err := env.Compile(rapid.SampledFrom(rules).Draw(t, "rule"))
		if err != nil {
			t.Fatal(err)
		}
		v := full(rapid.Float64Range(-1, 1).Draw(t, "lo"), 1)
		v.Lo = rapid.SampledFrom(bad).Draw(t, "absent")
		if got, res := p.Classify(v, nil); got != Undetermined || res.Holds() {
			t.Fatalf("%s: %v", p.Rule(), got)
		}
	})
}

func FuzzRule(f *testing.F) {
	for _, s := range []string{
		"lo > -0.02", "!(lo <= 0.0) || {}.all(k, true)", "[lo, hi].all(x, x > 0.0)", "candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95",
		"has(candidate.mean)", "lo > 1/2", "int(lo) % 0 == 1 || true", "'a'.matches('(a+)+') || n > 1.0", "string(lo).size() > 1", "timestamp('x') == timestamp(0) || lo > 0.0",
		"{'a': lo}['b'] > 0.0", "[[lo]].all(x, x == [lo])", "type(lo) == double", "`lo` > 0.0", "lo > 0x1", ".lo > 0.0", "b'\\xff' != b'' || lo > 1.0",
	} {
		f.Add(s, -0.01, 0.02)
	}
	env := testEnv(f)
	f.Fuzz(func(t *testing.T, rule string, lo, hi float64) {
		p, err := env.Compile(rule)
		if err != nil {
			ce, ok := err.(*CompileError)
			if !ok || len(ce.Problems) == 0 {
				t.Fatalf("error %T: %v", err, err)
			}
			for _, p := range ce.Problems {
				if p.Offset < 0 || p.Offset > len(rule) || p.Msg == "" {
					t.Fatalf("problem %+v in a rule of %d bytes", p, len(rule))
				}
				ce.Caret(p)
			}
			return
		}
		if len(p.Paths()) == 0 {
			t.Fatalf("%q names nothing", rule)
		}
		v := full(lo, hi)
		first, res := p.Classify(v, nil)
		if second, _ := p.Classify(v, nil); second != first {
			t.Fatalf("%q: %v, then %v", rule, first, second)
		}
		if first == Pass && !res.Holds() {
			t.Fatalf("%q passed with %+v", rule, res)
		}
		for _, x := range res.Values {
			if y, ok := x.(float64); ok && (math.IsNaN(y) || math.IsInf(y, 0)) {
				t.Fatalf("%q: %v left the package", rule, y)
			}
		}
		if got, _ := p.Classify(facts{N: math.NaN(), Candidate: side{Mean: math.NaN()}}, nil); got == Pass && !onlyTexts(p) {
			t.Fatalf("%q passed on nothing", rule)
		}
	})
}

// onlyTexts: names and truths are always present.
func onlyTexts(p *Program) bool {
	for _, f := range p.paths {
		if f.kind == number || f.parent.name == "baseline" {
			return false
		}
	}
	return true
}
