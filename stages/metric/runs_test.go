package metric

import (
	"math"
	"testing"
)

// The mean of each run's own percentile, against one counted by hand: runs of
// e2e 1, 2, 3 and 10, 20, 30 ms have medians 2 and 20, which is 11 at the mean,
// while the pooled median is 3.
func TestMeanOverTrials(t *testing.T) {
	trial := func(wall int64, ends ...int64) Trial {
		one := Trial{WallNS: wall, CPUNS: -1}
		for _, e := range ends {
			n := int64(10)
			one.Requests = append(one.Requests, Request{Planned: -1, Written: -1, FirstOutput: e / 2, FirstVisible: e / 2, LastOutput: -1, End: e, OutputTokens: &n, Eligible: true})
		}
		return one
	}
	c := NewCell(CellOptions{Name: "x", Concurrency: 1, Protocol: CapacityV3}, []Trial{trial(1e9, 1e6, 2e6, 3e6), trial(2e9, 10e6, 20e6, 30e6)})
	if *c.E2E.P50 != 3 || math.Abs(*c.ThroughputTokS.Value-20) > 1e-9 {
		t.Fatalf("pooled: %v, %v", *c.E2E.P50, *c.ThroughputTokS.Value)
	}
	m := MeanOverTrials(c)
	switch {
	case *m.E2E.P50 != 11 || *m.E2E.P95 != 16.5 || m.E2E.N != 6 || m.E2E.Label != DescriptiveOnly || m.ThroughputTokS.Reason != MeanOfRuns:
		t.Errorf("e2e %+v", m.E2E)
	case m.E2E.P50Certified != nil:
		t.Error("a mean of percentiles is certified")
	case math.Abs(*m.ThroughputTokS.Value-22.5) > 1e-9: // (30 + 15) / 2
		t.Errorf("throughput %v", *m.ThroughputTokS.Value)
	case m.Attempted != 6 || m.Trials != 2 || m.WallS != 3:
		t.Errorf("counts are no longer sums: %+v", m)
	case m.ThroughputSD.Value == nil || *m.ThroughputSD.Value != *c.ThroughputSD.Value:
		t.Errorf("the spread between trials: %+v", m.ThroughputSD)
	case m.CachedShare.Value != nil || m.CachedShare.Reason == "":
		t.Errorf("what is not known: %+v", m.CachedShare)
	}
}

// A trial without a value leaves the mean null, with that trial's reason.
func TestMeanOverTrialsNull(t *testing.T) {
	n := int64(4)
	good := Request{Planned: -1, Written: -1, FirstOutput: 1e6, FirstVisible: 1e6, LastOutput: -1, End: 2e6, OutputTokens: &n, Eligible: true}
	bad := good
	bad.FailureClass = "tool-error"
	c := MeanOverTrials(NewCell(CellOptions{Name: "x", Concurrency: 1}, []Trial{{WallNS: 1e9, CPUNS: -1, Requests: []Request{good}}, {WallNS: 1e9, CPUNS: -1, Requests: []Request{bad}}}))
	if c.E2E.P50 != nil || c.ThroughputTokS.Value != nil || c.ThroughputTokS.Reason == "" || c.Failed != 1 {
		t.Errorf("%+v, %+v", c.E2E, c.ThroughputTokS)
	}
}
