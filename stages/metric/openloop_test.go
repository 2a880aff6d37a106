package metric

import (
	"strings"
	"testing"
)

// count2 counts the sentences that hold what.
func count2(doubts []string, what string) (n int) {
	for _, s := range doubts {
		if strings.Contains(s, what) {
			n++
		}
	}
	return n
}

// open are n requests planned a tenth of a second apart, each late ms late.
func open(n int, late int64) (rs []Request) {
	for i := range int64(n) {
		rs = append(rs, stream(100*i+late, 50, 10, 6, func(r *Request) { r.Planned = 100 * i * 1e6 }))
	}
	return rs
}

// slowed has the first token after ttft ms.
func slowed(rs []Request, ttft int64) []Request {
	for i := range rs {
		rs[i].FirstOutput, rs[i].FirstVisible = ttft*1e6, ttft*1e6
		rs[i].LastOutput, rs[i].End = (ttft+50)*1e6, (ttft+50)*1e6
	}
	return rs
}

func TestOpenLoop(t *testing.T) {
	failed := func(r *Request) { r.FailureClass, r.End = "timeout", -1 }
	rs := open(100, 3)
	failed(&rs[99])
	rs[99].Dispatched += 37e6
	c := NewCell(at(0), []Trial{calm(Trial{Requests: rs, WallNS: 12e9, WindowNS: 10e9, Planned: 100})})
	want(t, c.OfferedRate, 10, "")
	want(t, c.AchievedRate, 10, "")
	want(t, c.RequestRate, 99.0/12, "")
	want(t, c.SteadyTokS, 0, IncompleteCell)
	if *c.TTFT.P50 != 50 || *c.TTFTFromSchedule.P50 != 53 || *c.E2E.P50 != 100 || *c.E2EFromSchedule.Max != 103 || c.E2EFromSchedule.N != 99 {
		t.Errorf("%+v %+v", c.TTFTFromSchedule, c.E2EFromSchedule)
	}
	if c.ScheduleLag.N != 100 || *c.ScheduleLag.P50 != 3 || *c.ScheduleLag.Max != 40 {
		t.Errorf("the lag of failed requests counts: %+v", c.ScheduleLag)
	}
	if c.OffRate || c.Doubts != nil {
		t.Errorf("%v %q", c.OffRate, c.Doubts)
	}
	closed := NewCell(at(2), []Trial{{Requests: two(), WallNS: 3e9}})
	want(t, closed.OfferedRate, 0, ClosedLoop)
	if closed.ScheduleLag.Reason != ClosedLoop || closed.E2EFromSchedule.Reason != ClosedLoop {
		t.Errorf("%+v %+v", closed.ScheduleLag, closed.E2EFromSchedule)
	}
}

func TestOffRate(t *testing.T) {
	for name, tt := range map[string]struct {
		trials []Trial
		off    bool
		doubt  string
	}{
		"all sent":     {[]Trial{{Requests: open(100, 0), WindowNS: 10e9, WallNS: 11e9}}, false, ""},
		"1 % not sent": {[]Trial{{Requests: open(99, 0), Unsent: 1, WindowNS: 10e9, WallNS: 11e9}}, false, "1 planned requests were not sent"},
		"2 % not sent": {[]Trial{{Requests: open(98, 0), Unsent: 2, WindowNS: 10e9, WallNS: 11e9}}, true, "off-rate: 9.8 req/s were sent where 10 were planned"},
		"in one of two": {[]Trial{{Requests: open(100, 0), WindowNS: 10e9, WallNS: 11e9},
			{Requests: open(98, 0), Unsent: 2, WindowNS: 10e9, WallNS: 11e9}}, true, "trial 2: off-rate"},
		"late":     {[]Trial{{Requests: open(100, 6), WindowNS: 10e9, WallNS: 11e9}}, false, "requests left up to 6 ms after"},
		"at 10 ms": {[]Trial{{Requests: open(100, 10), WindowNS: 10e9, WallNS: 11e9}}, false, "requests left up to 10 ms after"},
		"too late": {[]Trial{{Requests: open(100, 11), WindowNS: 10e9, WallNS: 11e9}}, true, "requests left up to 11 ms after their planned time (p99, at most 10 ms)"}, // TTFT p50 is 50 ms
		"too late in one": {[]Trial{{Requests: open(300, 0), WindowNS: 30e9, WallNS: 31e9},
			{Requests: open(2, 11), WindowNS: 0.2e9, WallNS: 11e9}}, true, "trial 2: off-rate: requests left up to 11 ms"}, // not the p99 of both
		"late against a TTFT of 400 ms": {[]Trial{{Requests: slowed(open(100, 40), 400), WindowNS: 10e9, WallNS: 11e9}}, false, ""},
		"too late even then":            {[]Trial{{Requests: slowed(open(100, 41), 400), WindowNS: 10e9, WallNS: 11e9}}, true, "at most 40 ms"},
	} {
		for i := range tt.trials {
			tt.trials[i] = calm(tt.trials[i])
		}
		c := NewCell(at(0), tt.trials)
		if c.OffRate != tt.off || tt.doubt != "" && count2(c.Doubts, tt.doubt) != 1 || tt.doubt == "" && c.Doubts != nil {
			t.Errorf("%s: %v %q", name, c.OffRate, c.Doubts)
		}
	}
}

