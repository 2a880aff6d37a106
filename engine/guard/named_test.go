package guard

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

type priors struct {
	Candidate Named `cel:"candidate" doc:"what sources claim"`
}

type withPriors struct {
	Mean  float64 `cel:"mean"`
	Prior priors  `cel:"prior"`
}

func namedEnv(t *testing.T, names ...string) *Env {
	t.Helper()
	env, err := New(withPriors{}, Names{"prior.candidate", names})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func TestNamedValues(t *testing.T) {
	env := namedEnv(t, "context.advertised", "throughput_tok_s", `odd "name"`)
	for _, tt := range []struct {
		rule string
		want bool
	}{
		{`mean >= 0.8 * prior.candidate["throughput_tok_s"]`, true},
		{`mean >= 0.8 * prior.candidate.throughput_tok_s`, true},
		{`mean > prior.candidate["context.advertised"]`, false},
		{`[1.0, 2.0].exists(x, x == prior.candidate.throughput_tok_s) || mean > 1.0`, true},
		{`prior.candidate["odd \"name\""] > 0.0`, true},
	} {
		p, err := env.Compile(tt.rule)
		if err != nil {
			t.Errorf("%s: %v", tt.rule, err)
			continue
		}
		res := p.Eval(withPriors{90, priors{Named{"context.advertised": 32768, "throughput_tok_s": 100, `odd "name"`: 1}}}, nil)
		if res.Err != nil || res.Value != tt.want || len(res.Missing) > 0 {
			t.Errorf("%s: %+v", tt.rule, res)
		}
	}
}

func TestNamedValueIsAbsent(t *testing.T) {
	p, err := namedEnv(t, "a.b").Compile(`prior.candidate["a.b"] > mean`)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Paths(); !slices.Equal(got, []string{`prior.candidate["a.b"]`, "mean"}) {
		t.Errorf("paths %q", got)
	}
	for _, m := range []Named{nil, {}} {
		out, res := p.Classify(withPriors{1, priors{m}}, map[string]string{`prior.candidate["a.b"]`: "stale-prior"})
		if out != Undetermined || len(res.Missing) != 1 || res.Missing[0].Reason != "stale-prior" {
			t.Errorf("%v: %v %+v", m, out, res)
		}
	}
	if out, res := p.Classify(withPriors{1, priors{Named{"a.b": 2}}}, nil); out != Pass || !strings.Contains(res.Explain, `prior.candidate["a.b"] = 2`) {
		t.Errorf("%v %+v", out, res)
	}
}

func TestNamedRefuses(t *testing.T) {
	env := namedEnv(t, "context.advertised", "throughput_tok_s")
	for _, tt := range []struct{ rule, want string }{
		{`prior.candidate["context.advertized"] > 1.0`, `there is no "context.advertized" in prior.candidate; did you mean prior.candidate["context.advertised"]?`},
		{`prior.candidate.throughput > 1.0`, `there is no "throughput" in prior.candidate`},
		{`prior.candidate.context.advertised > 1.0`, "a name with dots stands in brackets"},
		{`prior.candidate["a" + "b"] > 1.0`, "must be a text that stands in the rule"},
		{`["throughput_tok_s"].exists(k, prior.candidate[k] > 1.0)`, "only comparisons and logic"},
		{`size(prior.candidate) > 0`, "is a group of values"},
		{`prior.candidate.all(k, k == "x")`, "is a group of values"},
		{`"x" in prior.candidate`, "is a group of values"},
		{`has(prior.candidate.throughput_tok_s)`, "has() says nothing"},
		{`prior.candidate == {"a": 1.0}`, "is a group of values"},
		{`prior.candidat["a"] > 1.0`, "did you mean prior.candidate?"},
	} {
		_, err := env.Compile(tt.rule)
		var ce *CompileError
		if !errors.As(err, &ce) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.rule, err, tt.want)
		}
	}
	if _, err := namedEnv(t).Compile(`prior.candidate["a"] > mean`); err == nil || !strings.Contains(err.Error(), "it has no names") {
		t.Errorf("no names: %v", err)
	}
	if _, err := New(withPriors{}, Names{"mean", []string{"a"}}); err == nil {
		t.Error("names for a value that is no group")
	}
	if _, err := New(withPriors{}, Names{"prior.candidate", []string{"a", "a"}}); err == nil {
		t.Error("one name twice")
	}
}

// FuzzNamed: no rule makes the environment panic, and none holds while a value
// that it names is absent.
func FuzzNamed(f *testing.F) {
	for _, rule := range []string{`prior.candidate["a.b"] > mean`, `prior.candidate.x > 1.0 || mean > 0.0`, `prior.candidate[prior.candidate.x]`, `[1.0].all(x, x < prior.candidate.x)`,
		`prior.candidate["\u00e9"] > 0.0`, `{"a": prior.candidate}["a"]["x"] > 0.0`, `prior.candidate[?"x"]`, `"x" in prior.candidate`} {
		f.Add(rule)
	}
	env, err := New(withPriors{}, Names{"prior.candidate", []string{"a.b", "x", "é"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		p, err := env.Compile(rule)
		if err != nil {
			return
		}
		reads := slices.ContainsFunc(p.Paths(), func(s string) bool { return strings.HasPrefix(s, "prior.") })
		if res := p.Eval(withPriors{Mean: 1}, nil); reads && res.Holds() {
			t.Errorf("%q holds without its values", rule)
		}
		if strings.Contains(rule, "prior") && !reads && p.Eval(withPriors{Mean: 1}, nil).Err == nil && strings.Contains(strings.Join(p.Vars(), " "), "prior") {
			t.Errorf("%q reads a prior and does not say so", rule)
		}
	})
}
