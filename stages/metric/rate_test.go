package metric

import (
	"testing"

	"pgregory.net/rapid"
)

// stream is a request with events evenly apart: sent at the millisecond from,
// its first event first ms later, the others gap ms apart, a token each, ended
// with its last event.
func stream(from, first, gap int64, events int, change ...func(*Request)) Request {
	r := Request{Planned: -1, Dispatched: from * 1e6, FirstOutput: first * 1e6, FirstVisible: first * 1e6,
		Gaps: make([]int64, events-1), PromptTokens: tok(100), OutputTokens: tok(int64(events)), ContentChunks: events, Eligible: true}
	for i := range r.Gaps {
		r.Gaps[i] = gap * 1e6
	}
	r.LastOutput = (first + gap*int64(events-1)) * 1e6
	r.End = r.LastOutput
	for _, f := range change {
		f(&r)
	}
	return r
}

// two streams, each request a second long with an event every 100 ms: one is
// busy from 0 to 3 s, the other from 0.5 to 2.5 s.
func two() []Request {
	var rs []Request
	for _, from := range []int64{0, 1000, 2000, 500, 1500} {
		rs = append(rs, stream(from, 100, 100, 10))
	}
	return rs
}

func TestSteady(t *testing.T) {
	c := NewCell(at(2), []Trial{{Requests: two(), WallNS: 3e9}})
	want(t, c.ThroughputTokS, 50.0/3, "")
	want(t, c.SteadyTokS, 40.0/2, "") // 0.5 to 2.5 s: 5 + 10 + 5 and 10 + 10
	want(t, c.PeakTokS, 20, "")       // the second of the three seconds
	pooled := NewCell(at(2), []Trial{{Requests: two(), WallNS: 3e9}, {Requests: two(), WallNS: 3e9}})
	want(t, pooled.SteadyTokS, 20, "")

	lost := append(two(), golden(func(r *Request) { r.FailureClass = "timeout" }))
	for name, tt := range map[string]struct {
		o      CellOptions
		rows   []Request
		reason string
	}{
		"open loop":     {at(0), two(), OpenLoop},
		"never full":    {at(3), two(), NoSteadyWindow},
		"a moment":      {at(2), []Request{stream(0, 100, 100, 10), stream(900, 100, 100, 10)}, FewCompletions},
		"one failed":    {at(2), lost, IncompleteCell},
		"no usage":      {at(1), []Request{stream(0, 9, 9, 9, func(r *Request) { r.OutputTokens = nil })}, NoUsage},
		"not stamped":   {at(1), []Request{stream(0, 9, 9, 9, func(r *Request) { r.Gaps = nil })}, NoEventStamps},
		"out of order":  {at(1), []Request{stream(0, 9, 9, 9, func(r *Request) { r.Gaps[1] = -1 })}, InconsistentTime},
		"one after one": {at(1), []Request{stream(0, 9, 9, 9), stream(81, 9, 9, 9)}, FewCompletions},
	} {
		c := NewCell(tt.o, []Trial{{Requests: tt.rows, WallNS: 3e9}})
		if c.SteadyTokS.Value != nil || c.SteadyTokS.Reason != tt.reason {
			t.Errorf("%s: %+v, want %s", name, c.SteadyTokS, tt.reason)
		}
	}
}

// TestShares: what an event carries, known or not.
func TestShares(t *testing.T) {
	for name, tt := range map[string]struct {
		r    Request
		want []float64
	}{
		"a token each":        {stream(0, 1, 1, 3), []float64{1, 1, 1}},
		"speculative":         {stream(0, 1, 1, 4, func(r *Request) { r.OutputTokens = tok(10) }), []float64{2.5, 2.5, 2.5, 2.5}},
		"first known":         {stream(0, 1, 1, 3, func(r *Request) { r.OutputTokens, r.FirstTokens = tok(9), 5 }), []float64{5, 2, 2}},
		"first more than all": {stream(0, 1, 1, 3, func(r *Request) { r.FirstTokens = 9 }), []float64{3, 0, 0}},
		"one event":           {stream(0, 1, 1, 1, func(r *Request) { r.OutputTokens = tok(7) }), []float64{7}},
		"one piece":           {Request{Unstreamed: true, End: 5, OutputTokens: tok(7)}, []float64{7}},
	} {
		var got []float64
		if why := tt.r.arrivals(func(_ int64, n float64) { got = append(got, n) }); why != "" || !equal(got, tt.want) {
			t.Errorf("%s: %v %q, want %v", name, got, why, tt.want)
		}
	}
}

