package decide

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/prior"
)

// researched is the campaign with a source about fp8 and the baseline.
func researched() *spec.Campaign {
	c := campaign()
	snap := &spec.File{Digest: step.Digest{1}}
	c.Research = &spec.Research{ObservedOn: "2026-11-20", Sources: []spec.Source{
		{ID: "post", Kind: "community", PublishedOn: "2026-11-01", Snapshot: snap, Claims: []spec.Claim{
			{Candidate: "fp8", Metric: "throughput_tok_s", Value: 100, Workload: "load", Cell: "c=1"},
			{Candidate: "fp8", Metric: "zero", Value: 0},
			{Candidate: "bf16", Metric: "throughput_tok_s", Value: 80},
		}},
		{ID: "old", Kind: "paper", PublishedOn: "2025-11-01", Snapshot: snap, Claims: []spec.Claim{{Candidate: "fp8", Metric: "score.old", Value: 1}}},
	}}
	return c
}

// A guard that reads a prior changes no verdict, whatever it comes to.
func TestPriorsDecideNothing(t *testing.T) {
	plain := Decide(PolicyOf(campaign()), fourCandidates(t), step.Digest{})
	for _, tt := range []struct {
		on, rule string
		first    evidence.Verdict // of fp8, in its first place
		reason   string
	}{
		{"load", `candidate.throughput_tok_s > 0.0 && prior.candidate["throughput_tok_s"] > 0.0`, evidence.Pass, "it holds"},
		{"load", `prior.candidate["throughput_tok_s"] < 1.0`, evidence.Fail, "it does not hold"},
		{"load", `prior.candidate.throughput_tok_s < prior.baseline.throughput_tok_s`, evidence.Fail, "it does not hold"},
		{"load", `prior.candidate["score.old"] > 0.0`, evidence.Undetermined, "stale-prior"},
		{"load", `1.0 / prior.candidate["zero"] > 0.0`, evidence.Error, ""},
		{"answers", `prior.candidate["zero"] >= lo`, evidence.Pass, ""},
	} {
		c := researched()
		if tt.on == "answers" {
			tt.on = quality(c)
		}
		c.Decide.Guards["expected"] = spec.Guard{On: tt.on, Rule: tt.rule}
		rec := fourCandidates(t)
		rec.Research = prior.Of(c)
		d := Decide(PolicyOf(c), rec, step.Digest{})
		for i := range d.Candidates {
			got := d.Candidates[i]
			if got.Candidate == "fp8" && (len(got.Priors) == 0 || tt.reason != "" && (got.Priors[0].Verdict != tt.first || !strings.Contains(got.Priors[0].Reason, tt.reason))) {
				t.Errorf("%s: %+v", tt.rule, got.Priors)
			}
			got.Priors = nil
			if diff := cmp.Diff(plain.Candidates[i], got); diff != "" {
				t.Errorf("%s: the decision changed:\n%s", tt.rule, diff)
			}
		}
		if d.Verdict != plain.Verdict || cmp.Diff(d.Next, plain.Next) != "" {
			t.Errorf("%s: verdict %s, %q", tt.rule, d.Verdict, d.Next)
		}
	}
}

// Alone they promote nobody.
func TestOnlyPriors(t *testing.T) {
	c := researched()
	c.Decide.Guards = map[string]spec.Guard{"expected": {On: "load", Rule: `prior.candidate["throughput_tok_s"] > 0.0`, Candidates: []string{"fp8"}}}
	rec := fourCandidates(t)
	rec.Research = prior.Of(c)
	for _, got := range Decide(PolicyOf(c), rec, step.Digest{}).Candidates {
		if got.Verdict == evidence.Pass || got.Label == Challenger {
			t.Errorf("%+v", got)
		}
	}
	if errs := Check(c); len(errs) == 0 || !strings.Contains(errs[0].Msg, "only warns") && !strings.Contains(errs[len(errs)-1].Msg, "no guard looks at") {
		t.Errorf("%+v", errs)
	}
}

