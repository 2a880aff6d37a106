package metric

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bucket has n requests of which pass pass and lost are lost.
func bucket(tokens, n, pass, lost int) Bucket {
	b := Bucket{Tokens: tokens}
	for i := range n {
		ok := i < pass
		b.Requests = append(b.Requests, golden(func(r *Request) {
			r.Check, r.PromptTokens = &ok, tok(int64(tokens)+int64(i)-1)
			if i >= n-lost {
				r.FailureClass = "timeout"
			}
		}))
	}
	return b
}

// counted has every prompt counted as n tokens.
func counted(b Bucket, n int64) Bucket {
	for i := range b.Requests {
		b.Requests[i].PromptTokens = &n
	}
	return b
}

func TestCurve(t *testing.T) {
	scout := Policy{Baseline: 8192, Floor: 0.75, MaxDrop: 0.25}
	for name, tt := range map[string]struct {
		p             Policy
		buckets       []Bucket
		effective     float64 // 0 = null
		first         float64
		reason        string
		because       []string
		baseline      int
		baseDropMeets []bool
	}{
		"holds throughout": {scout, []Bucket{bucket(32768, 4, 3, 0), bucket(8192, 4, 4, 0)},
			32768, 0, "", nil, 8192, []bool{true, true}},
		"degrades": {scout, []Bucket{bucket(8192, 20, 20, 0), bucket(32768, 20, 16, 0), bucket(131072, 20, 9, 0)},
			32776, 131072, "", []string{BelowFloor, DropTooBig}, 8192, []bool{true, true, false}},
		"recovers later": {scout, []Bucket{bucket(8192, 4, 4, 0), bucket(32768, 4, 2, 0), bucket(131072, 4, 4, 0)},
			8192, 32768, "", []string{BelowFloor, DropTooBig}, 8192, []bool{true, false, true}},
		"below the floor only": {Policy{8192, 0.8, 0.25}, []Bucket{bucket(8192, 10, 8, 0), bucket(32768, 10, 7, 0)},
			8195, 32768, "", []string{BelowFloor}, 8192, []bool{true, false}},
		"drops only": {Policy{8192, 0.5, 0.2}, []Bucket{bucket(8192, 10, 10, 0), bucket(32768, 10, 7, 0)},
			8195, 32768, "", []string{DropTooBig}, 8192, []bool{true, false}},
		"baseline fails": {scout, []Bucket{bucket(8192, 4, 2, 0), bucket(32768, 4, 4, 0)},
			0, 8192, BaselineFailed, []string{BelowFloor}, 8192, []bool{false, true}},
		"baseline never passes": {scout, []Bucket{bucket(8192, 4, 0, 0), bucket(32768, 4, 4, 0)},
			0, 8192, BaselineFailed, []string{BelowFloor}, 8192, []bool{false, false}},
		"a longer baseline fails": {Policy{32768, 0.75, 1}, []Bucket{bucket(8192, 4, 4, 0), bucket(32768, 4, 2, 0)},
			0, 32768, BaselineFailed, []string{BelowFloor}, 32768, []bool{true, false}},
		"the shortest fails": {Policy{32768, 0.75, 1}, []Bucket{bucket(8192, 4, 2, 0), bucket(32768, 4, 4, 0)},
			0, 8192, BaselineFailed, []string{BelowFloor}, 32768, []bool{false, true}},
		"baseline not attempted": {scout, []Bucket{{Tokens: 8192}, bucket(65536, 4, 4, 0), bucket(32768, 4, 4, 0)},
			65536, 0, "", nil, 32768, []bool{true, true}},
		"lost is not passed": {scout, []Bucket{bucket(8192, 4, 4, 0), bucket(32768, 4, 4, 2)},
			8192, 32768, "", []string{BelowFloor, DropTooBig}, 8192, []bool{true, false}},
		"rounding decides nothing": {Policy{8192, 0.7, 0.25}, []Bucket{bucket(8192, 30, 28, 0), bucket(32768, 30, 21, 0)},
			32781, 0, "", nil, 8192, []bool{true, true}},
		"held less than asked for": {scout, []Bucket{bucket(8192, 4, 4, 0), counted(bucket(32768, 3, 3, 0), 20_000)},
			20_000, 0, "", nil, 8192, []bool{true, true}},
		"nothing counted": {scout, []Bucket{bucket(8192, 4, 4, 0), counted(bucket(32768, 3, 3, 0), -1)},
			0, 0, NoUsage, nil, 8192, []bool{true, true}},
		"not counted where it fails": {scout, []Bucket{bucket(8192, 4, 4, 0), counted(bucket(32768, 3, 0, 0), -1)},
			8192, 32768, "", []string{BelowFloor, DropTooBig}, 8192, []bool{true, false}},
		"nothing attempted": {scout, nil, 0, 0, NoRequests, nil, 8192, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewCurve(tt.p, tt.buckets)
			want(t, c.Effective, tt.effective, tt.reason)
			switch {
			case tt.first != 0:
				want(t, c.FirstDegradation, tt.first, "")
			case tt.reason == "":
				want(t, c.FirstDegradation, 0, NoneDegraded)
			}
			var meets []bool
			for _, p := range c.Points {
				meets = append(meets, p.Meets)
			}
			if !slices.Equal(meets, tt.baseDropMeets) || !slices.Equal(c.DegradedBecause, tt.because) || c.Baseline != tt.baseline {
				t.Errorf("%v %q baseline %d", meets, c.DegradedBecause, c.Baseline)
			}
		})
	}
}