func equal(a, b []float64) bool {
	for i := range b {
		if len(a) != len(b) || a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// TestPeakIsNeverBelowTheMean: whatever the stamps, and whatever an event
// carries, and though tokens may fall just outside the wall.
func TestPeakIsNeverBelowTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var trials []Trial
		for range rapid.IntRange(1, 3).Draw(t, "trials") {
			var rs []Request
			for range rapid.IntRange(1, 6).Draw(t, "requests") {
				rs = append(rs, stream(rapid.Int64Range(0, 9000).Draw(t, "from"), rapid.Int64Range(0, 900).Draw(t, "first"),
					rapid.Int64Range(0, 300).Draw(t, "gap"), rapid.IntRange(1, 30).Draw(t, "events"), func(r *Request) {
						r.OutputTokens = tok(rapid.Int64Range(0, 500).Draw(t, "tokens"))
						r.FirstTokens = rapid.IntRange(0, 9).Draw(t, "first tokens")
					}))
			}
			trials = append(trials, Trial{Requests: rs, WallNS: rapid.Int64Range(1e9, 20e9).Draw(t, "wall")})
		}
		c := NewCell(at(1), trials)
		if *c.PeakTokS.Value < *c.ThroughputTokS.Value {
			t.Fatalf("peak %v, mean %v", *c.PeakTokS.Value, *c.ThroughputTokS.Value)
		}
	})
	short := NewCell(at(1), []Trial{{Requests: two(), WallNS: 999e6}})
	want(t, short.PeakTokS, 0, TooBrief)
}

func TestNotBelow(t *testing.T) {
	for _, tt := range []struct {
		peak, mean, want float64
		reason           string
	}{
		{20, 10, 20, ""}, {10, 10, 10, ""}, {0, 0, 0, ""},
		{10 * (1 - 1e-10), 10, 10, ""}, // rounding
		{10 * (1 - 1e-8), 10, 0, BelowMean},
		{0, 10, 0, BelowMean},
	} {
		got := notBelow(tt.peak, tt.mean).in(unitTokS)
		want(t, got, tt.want, tt.reason)
		c := Cell{PeakTokS: got}
		c.doubt(&pool{trials: []Trial{{}}})
		if count2(c.Doubts, "below the mean rate, which cannot be") == 1 != (tt.reason != "") {
			t.Errorf("%+v: %q", tt, c.Doubts)
		}
	}
}

func TestDrift(t *testing.T) {
	run := func(n int64) Trial {
		return Trial{Requests: []Request{golden(func(r *Request) { r.OutputTokens = tok(n) })}, WallNS: 1e9}
	}
	broken := Trial{Requests: []Request{golden(func(r *Request) { r.Eligible = false })}, WallNS: 1e9}
	for name, tt := range map[string]struct {
		trials []Trial
		want   float64
		reason string
		doubts int
	}{
		"slower":      {[]Trial{run(100), run(500), run(90)}, -10, "", 1},
		"about equal": {[]Trial{run(100), run(104)}, 4, "", 0},
		"one trial":   {[]Trial{run(100)}, 0, OneRun, 0},
		"none":        {nil, 0, OneRun, 0},
		"lost one":    {[]Trial{run(100), broken}, 0, ContractFailed, 0},
		"from none":   {[]Trial{run(0), run(1)}, 0, ZeroMean, 0},
	} {
		c := NewCell(at(1), tt.trials)
		want(t, c.DriftPct, tt.want, tt.reason)
		if n := count2(c.Doubts, "drift:"); n != tt.doubts {
			t.Errorf("%s: %q", name, c.Doubts)
		}
	}
}
