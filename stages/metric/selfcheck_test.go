package metric

import "testing"

// TestSelfCheckCovers: a trial of 5 s with as many events a second per stream.
func TestSelfCheckCovers(t *testing.T) {
	trial := func(streams, perSecond int, check *SelfCheck, change ...func(*Trial)) Trial {
		var rs []Request
		for range streams {
			rs = append(rs, stream(0, 10, 1, 5*perSecond))
		}
		out := calm(Trial{Requests: rs, WallNS: 5e9, MaxInFlight: streams})
		out.SelfCheck = check
		for _, f := range change {
			f(&out)
		}
		return out
	}
	four, reduced := &SelfCheck{Concurrency: 4}, &SelfCheck{Concurrency: 4, Reduced: true}
	for name, tt := range map[string]struct {
		o     CellOptions
		t     Trial
		bound bool
		doubt string
	}{
		"as many":              {at(4), trial(4, 30, four), false, ""},
		"as many, and fast":    {at(4), trial(4, 900, four), false, ""},
		"fewer":                {at(8), trial(8, 30, four), false, "client-unchecked: the self-check ran at 4 streams, and up to 8 requests were in flight"},
		"fewer, at the limit":  {at(8), trial(8, 50, four), false, "client-unchecked: the self-check ran at 4"},
		"fewer, above it":      {at(8), trial(8, 51, four), true, "client-bound: 408 output events came a second, and the self-check covers 400: it ran at 4 streams, and up to 8 requests were in flight"},
		"open loop":            {at(0), trial(8, 30, four), false, "client-unchecked: the self-check ran at 4"},
		"open loop, above it":  {at(0), trial(8, 51, four), true, "client-bound: 408 output events"},
		"reduced":              {at(4), trial(4, 30, reduced), false, "client-unchecked: the self-check ran at 4"},
		"reduced, above it":    {at(4), trial(4, 102, reduced), true, "client-bound: 408 output events"},
		"in flight not known":  {at(8), trial(8, 30, four, func(t *Trial) { t.MaxInFlight = 0 }), false, "up to 8 requests were in flight"},
		"failed ones are read": {at(8), trial(8, 51, four, func(t *Trial) { t.Requests[0].FailureClass = "timeout" }), true, "client-bound: 408"},
		"no wall, no rate":     {at(8), trial(8, 51, four, func(t *Trial) { t.WallNS = 0 }), false, "client-unchecked: the self-check ran at 4"},
		"none":                 {at(4), trial(4, 900, nil), false, "client-unchecked: the client was not checked against a server"},
		"no CPU time":          {at(4), trial(4, 30, four, func(t *Trial) { t.CPUNS = -1 }), false, "client-unchecked: the client's CPU time"},
	} {
		c := NewCell(tt.o, []Trial{tt.t})
		if c.ClientBound != tt.bound || tt.doubt == "" && c.Doubts != nil || tt.doubt != "" && (count2(c.Doubts, tt.doubt) != 1 || len(c.Doubts) != 1) {
			t.Errorf("%s: %v %q", name, c.ClientBound, c.Doubts)
		}
	}
}

func TestGapsUncertain(t *testing.T) {
	of := func(lag, gap int64) Trial {
		one := calm(Trial{Requests: []Request{stream(0, 500, gap, 10)}, WallNS: 2e9})
		one.SelfCheck.LagP99 = lag
		return one
	}
	for _, tt := range []struct {
		lag, gap  int64 // ns, ms
		uncertain bool
	}{{1e6, 1, false}, {1.1e6, 1, true}, {2e6, 20, false}, {2.1e6, 20, true}} {
		one, both := NewCell(at(1), []Trial{of(tt.lag, tt.gap)}), NewCell(at(1), []Trial{of(0, tt.gap), of(tt.lag, tt.gap)})
		if one.GapsUncertain != tt.uncertain || both.GapsUncertain != tt.uncertain || one.ClientBound ||
			count2(one.Doubts, "gaps-uncertain: ") == 1 != tt.uncertain || count2(both.Doubts, "trial 2: gaps-uncertain: ") == 1 != tt.uncertain {
			t.Errorf("%+v: %v %v %q %q", tt, one.GapsUncertain, both.GapsUncertain, one.Doubts, both.Doubts)
		}
	}
	if c := NewCell(at(1), []Trial{of(9e6, 0)}); !c.GapsUncertain {
		t.Errorf("gaps of 0: %q", c.Doubts)
	}
	one := of(9e6, 20)
	one.Requests[0].Gaps = nil
	if c := NewCell(at(1), []Trial{one}); c.GapsUncertain {
		t.Errorf("there are no gaps: %q", c.Doubts)
	}
}
