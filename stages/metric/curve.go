package metric

import "slices"

// Policy is what a context length must meet.
type Policy struct {
	Baseline int     // bucket in tokens that drops are measured against; the shortest where it was not attempted
	Floor    float64 // least pass rate
	MaxDrop  float64 // largest drop relative to the baseline's pass rate
}

// Bucket is the requests of one context length.
type Bucket struct {
	Tokens   int // nominal length
	Requests []Request
}

// Why a context length fails the policy.
const (
	BelowFloor = "pass_rate_below_floor"
	DropTooBig = "relative_drop_exceeded"
)

// rounding is how far two equal ratios may differ: a drop from 28/30 to 21/30
// is a little more than 0.25 when it is computed from pass rates.
const rounding = 1e-12

// NewCurve derives the effective context: the median length, as the engine
// counted it, of the longest bucket before the first that fails the policy, in
// order of length. What a bucket is called is not what was held in context, so
// it is null where the engine counted nothing, and when the baseline or the
// shortest bucket fails. A longer bucket that passes again does not count. The
// first degradation is a bucket. Buckets without a request are left out.
func NewCurve(p Policy, buckets []Bucket) Curve {
	c := Curve{Baseline: p.Baseline, Floor: p.Floor, MaxDrop: p.MaxDrop, Points: []CurvePoint{},
		Effective: Null(NoRequests, unitTokens), FirstDegradation: Null(NoRequests, unitTokens)}
	for _, b := range buckets {
		if len(b.Requests) > 0 {
			c.Points = append(c.Points, pointOf(b))
		}
	}
	if len(c.Points) == 0 {
		return c
	}
	slices.SortStableFunc(c.Points, func(a, b CurvePoint) int { return a.Tokens - b.Tokens })
	base := max(slices.IndexFunc(c.Points, func(x CurvePoint) bool { return x.Tokens == p.Baseline }), 0)
	c.Baseline = c.Points[base].Tokens
	for i := range c.Points {
		c.Points[i].judge(p, *c.Points[base].PassRate.Value)
	}
	c.walk(base)
	return c
}

func pointOf(b Bucket) CurvePoint {
	pt := CurvePoint{Tokens: b.Tokens, Attempted: len(b.Requests)}
	var lengths []float64
	for i := range b.Requests {
		r := &b.Requests[i]
		if r.passed() {
			pt.Passed++
		}
		if r.Outcome() != "" {
			continue
		}
		pt.Completed++
		if n := count(r.PromptTokens, NoUsage); n.there() {
			lengths = append(lengths, n.v)
		}
	}
	n := float64(pt.Attempted)
	pt.PassRate = Ratio(float64(pt.Passed), n, unitShare, NoRequests)
	pt.CompletionRate = Ratio(float64(pt.Completed), n, unitShare, NoRequests)
	pt.PromptTokens = Null(NoUsage, unitTokens)
	if d := distOf(lengths, unitTokens, NoUsage); d.P50 != nil {
		pt.PromptTokens = Of(*d.P50, unitTokens)
	}
	return pt
}

// judge compares a point with the baseline's pass rate.
func (pt *CurvePoint) judge(p Policy, base float64) {
	pt.RelativeDrop = Of(relativeDrop(base, *pt.PassRate.Value), unitShare)
	why := pt.fails(p)
	if pt.Meets = len(why) == 0; !pt.Meets {
		pt.Reason = why[0]
	}
}

// relativeDrop is the part of the baseline's pass rate that is lost. Nothing
// can be said against a baseline that never passes, so a bucket that does then
// counts as different altogether.
func relativeDrop(base, rate float64) float64 {
	switch {
	case base > 0:
		return max(0, (base-rate)/base)
	case rate > 0:
		return 1
	}
	return 0
}

// fails lists what the policy holds against a point.
func (pt *CurvePoint) fails(p Policy) (why []string) {
	if *pt.PassRate.Value < p.Floor {
		why = append(why, BelowFloor)
	}
	if *pt.RelativeDrop.Value > p.MaxDrop+rounding {
		why = append(why, DropTooBig)
	}
	return why
}

// walk finds the first point that fails, from the shortest.
func (c *Curve) walk(base int) {
	first := slices.IndexFunc(c.Points, func(x CurvePoint) bool { return !x.Meets })
	if first < 0 {
		c.Effective = c.Points[len(c.Points)-1].PromptTokens
		c.FirstDegradation = Null(NoneDegraded, unitTokens)
		return
	}
	c.FirstDegradation = Of(float64(c.Points[first].Tokens), unitTokens)
	c.DegradedBecause = c.Points[first].fails(Policy{Floor: c.Floor, MaxDrop: c.MaxDrop})
	if first == 0 || !c.Points[base].Meets {
		c.Effective = Null(BaselineFailed, unitTokens)
		return
	}
	c.Effective = c.Points[first-1].PromptTokens
}
