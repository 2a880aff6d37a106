package decide

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/stats"
)

// oneGuard decides about fp8 by one guard alone, after edit.
func oneGuard(t *testing.T, g spec.Guard, edit func(*evidence.Record)) evidence.GuardResult {
	t.Helper()
	c := campaign()
	c.Candidates = map[string]spec.Candidate{"bf16": {Role: "baseline"}, "fp8": {Role: "candidate"}}
	c.Decide.Guards = map[string]spec.Guard{"g": g}
	r := fourCandidates(t)
	edit(r)
	d := Decide(PolicyOf(c), r, step.Digest{})
	return d.Candidates[0].Guards[0]
}

// Items without a score reach a rule only through what the policy of the
// campaign accounts for; a mean of survivors opens nothing.
func TestLostItems(t *testing.T) {
	for _, c := range []struct {
		policy, rule string
		want         evidence.Verdict
	}{
		{"undetermined", "lo > -0.02", evidence.Undetermined},
		{"undetermined", "candidate.truncation_rate <= 0.01", evidence.Undetermined},
		{"undetermined", "candidate.mean > 0.5", evidence.Undetermined},
		{"undetermined", "candidate.failure_rate <= 0.01", evidence.Pass},
		{"undetermined", "candidate.scored >= 10.0", evidence.Pass},
		{"zero", "lo > -0.02", evidence.Pass},
		{"zero", "delta > -0.02", evidence.Pass},
		{"zero", "candidate.mean > 0.5", evidence.Undetermined},
		{"zero", "candidate.truncation_rate <= 0.01", evidence.Pass},
		{"bound", "lo > -0.02", evidence.Pass},
		{"bound", "delta > -0.02", evidence.Undetermined},
		{"bound", "mean_b > 0.5", evidence.Undetermined},
		{"bound", "candidate.accuracy > 0.5", evidence.Undetermined},
	} {
		got := oneGuard(t, spec.Guard{On: "support", Rule: c.rule}, func(r *evidence.Record) {
			r.Comparisons[0].Attrition = evidence.Attrition{Total: 58, Policy: c.policy}
		})
		if got.Verdict != c.want || got.Verdict == evidence.Undetermined && !strings.Contains(got.Reason, "58 items") {
			t.Errorf("%s, %s: %s (%s), want %s", c.policy, c.rule, got.Verdict, got.Reason, c.want)
		}
	}
}

// Latencies of a cell in which requests failed are those of the survivors.
func TestFailedRequests(t *testing.T) {
	for rule, want := range map[string]evidence.Verdict{
		"candidate.ttft_ms.p50 <= 3.0 * baseline.ttft_ms.p50": evidence.Undetermined,
		"candidate.request_rate > 0.0":                        evidence.Undetermined,
		"candidate.failed <= 0.05 * candidate.attempted":      evidence.Pass,
		"candidate.failed == 0.0":                             evidence.Fail,
	} {
		got := oneGuard(t, spec.Guard{On: "load", Rule: rule, Concurrency: []int{1}}, func(r *evidence.Record) {
			c := &r.Candidates["fp8"].Load["load"].Cells[0]
			c.Completed, c.Failed = c.Attempted-9, 9
		})
		if got.Verdict != want {
			t.Errorf("%s: %s (%s), want %s", rule, got.Verdict, got.Reason, want)
		}
	}
}

// Two candidates that get nothing right are equal, and nothing is shown by it.
func TestBothZero(t *testing.T) {
	got := oneGuard(t, spec.Guard{On: "support", Rule: "lo > -0.02"}, func(r *evidence.Record) {
		var pairs []stats.Pair
		for i := range 600 {
			pairs = append(pairs, stats.Pair{ID: string(rune('a'+i%26)) + strings.Repeat("x", i/26)})
		}
		res, err := stats.Compare(pairs, stats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.Comparisons[0].Stats = res
	})
	if got.Verdict != evidence.Undetermined || !strings.Contains(got.Reason, "both score 0") {
		t.Errorf("%s (%s)", got.Verdict, got.Reason)
	}
}

func TestConstantRules(t *testing.T) {
	for text, want := range map[string]bool{
		"lo >= lo":                          true,
		"lo > -0.02 || true":                true,
		"[lo].exists(x, true)":              true,
		"!(lo < lo)":                        true,
		"candidate.failure_rate <= 1.0":     true,
		"candidate.truncation_rate >= 0.0":  true,
		"candidate.mean >= 0.0":             true,
		"hi <= 1.0":                         true,
		"candidate.mean > baseline.mean":    false,
		"candidate.output_tokens < 1e9":     false,
		"lo > -0.02":                        false,
		"lo > -1.0":                         false,
		"candidate.truncation_rate <= 0.01": false,
		"delta > noise.lo || lo > -0.02":    false,
	} {
		env, err := envFor("quality", nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := env.Compile(text)
		if err != nil {
			if !want {
				t.Errorf("%s: %v", text, err)
			}
			continue // refused even earlier
		}
		if got := (rule{p}).constant("quality"); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Sanity guards alone look at no candidate, and so promote none.
func TestUnguarded(t *testing.T) {
	for text, want := range map[string]bool{
		"baseline.mean > 0.5": true, "n > 10.0": true, "noise.lo > -0.5": true,
		"lo > -0.02": false, "noise.excess < 0.1": false, "candidate.failure_rate < 0.1": false,
	} {
		c := campaign()
		c.Decide.Guards = map[string]spec.Guard{"g": {On: "support", Rule: text}}
		errs := Check(c)
		got := len(errs) == 4 && strings.Contains(errs[0].Msg, "no guard looks at candidate")
		if got != want || !want && len(errs) > 0 {
			t.Errorf("%s: %v", text, errs)
		}
	}
}