func TestCurvePoint(t *testing.T) {
	c := NewCurve(Policy{100, 0.5, 0.2}, []Bucket{bucket(100, 10, 8, 0), bucket(200, 10, 6, 3)})
	p := c.Points[1]
	want(t, p.PassRate, 0.6, "")
	want(t, p.CompletionRate, 0.7, "")
	want(t, p.RelativeDrop, 0.25, "")
	want(t, p.PromptTokens, 202, "") // of 199 to 205, the engine's count and not the bucket's
	if p.Attempted != 10 || p.Completed != 7 || p.Passed != 6 || p.Reason != DropTooBig {
		t.Errorf("%+v", p)
	}
	for _, tt := range []struct{ base, rate, want float64 }{{0, 0, 0}, {0, 0.5, 1}, {0.5, 0.75, 0}, {0.8, 0.4, 0.5}, {1, 0, 1}} {
		if got := relativeDrop(tt.base, tt.rate); got != tt.want {
			t.Errorf("drop from %v to %v: %v, want %v", tt.base, tt.rate, got, tt.want)
		}
	}
}

// TestCurveProperties: all buckets up to the effective context meet the policy,
// and the next one does not.
func TestCurveProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var bs []Bucket
		for i := range rapid.IntRange(1, 6).Draw(t, "buckets") {
			n := rapid.IntRange(1, 8).Draw(t, "n")
			bs = append(bs, bucket(1000*(i+1), n, rapid.IntRange(0, n).Draw(t, "pass"), 0))
		}
		c := NewCurve(Policy{1000, rapid.Float64Range(0, 1).Draw(t, "floor"), rapid.Float64Range(0, 1).Draw(t, "drop")}, bs)
		held := slices.IndexFunc(c.Points, func(p CurvePoint) bool { return !p.Meets })
		if held < 0 {
			held = len(c.Points)
		}
		switch v := c.Effective.Value; {
		case v == nil && held != 0:
			t.Fatalf("null though %d buckets hold", held)
		case v != nil && *v != *c.Points[held-1].PromptTokens.Value:
			t.Fatalf("%v, and %d buckets hold", *v, held)
		case v != nil && held < len(c.Points) && *c.FirstDegradation.Value != float64(1000*(held+1)):
			t.Fatalf("degrades first at %v, and %d buckets hold", *c.FirstDegradation.Value, held)
		}
	})
}
