package publish

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// Two requests at once for 10 s and, after a pause, one for 10 s beside one of
// an earlier set: 15 s of one GPU.
func TestCosts(t *testing.T) {
	b := builder{
		p: recordParams{GPUs: map[string]int{"bf16": 1}, Price: &metric.Price{GPUHour: 3.6, Currency: "EUR"}},
		rec: &evidence.Record{Candidates: map[string]evidence.CandidateRecord{
			"bf16": {Scores: map[string]evidence.ScoreSummary{"support": {Overall: evidence.ScoreGroup{Items: 10, Scored: 10, Mean: metric.Of(0.5, "score")}}}},
			"fp8":  {Scores: map[string]evidence.ScoreSummary{"support": {Overall: evidence.ScoreGroup{Items: 10, Scored: 10, Mean: metric.Of(0.5, "score")}}}},
		}},
		kept: map[generation]*evidence.Kept{{"bf16", "support"}: {Beside: []evidence.Beside{{ID: "x", Span: metric.Span{Start: 60e9, End: 70e9}}}}},
		busy: map[generation][]metric.Span{{"bf16", "support"}: {{Start: 0, End: 8e9}, {Start: 2e9, End: 10e9}, {Start: 60e9, End: 70e9}}},
	}
	b.costs()
	got := b.rec.Candidates["bf16"].Costs["support"]
	for _, v := range []struct {
		got  metric.Value
		want float64
	}{{got.BusyS, 15}, {got.Per1kItems, 1.5}, {got.Per1kCorrect, 3}} {
		if v.got.Value == nil || *v.got.Value != v.want {
			t.Errorf("%+v, want %v", v.got, v.want)
		}
	}
	if c := b.rec.Candidates["fp8"].Costs["support"]; c.Per1kItems.Value != nil || c.Per1kItems.Reason == "" {
		t.Errorf("a cost without times: %+v", c.Per1kItems)
	}
}
