package metric

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// exactRun runs from one moment to another, in ms, by the clock "host".
func exactRun(from, to int64, tokens int64) ReplicaRun {
	return ReplicaRun{StartNS: tok(from * 1e6), FinishNS: tok(to * 1e6), StartSec: from / 1000, FinishSec: to / 1000,
		WallMS: float64(to - from), ClockDomain: "host", Tokens: tokens}
}

func TestUnion(t *testing.T) {
	second := ReplicaRun{StartSec: 0, FinishSec: 10, WallMS: 10_000, Tokens: 4}
	undeclared := exactRun(0, 10_000, 4)
	undeclared.ClockDomain = ""
	for name, tt := range map[string]struct {
		runs                  []ReplicaRun
		low, high, tokS, upTo float64
		alignment             string
	}{
		"same second":      {[]ReplicaRun{second, second}, 10_000, 11_000, 8.0 / 11, 0.8, AlignedBounded},
		"exact":            {[]ReplicaRun{exactRun(0, 10_000, 4), exactRun(500, 10_500, 4)}, 10_500, 10_500, 8 / 10.5, 8 / 10.5, AlignedExactly},
		"undeclared clock": {[]ReplicaRun{undeclared, undeclared}, 10_000, 11_000, 8.0 / 11, 0.8, AlignedBounded},
		"recorded": {[]ReplicaRun{ // 04:36:18 to 04:36:54
			{StartSec: 16578, FinishSec: 16614, WallMS: 35969.8965, Tokens: 100},
			{StartSec: 16578, FinishSec: 16614, WallMS: 35555.3731, Tokens: 100}}, 35969.8965, 36525.2696, 200 / 36.5252696, 200 / 35.9698965, AlignedBounded},
		"before 1970": {[]ReplicaRun{
			{StartNS: tok(-1500e6), FinishNS: tok(500e6), StartSec: -2, FinishSec: 0, WallMS: 2000, ClockDomain: "host", Tokens: 1},
			exactRun(0, 1000, 1)}, 2500, 2500, 0.8, 0.8, AlignedExactly},
		"three": {[]ReplicaRun{exactRun(0, 4000, 1), exactRun(3000, 9000, 1), exactRun(2000, 5000, 1)}, 9000, 9000, 3.0 / 9, 3.0 / 9, AlignedExactly},
	} {
		u, err := NewUnion(tt.runs)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if math.Abs(u.WallLowMS-tt.low) > 1e-6 || math.Abs(u.WallHighMS-tt.high) > 1e-6 || u.Alignment != tt.alignment || (u.Estimate == EstimateExact) != (u.Alignment == AlignedExactly) {
			t.Errorf("%s: %+v", name, u)
		}
		want(t, u.TokS, tt.tokS, "")
		want(t, u.TokSHigh, tt.upTo, "")
	}
}

func TestUnionRefuses(t *testing.T) {
	good := func() []ReplicaRun { return []ReplicaRun{exactRun(0, 10_000, 4), exactRun(500, 10_500, 4)} }
	bounded := func() []ReplicaRun {
		return []ReplicaRun{{FinishSec: 10, WallMS: 10_000, Tokens: 4}, {FinishSec: 10, WallMS: 9_800, Tokens: 4}}
	}
	for name, tt := range map[string]struct {
		runs   []ReplicaRun
		change func(*ReplicaRun)
		want   string
	}{
		"one":                 {good()[:1], func(*ReplicaRun) {}, "two or more"},
		"wall against ns":     {good(), func(r *ReplicaRun) { r.WallMS = 9000 }, "does not reconcile"},
		"just too far":        {good(), func(r *ReplicaRun) { r.WallMS = 10_005.1 }, "does not reconcile"},
		"second against ns":   {good(), func(r *ReplicaRun) { r.StartSec = 1 }, "is not in the second 1"},
		"finish against ns":   {good(), func(r *ReplicaRun) { r.FinishSec = 11 }, "is not in the second 11"},
		"no overlap":          {good(), func(r *ReplicaRun) { *r = exactRun(10_500, 11_000, 1) }, "started 500 ms after"},
		"other clock":         {good(), func(r *ReplicaRun) { r.ClockDomain = "other" }, "cannot be compared"},
		"half of the ns":      {good(), func(r *ReplicaRun) { r.FinishNS = nil }, "only one of start and finish"},
		"no tokens":           {good(), func(r *ReplicaRun) { r.Tokens = 0 }, "0 output tokens"},
		"too many tokens":     {good(), func(r *ReplicaRun) { r.Tokens = math.MaxInt64 }, "exceeds"},
		"no wall":             {good(), func(r *ReplicaRun) { r.WallMS = 0 }, "not a duration"},
		"NaN":                 {good(), func(r *ReplicaRun) { r.WallMS = math.NaN() }, "not a duration"},
		"backwards":           {bounded(), func(r *ReplicaRun) { r.StartSec = 11 }, "before its start"},
		"another second":      {bounded(), func(r *ReplicaRun) { r.StartSec = 1 }, "must start in one second"},
		"wall above its span": {bounded(), func(r *ReplicaRun) { r.WallMS = 11_001 }, "does not fit"},
		"wall below its span": {bounded(), func(r *ReplicaRun) { r.WallMS = 8_999 }, "does not fit"},
	} {
		tt.change(&tt.runs[len(tt.runs)-1])
		if u, err := NewUnion(tt.runs); err == nil || !strings.Contains(err.Error(), tt.want) || u != (Union{}) {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
}

// TestUnionBoundsHoldTheTruth: replicas at any moments within the same seconds
// have their true union between the bounds.
func TestUnionBoundsHoldTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []ReplicaRun
		first, last := math.Inf(1), math.Inf(-1)
		for range rapid.IntRange(2, 4).Draw(t, "replicas") {
			from, to := rapid.Float64Range(0, 999.999).Draw(t, "start"), 7000+rapid.Float64Range(0, 999.999).Draw(t, "finish")
			first, last = min(first, from), max(last, to)
			runs = append(runs, ReplicaRun{FinishSec: 7, WallMS: to - from, Tokens: 1})
		}
		u, err := NewUnion(runs)
		if err != nil {
			t.Fatal(err)
		}
		if truth := last - first; truth < u.WallLowMS-1e-6 || truth > u.WallHighMS+1e-6 {
			t.Fatalf("%v is not within %v to %v", truth, u.WallLowMS, u.WallHighMS)
		}
	})
}
