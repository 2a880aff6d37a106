package spec

import (
	"fmt"
	"math"
	"testing"
)

// The level of the intervals by hand: 0.05 shared by the candidates beside the
// baseline.
func TestConfidence(t *testing.T) {
	for _, tc := range []struct {
		multiplicity string
		candidates   int // with the baseline
		want         float64
	}{{"none", 4, 0.95}, {"bonferroni", 2, 0.95}, {"bonferroni", 3, 0.975}, {"bonferroni", 4, 0.98333333333333333}, {"bonferroni", 11, 0.995}} {
		c := Campaign{Candidates: map[string]Candidate{}, Decide: Decide{Statistics: Statistics{Confidence: 0.95, Multiplicity: tc.multiplicity}}}
		for i := range tc.candidates {
			c.Candidates[fmt.Sprint(i)] = Candidate{}
		}
		if got := c.Confidence(); math.Abs(got-tc.want) > 1e-15 {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

func TestNamesVariable(t *testing.T) {
	for rule, want := range map[string]bool{
		"cost.per_1k_items.candidate < 1.0": true, "1.0 > cost .x": true, "cost['x'] > 0": true,
		"lo > 0.0": false, "candidate.cost.x > 0": false, "x == 'cost.y'": false, `x == "a\"cost.y"`: false, "costs.x > 0": false, "mycost.x > 0": false, "cost": false,
	} {
		if got := namesVariable(rule, "cost"); got != want {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

// At points at the field, or at the nearest thing above it that exists.
func TestAt(t *testing.T) {
	l := mustLoad(t, "testdata/base.yaml")
	for want, p := range map[string][]string{
		"testdata/base.yaml:21:28: decide.guards.ttft.rule: x":     {"decide", "guards", "ttft", "rule"},
		"testdata/base.yaml:21:5: decide.guards.ttft.strata: x":    {"decide", "guards", "ttft", "strata"},
		"testdata/base.yaml:17:43: measure.load.concurrency[1]: x": {"measure", "load", "concurrency", "[1]"},
		"testdata/base.yaml:17:26: measure.load.concurrency[9]: x": {"measure", "load", "concurrency", "[9]"},
		"testdata/base.yaml:18:1: decide.statistics.confidence: x": {"decide", "statistics", "confidence"},
		"testdata/base.yaml:1:1: x":                                nil,
	} {
		if got := l.At(p, "x", "").Error(); got != want {
			t.Errorf("%v: %s, want %s", p, got, want)
		}
	}
}