// A record from before there was research has no priors.
func TestPriorsWithoutResearch(t *testing.T) {
	c := researched()
	c.Decide.Guards["expected"] = spec.Guard{On: "load", Rule: `prior.candidate["throughput_tok_s"] > 0.0`}
	for _, got := range Decide(PolicyOf(c), fourCandidates(t), step.Digest{}).Candidates {
		for _, g := range got.Priors {
			if g.Verdict != evidence.Undetermined || !strings.Contains(g.Reason, prior.NoPrior) {
				t.Errorf("%+v", g)
			}
		}
	}
}

func TestCheckOfPriors(t *testing.T) {
	c := researched()
	for rule, want := range map[string]string{
		`prior.candidate["throughput_tok_z"] > 0.0`:                       `did you mean prior.candidate["throughput_tok_s"]?`,
		`prior.baseline["score.old"] > 0.0`:                               "no source claims it of bf16; name a candidate",
		`prior.candidate["zero"] >= 0.0`:                                  "it holds whatever is measured",
		`candidate.throughput_tok_s > prior.throughput_tok_s`:             "there is no field throughput_tok_s in prior",
		`candidate.throughput_tok_s > prior.candidate["score.old"]`:       "",
		`candidate.throughput_tok_s > prior.candidate.score.old`:          "a name with dots stands in brackets",
		`candidate.throughput_tok_s > prior.baseline["throughput_tok_s"]`: "",
	} {
		c.Decide.Guards = map[string]spec.Guard{"all": {On: quality(c), Rule: "lo > -0.02"}, "expected": {On: "load", Rule: rule, Candidates: []string{"fp8"}}}
		errs := Check(c)
		if want == "" && len(errs) == 0 {
			continue
		}
		if want == "" || len(errs) == 0 || !strings.Contains(errs[0].Msg, want) {
			t.Errorf("%s: %+v, want %q", rule, errs, want)
		}
	}
}

// quality names a quality workload of the campaign.
func quality(c *spec.Campaign) string { return anyQuality(c) }

// The reason is the one that holds: another workload, or nothing that was kept.
func TestCheckSaysWhyAPriorIsNotRead(t *testing.T) {
	c := researched()
	claims := c.Research.Sources[0].Claims[:1]
	c.Decide.Guards = map[string]spec.Guard{"all": {On: quality(c), Rule: `lo > -0.02`},
		"there": {On: quality(c), Rule: `candidate.mean > prior.candidate["throughput_tok_s"]`, Candidates: []string{"fp8"}}}
	errs := Check(c)
	if len(errs) != 1 || !strings.Contains(errs[0].Msg, "it is claimed of fp8 for workload load only, and the guard looks at "+quality(c)) {
		t.Errorf("%+v", errs)
	}
	claims[0].Workload, claims[0].Cell = "", ""
	c.Research.Sources[0].Snapshot = nil
	if errs = Check(c); len(errs) != 1 || !strings.Contains(errs[0].Msg, "no source with a snapshot claims it of fp8; save what the source said") {
		t.Errorf("%+v", errs)
	}
}

func TestWarnsOfMixedGuards(t *testing.T) {
	c := researched()
	for rule, want := range map[string][]string{
		`lo > -0.02`: nil,
		`candidate.mean > 0.5 * prior.candidate["zero"]`:                           nil,
		`lo > -0.02 && (candidate.mean > prior.candidate["zero"] || hi > 0.0)`:     {"`lo > -0.02`", "`hi > 0.0`"},
		`prior.candidate["zero"] < lo && prior.baseline["throughput_tok_s"] > 1.0`: nil,
	} {
		c.Decide.Guards = map[string]spec.Guard{"mixed": {On: quality(c), Rule: rule}}
		got := Warnings(c, nil)
		if len(got) != len(want) {
			t.Errorf("%s: %q", rule, got)
			continue
		}
		for i, part := range want {
			if !strings.HasPrefix(got[i], "guard mixed: it names a prior, so all of it only warns, and "+part+" passes and blocks nothing") {
				t.Errorf("%s: %s", rule, got[i])
			}
		}
	}
}
