package loopback

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestHistogramBuckets(t *testing.T) {
	for b := range buckets - 1 {
		if got := bucket(upper(b)); got != b {
			t.Fatalf("the upper end %d of bucket %d lies in bucket %d", upper(b), b, got)
		}
		if got := bucket(upper(b) + 1); got != b+1 {
			t.Fatalf("what follows bucket %d lies in bucket %d", b, got)
		}
	}
	var h histogram
	h.add(1<<63 - 1)
	h.add(-5)
	if h.n != 2 || h.max != 1<<63-1 || h.rank(50) != 0 || h.rank(99) != h.max {
		t.Errorf("n %d, max %d, p50 %d, p99 %d", h.n, h.max, h.rank(50), h.rank(99))
	}
	if empty := (&histogram{}).rank(99); empty != 0 {
		t.Errorf("of nothing: %d", empty)
	}
}

func TestHistogramRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1e12), 1, 200).Draw(t, "values")
		var h histogram
		for _, v := range values {
			h.add(v)
		}
		slices.Sort(values)
		for _, p := range []int64{1, 50, 99, 100} {
			exact := values[(p*int64(len(values))+99)/100-1]
			if got := h.rank(p); got < exact || got > exact+exact/fineness {
				t.Errorf("p%d is %d, want %d and at most 1/32 more", p, got, exact)
			}
		}
	})
}

func TestTally(t *testing.T) {
	var c tally
	c.begin(100)
	c.begin(201)
	c.late(7)
	c.fast(3)
	c.broken()
	want := Stats{Schedule: CheckSchedule, Requests: 2, Events: 4, Cut: 1, LagP50: 7, LagP99: 7, LagMax: 7, FirstMean: 150}
	if got := c.stats(CheckSchedule, true); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := c.stats(CheckSchedule, false); got != (Stats{Schedule: CheckSchedule}) {
		t.Errorf("after the reset: %+v", got)
	}
}
