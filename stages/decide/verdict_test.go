package decide

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/stats"
)

func TestWorst(t *testing.T) {
	const p, u, e, f = evidence.Pass, evidence.Undetermined, evidence.Error, evidence.Fail
	for _, tt := range []struct {
		in   []evidence.Verdict
		want evidence.Verdict
	}{
		{nil, u}, {[]evidence.Verdict{p}, p}, {[]evidence.Verdict{p, u}, u}, {[]evidence.Verdict{e, u}, e},
		{[]evidence.Verdict{p, e, f, u}, f}, {[]evidence.Verdict{p, ""}, e}, {[]evidence.Verdict{"skipped"}, e},
	} {
		if got := Worst(tt.in...); got != tt.want {
			t.Errorf("Worst(%v) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestNothingPassesOnNothing(t *testing.T) {
	none := campaign()
	none.Decide.Guards = nil
	other := campaign()
	for name, g := range other.Decide.Guards {
		g.Candidates = []string{"int4"}
		other.Decide.Guards[name] = g
	}
	alone := campaign()
	alone.Candidates = map[string]spec.Candidate{"bf16": {Role: "baseline"}}
	for name, c := range map[string]*spec.Campaign{"no guards": none, "guards for another": other, "no candidate": alone} {
		d := Decide(PolicyOf(c), fourCandidates(t), step.Digest{})
		if d.Verdict == evidence.Pass || len(d.Next) == 0 {
			t.Errorf("%s: %s, next %q", name, d.Verdict, d.Next)
		}
		for _, c := range d.Candidates {
			if c.Verdict == evidence.Pass {
				t.Errorf("%s: %s passed", name, c.Candidate)
			}
		}
	}
	empty := Decide(PolicyOf(campaign()), &evidence.Record{}, step.Digest{})
	for _, c := range empty.Candidates {
		if c.Verdict != evidence.Undetermined || len(c.Guards) == 0 {
			t.Errorf("empty record: %s %s", c.Candidate, c.Verdict)
		}
	}
}

// For `lo > -M` on Tango's interval the three verdicts are the design's, and
// the candidate is never better than the worst of its guards.
func TestThreeVerdicts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tab := table{n: rapid.IntRange(1, 600).Draw(rt, "n")}
		tab.b = rapid.IntRange(0, tab.n).Draw(rt, "b")
		tab.c = rapid.IntRange(0, tab.n-tab.b).Draw(rt, "c")
		cmp := comparison(t, "fp8", map[string]table{"x": tab}, stats.Options{})
		r := &evidence.Record{Baseline: "bf16", Comparisons: []evidence.Comparison{cmp}}
		c := campaign()
		c.Candidates = map[string]spec.Candidate{"bf16": {Role: "baseline"}, "fp8": {Role: "candidate"}}
		c.Decide.Guards = map[string]spec.Guard{"no-worse": {On: "support", Strata: "all", Rule: "lo > -0.02"}}
		d := Decide(PolicyOf(c), r, step.Digest{})
		lo, hi := *cmp.Stats.Overall.Lo, *cmp.Stats.Overall.Hi
		want := evidence.Undetermined
		if lo > -0.02 {
			want = evidence.Pass
		} else if hi <= -0.02 {
			want = evidence.Fail
		}
		var all []evidence.Verdict
		for _, g := range d.Candidates[0].Guards {
			all = append(all, g.Verdict)
			if g.Verdict != want {
				rt.Fatalf("[%v, %v]: %s, want %s", lo, hi, g.Verdict, want)
			}
			if g.NeedItems != 0 && (g.Verdict != evidence.Undetermined || g.NeedItems <= g.Items) {
				rt.Fatalf("%s needs %d of %d items", g.Verdict, g.NeedItems, g.Items)
			}
		}
		if len(all) != 2 || d.Verdict != Worst(all...) || d.Candidates[0].Label != LabelFor(d.Verdict) {
			rt.Fatalf("%+v", d)
		}
	})
}
