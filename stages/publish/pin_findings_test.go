package publish

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

func TestPinFindings(t *testing.T) {
	pin := func(tokens int, note string) *evidence.PinDoc {
		return &evidence.PinDoc{Observed: llm.Identity{TemplateSHA256: "x"}, Probe: llm.TokenProbe{Tokens: tokens, Twice: 2 * tokens, By: "usage"},
			Fields: []evidence.PinField{{Name: "penalty", Observed: "1.1", Note: note}, {Name: "gone", Note: "refused", State: "unknown"}}}
	}
	rec := &evidence.Record{Kind: "engine-upgrade", Baseline: "current", Candidates: map[string]evidence.CandidateRecord{
		"current": {Pin: pin(16, "")}, "hidden": {Pin: pin(16, "nobody set it")}, "stopped": {}, "upgraded": {Pin: pin(26, "")},
	}}
	const hidden, other = "penalty of hidden is 1.1: nobody set it", "current and upgraded tokenise the same text differently: 16 and 26 tokens"
	want := []PinFinding{{"hidden", hidden}, {"upgraded", other + ", where a decision of kind engine-upgrade expects one tokenizer"}}
	if d := cmp.Diff(want, PinFindings(rec)); d != "" {
		t.Error(d)
	}
	rec.Kind = "model-swap"
	want[1].Text = other
	if d := cmp.Diff(want, PinFindings(rec)); d != "" {
		t.Error(d)
	}
	m := pageMaker{rec: rec, dec: &evidence.Decision{}}
	if d := cmp.Diff([]caveat{{"hidden", hidden}, {"upgraded", other}}, m.caveats()); d != "" {
		t.Error(d)
	}
}