func TestSLO(t *testing.T) {
	all := &SLO{TTFT: 50, TTFO: 50, TPOT: 10, E2E: 100}
	yes := func(*Request) {}
	for name, tt := range map[string]struct {
		slo    *SLO
		change func(*Request)
		good   float64 // of 10
		reason string
	}{
		"all met, on the bound":     {all, yes, 10, ""},
		"ttft missed":               {&SLO{TTFT: 49.9, E2E: 999}, yes, 0, ""},
		"ttfo missed":               {&SLO{TTFT: 999, TTFO: 49.9}, yes, 0, ""},
		"tpot missed":               {&SLO{TTFT: 999, TPOT: 9.9}, yes, 0, ""},
		"e2e missed":                {&SLO{TTFT: 999, E2E: 99.9}, yes, 0, ""},
		"failed":                    {&SLO{E2E: 1e9}, func(r *Request) { r.FailureClass = "timeout" }, 9, ""},
		"contract":                  {&SLO{E2E: 1e9}, func(r *Request) { r.Eligible = false }, 9, ""},
		"none stated":               {nil, yes, 0, NoSLO},
		"empty":                     {&SLO{}, yes, 0, NoSLO},
		"no usage":                  {all, func(r *Request) { r.OutputTokens = nil }, 0, NoUsage},
		"no usage, and ttft missed": {&SLO{TTFT: 1, TPOT: 10}, func(r *Request) { r.OutputTokens = nil }, 0, ""},
		"no usage needed":           {&SLO{TTFT: 50}, func(r *Request) { r.OutputTokens = nil }, 10, ""},
		"one token":                 {all, func(r *Request) { r.OutputTokens = tok(1) }, 0, TooShort},
		"one piece":                 {all, func(r *Request) { r.Unstreamed = true }, 0, NotStreamed},
		"early by the schedule":     {&SLO{E2E: 99.9}, func(r *Request) { r.Dispatched -= 50e6 }, 0, ""},
		"late by the schedule":      {&SLO{E2E: 100}, func(r *Request) { r.Dispatched++ }, 9, ""},
	} {
		rs := open(10, 0)
		tt.change(&rs[4])
		c := NewCell(CellOptions{Protocol: CapacityV3, SLO: tt.slo}, []Trial{{Requests: rs, WallNS: 8e9, WindowNS: 2e9}})
		t.Run(name, func(t *testing.T) {
			want(t, c.Goodput, tt.good/2, tt.reason)
			want(t, c.SLOAttained, tt.good/10, tt.reason)
		})
	}
	rs := open(8, 0)
	c := NewCell(CellOptions{SLO: all}, []Trial{{Requests: rs, Unsent: 2, WallNS: 8e9, WindowNS: 1e9}})
	want(t, c.SLOAttained, 0.8, "") // unsent requests were not served
	c = NewCell(CellOptions{SLO: all, Concurrency: 1}, []Trial{{Requests: rs, WallNS: 4e9}})
	want(t, c.Goodput, 2, "") // closed loop: per second of the wall
	c = NewCell(CellOptions{SLO: all}, []Trial{{Requests: rs, Unsent: 2, Planned: 11, WallNS: 8e9, WindowNS: 1e9}})
	want(t, c.Goodput, 0, Unaccounted)
	c = NewCell(CellOptions{SLO: all}, nil)
	want(t, c.Goodput, 0, NoRequests)
}

func TestPassRate(t *testing.T) {
	check := func(ok bool) func(*Request) { return func(r *Request) { r.Check = &ok } }
	late := golden(check(true), func(r *Request) { r.FailureClass = "timeout" })
	c := NewCell(at(1), []Trial{{Requests: []Request{golden(check(true)), golden(check(false)), late, golden()}, WallNS: 1e9}})
	want(t, c.PassRate, 0.25, "")
	want(t, NewCell(at(1), []Trial{{Requests: two(), WallNS: 1e9}}).PassRate, 0, NotChecked)
}
