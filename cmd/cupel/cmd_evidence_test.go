package main

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// A summary follows from its rows, or does not: by mean, counts and strata.
func TestSameScores(t *testing.T) {
	rows := []byte(`{"id":"a","strata":{"task":"x"},"value":1,"reason":"","scorer":"exact/1","n":1}
{"id":"b","strata":{"task":"x"},"value":0,"reason":"","scorer":"exact/1","n":1}
{"id":"c","strata":{"task":"y"},"value":null,"reason":"failed","scorer":"exact/1","n":1}
`)
	group := func(items, scored int, mean float64) evidence.ScoreGroup {
		g := evidence.ScoreGroup{Items: items, Scored: scored, Mean: metric.Of(mean, "score")}
		if scored == 0 {
			g.Mean = metric.Null("unscored", "score")
		}
		return g
	}
	good := evidence.ScoreSummary{Stratify: "task", Overall: group(3, 2, 0.5), Strata: map[string]evidence.ScoreGroup{"x": group(2, 2, 0.5), "y": group(1, 0, 0)}}
	if !sameScores(rows, good) {
		t.Error("a summary that follows does not")
	}
	for name, bad := range map[string]evidence.ScoreSummary{
		"mean":    {Stratify: "task", Overall: group(3, 2, 0.6)},
		"scored":  {Stratify: "task", Overall: group(3, 3, 0.5)},
		"stratum": {Stratify: "task", Overall: group(3, 2, 0.5), Strata: map[string]evidence.ScoreGroup{"x": group(2, 2, 1)}},
	} {
		if sameScores(rows, bad) {
			t.Errorf("another %s follows", name)
		}
	}
	if sameScores([]byte("{"), good) {
		t.Error("rows that cannot be read give a summary")
	}
}
