package publish

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/prior"
)

// Claims stand beside what was measured, and what nothing measured says so.
func TestResearchPage(t *testing.T) {
	rec, dec := fixture(t)
	without, _, err := render(rec, dec)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(without), "## Research") {
		t.Error("a section without research")
	}
	const name = "fp8"
	rec.Research = &evidence.Research{ObservedOn: "2026-11-20", Sources: []evidence.ResearchSource{{
		ID: "post", Kind: "community", URL: "https://example.org", PublishedOn: "2026-08-01", Snapshot: &step.Digest{1},
		Claims: []evidence.Prior{{Candidate: name, Metric: "throughput_tok_s", Value: 1}, {Candidate: name, Metric: "elo", Value: 1200}},
	}}}
	prior.Classify(rec.Research, prior.Measured(rec))
	dec.Candidates[0].Priors = []evidence.GuardResult{{Guard: "expected", On: "load", Cell: "c=1", Rule: "x > 1.0", Verdict: evidence.Fail, Explain: "x > 1.0   (x = 0)", Reason: "it does not hold"}}
	readme, report, err := render(rec, dec)
	if err != nil {
		t.Fatal(err)
	}
	tables(t, readme)
	wellFormed(t, report)
	for _, want := range []string{
		"| post | community | – | 2026-08-01 | aging, 111 days | lead |", "| elo | post | lead | 1,200 | – | – | – | no-such-metric",
		"- prior: expected on load, c=1: **does not hold**", "| throughput_tok_s | post | lead | 1 | steady c=1 |",
		"- source post: lead, aging, 111 days: nobody is named who owns the fact",
	} {
		if !strings.Contains(strings.ReplaceAll(string(readme), `\_`, "_"), want) {
			t.Errorf("README.md lacks %q", want)
		}
	}
	for _, want := range []string{"<h2>Research</h2>", "Claims beside what was measured", "in no verdict"} {
		if !strings.Contains(string(report), want) {
			t.Errorf("report.html lacks %q", want)
		}
	}
}
