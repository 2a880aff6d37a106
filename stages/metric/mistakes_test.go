package metric

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The rows of the public lists of measurement mistakes that a formula decides,
// each with the number that is right. T: timing, K: tokens, A: aggregation, L:
// load, F: failures, D: caches, W: asiai's.

func cellOf(o CellOptions, rs ...Request) Cell {
	return NewCell(o, []Trial{{Requests: rs, WallNS: 10e9, WindowNS: 10e9}})
}

func p50(d Dist) Value {
	if d.P50 == nil {
		return Null(d.Reason, d.Unit)
	}
	return Of(*d.P50, d.Unit)
}

// with is a stream of 10 ms gaps after 80 ms, changed.
func with(events int, change ...func(*Request)) Request { return stream(0, 80, 10, events, change...) }

func tokens(n int64) func(*Request)      { return func(r *Request) { r.OutputTokens = &n } }
func firstHas(n int) func(*Request)      { return func(r *Request) { r.FirstTokens = n } }
func tail(ms int64) func(*Request)       { return func(r *Request) { r.End += ms * 1e6 } }
func unstreamed(r *Request)              { r.Unstreamed = true }
func noUsage(r *Request)                 { r.OutputTokens = nil }
func late(ms int64) func(*Request)       { return func(r *Request) { r.Planned, r.Dispatched = 0, ms*1e6 } }
func asked(n int) func(*Request)         { return func(r *Request) { r.AskedPromptTokens = n } }
func thinking(n int) func(*Request)      { return func(r *Request) { r.ReasoningChunks = n } }
func cached(n int64) func(*Request)      { return func(r *Request) { r.CachedTokens = &n } }
func gap(i int, ns int64) func(*Request) { return func(r *Request) { r.Gaps[i] = ns } }

func TestMistakes(t *testing.T) {
	v3, v4 := at(1), CellOptions{Concurrency: 1, Protocol: CapacityV4Reasoning}
	for _, tt := range []struct {
		id     string
		o      CellOptions
		rows   []Request
		of     func(Cell) Value
		want   float64
		reason string
	}{
		{"T7 gaps are events-1", v3, []Request{with(5)}, func(c Cell) Value { return Of(float64(c.ITL.N), "") }, 4, ""},
		{"T7 no TTFT among the gaps", v3, []Request{with(5)}, func(c Cell) Value { return Of(*c.ITL.Max, "") }, 10, ""},
		{"T8 ITL without TTFT", v3, []Request{with(5)}, func(c Cell) Value { return Of(*c.ITL.Mean, "") }, 10, ""},
		{"T9 end of the last token", v3, []Request{with(11, tail(50))}, func(c Cell) Value { return p50(c.DecodeSpanTokS) }, 100, ""},
		{"T9 end of the stream", v3, []Request{with(11, tail(50))}, func(c Cell) Value { return p50(c.E2E) }, 230, ""},
		{"T12 one token has a TTFT", v3, []Request{with(1)}, func(c Cell) Value { return p50(c.TTFT) }, 80, ""},
		{"T12 and no TPOT", v3, []Request{with(1)}, func(c Cell) Value { return p50(c.TPOT) }, 0, TooShort},
		{"T12 and no ITL", v3, []Request{with(1)}, func(c Cell) Value { return p50(c.ITL) }, 0, TooShort},
		{"T13 speculative gap", v3, []Request{with(50, tokens(125))}, func(c Cell) Value { return p50(c.EventGap) }, 10, ""},
		{"T13 is no ITL", v3, []Request{with(50, tokens(125))}, func(c Cell) Value { return p50(c.ITL) }, 0, CoarseChunks},
		{"T13 time per token", v3, []Request{with(50, tokens(125))}, func(c Cell) Value { return p50(c.TPOT) }, 490.0 / 124, ""},
		{"T14 peak counts tokens", v3, []Request{with(100, tokens(400))}, func(c Cell) Value { return c.PeakTokS }, 368, ""}, // 92 events before 1 s
		{"T14 above the mean", v3, []Request{with(100, tokens(400))}, func(c Cell) Value { return c.ThroughputTokS }, 40, ""},
		{"T15 buffered: no ITL", v3, []Request{with(32, tokens(6400))}, func(c Cell) Value { return p50(c.ITL) }, 0, CoarseChunks},
		{"T15 buffered: no span", v3, []Request{with(32, tokens(6400))}, func(c Cell) Value { return p50(c.DecodeSpanTokS) }, 0, CoarseChunks},
		{"T15 its tokens count", v3, []Request{with(32, tokens(6400))}, func(c Cell) Value { return c.ThroughputTokS }, 640, ""},
		{"T16 first chunk of 5", v3, []Request{stream(0, 80, 5, 26, tokens(30), firstHas(5))}, func(c Cell) Value { return p50(c.DecodeSpanTokS) }, 200, ""},
		{"T16 TPOT would be 14 % off", v3, []Request{stream(0, 80, 5, 26, tokens(30), firstHas(5))}, func(c Cell) Value { return p50(c.TPOT) }, 0, CoarseChunks},
		{"T20 a gap of 0", v3, []Request{with(5, gap(0, 0), gap(1, 0), gap(2, 0))}, func(c Cell) Value { return p50(c.ITL) }, 0, ""},
		{"T21 one piece: no TTFT", v3, []Request{with(9, unstreamed)}, func(c Cell) Value { return p50(c.TTFT) }, 0, NotStreamed},
		{"T21 among streams", v3, []Request{with(9, unstreamed), with(9)}, func(c Cell) Value { return Of(float64(c.TTFT.N), "") }, 1, ""},
		{"T21 its end counts", v3, []Request{with(9, unstreamed)}, func(c Cell) Value { return p50(c.E2E) }, 160, ""},
		{"T22 the window begins at the first dispatch", v3, []Request{stream(5000, 0, 100, 11), stream(6000, 0, 100, 11), stream(7000, 0, 100, 11)},
			func(c Cell) Value { return c.SteadyTokS }, 10 + 2.0/3, ""}, // 32 events in 5 to 8 s; the one at 5 s is its start
		{"T24 decode within the stream", v3, []Request{with(101)}, func(c Cell) Value { return p50(c.DecodeTokS) }, 100, ""},

		{"K1 no usage is null", v3, []Request{with(9, noUsage)}, func(c Cell) Value { return p50(c.OutputTokens) }, 0, NoUsage},
		{"K1 and no throughput", v3, []Request{with(9, noUsage), with(9)}, func(c Cell) Value { return c.ThroughputTokS }, 0, NoUsage},
		{"K3 nor of partial ones", v3, []Request{with(9), with(9, func(r *Request) { r.FailureClass, r.End = "cut-stream", -1 })}, func(c Cell) Value { return c.ThroughputTokS }, 0, IncompleteCell},
		{"K4 half a usage is kept", v4, []Request{with(9, noUsage, func(r *Request) { r.ReasoningTokens = tok(7) })}, func(c Cell) Value { return p50(c.ReasoningTokens) }, 7, ""},
		{"K5 reasoning is within", v4, []Request{with(101, thinking(50), func(r *Request) { r.ReasoningTokens = tok(50) })}, func(c Cell) Value { return c.ThroughputTokS }, 10.1, ""},
		{"K7 spaces stay tokens", v3, []Request{with(100, tokens(100))}, func(c Cell) Value { return p50(c.TPOT) }, 10, ""},
		{"K8 prompt against plan", v3, []Request{with(9, asked(500))}, func(c Cell) Value { return p50(c.PromptAccuracy) }, 0.2, ""},
		{"K11 one piece of 12 tokens", v3, []Request{with(1, unstreamed, tokens(12))}, func(c Cell) Value { return c.ThroughputTokS }, 1.2, ""},
		{"K15 planned against counted", v3, []Request{with(9, asked(98))}, func(c Cell) Value { return p50(c.PromptAccuracy) }, 100.0 / 98, ""},

		{"A1 a quantile of one", v3, []Request{with(9)}, func(c Cell) Value { return Of(*c.TTFT.P999, "") }, 80, ""},
		{"A2 equal quantiles", v3, []Request{with(9), with(9), with(9)}, func(c Cell) Value { return Of(*c.TTFT.P99-*c.TTFT.P50, "") }, 0, ""},
		{"A3 of all or of none", v3, []Request{with(9), with(9, func(r *Request) { r.FailureClass = "timeout" })}, func(c Cell) Value { return c.ThroughputTokS }, 0, IncompleteCell},
		{"A4 tokens over the wall", v3, []Request{with(9), with(91)}, func(c Cell) Value { return c.ThroughputTokS }, 10, ""},
		{"A5 nothing completed", v3, nil, func(c Cell) Value { return c.RequestRate }, 0, NoRequests},
		{"A5 no tokens", v3, []Request{with(9, tokens(0))}, func(c Cell) Value { return p50(c.TPOT) }, 0, TooShort},
		{"A6 never a negative TPOT", v3, []Request{with(1, tokens(0))}, func(c Cell) Value { return p50(c.TPOT) }, 0, TooShort},
		{"A10 tpot is looked at", CellOptions{Concurrency: 1, SLO: &SLO{TPOT: 9.99}}, []Request{with(9)}, func(c Cell) Value { return c.SLOAttained }, 0, ""},
		{"A11 throughput of one", v3, []Request{with(9)}, func(c Cell) Value { return c.ThroughputTokS }, 0.9, ""},

		{"L1 from the schedule", at(0), []Request{with(9, late(40))}, func(c Cell) Value { return p50(c.TTFTFromSchedule) }, 120, ""},
		{"L1 from the dispatch", at(0), []Request{with(9, late(40))}, func(c Cell) Value { return p50(c.TTFT) }, 80, ""},
		{"L3 over the window", at(0), []Request{with(9, late(0)), with(9, late(0)), with(9, late(0)), with(9, late(0)), with(9, late(0))}, func(c Cell) Value { return c.AchievedRate }, 0.5, ""},
		{"L7 late ones show", at(0), []Request{with(9, late(3000))}, func(c Cell) Value { return p50(c.ScheduleLag) }, 3000, ""},
		{"L15 no verdict without requests", CellOptions{SLO: &SLO{TTFT: 1}}, nil, func(c Cell) Value { return c.SLOAttained }, 0, NoRequests},
		{"L18 lengths as they came", v3, []Request{with(371, asked(0))}, func(c Cell) Value { return p50(c.OutputTokens) }, 371, ""},
		{"F7 failures in the denominator", CellOptions{Concurrency: 1, SLO: &SLO{TTFT: 99}}, []Request{with(9), with(9, func(r *Request) { r.FailureClass = "timeout" })}, func(c Cell) Value { return c.SLOAttained }, 0.5, ""},

		// 180 tokens of thinking and 20 of answer at a true 100 tok/s.
		{"W1 thinking in v3", v3, []Request{with(200, thinking(180), func(r *Request) { r.FirstVisible += 1.8e9 })}, func(c Cell) Value { return p50(c.DecodeTokS) }, 0, ReasoningOutput},
		{"W1 thinking in v4", v4, []Request{with(200, thinking(180), func(r *Request) { r.FirstVisible += 1.8e9 })}, func(c Cell) Value { return p50(c.DecodeTokS) }, 100, ""},
		{"W2 8 tokens a chunk", v3, []Request{stream(0, 80, 80, 12, tokens(96))}, func(c Cell) Value { return p50(c.DecodeTokS) }, 0, CoarseChunks},
		{"W2 one chunk", v3, []Request{with(1, tokens(96))}, func(c Cell) Value { return p50(c.DecodeTokS) }, 0, CoarseChunks},
		{"W3 12 chunks of 96 tokens, no usage", v3, []Request{stream(0, 80, 80, 12, noUsage)}, func(c Cell) Value { return p50(c.DecodeSpanTokS) }, 0, NoUsage},
		{"W4 a tail of 0.5 s, span", v3, []Request{with(101, tail(500))}, func(c Cell) Value { return p50(c.DecodeSpanTokS) }, 100, ""},
		{"W4 a tail of 0.5 s, generation", v3, []Request{with(101, tail(500))}, func(c Cell) Value { return p50(c.DecodeTokS) }, 100 / 1.5, ""},
		{"W5 the same prompt again", v3, []Request{with(9, cached(0)), with(9, cached(99)), with(9, cached(99))}, func(c Cell) Value { return c.CachedShare }, 0.66, ""},
	} {
		t.Run(tt.id, func(t *testing.T) { want(t, tt.of(cellOf(tt.o, tt.rows...)), tt.want, tt.reason) })
	}
}

// TestMistakesTold: what is no number is a mark or a sentence.
func TestMistakesTold(t *testing.T) {
	for id, tt := range map[string]struct {
		trial    Trial
		o        CellOptions
		sentence string
	}{
		"T20 starved reads":    {Trial{Requests: []Request{with(5, gap(0, 0))}}, at(1), "25 % of the output events came in one read"},
		"K6 a parser hides":    {Trial{Requests: []Request{with(512, tokens(38))}}, at(1), "38 output tokens in 512 output events"},
		"K8 and K15":           {Trial{Requests: []Request{with(9, asked(100)), with(9, asked(98)), with(9, asked(97))}}, at(1), "2 of 3 prompts are more than 2 % off the length asked for; the furthest is 1.031"},
		"L2 too many at once":  {Trial{Requests: []Request{with(9)}, MaxInFlight: 75}, at(45), "75 requests were in flight at once, and 45 were to be"},
		"F14 planned, ok, ...": {Trial{Requests: []Request{with(9, late(0))}, Planned: 4, Unsent: 2, WindowNS: 1e9}, at(0), "4 requests were planned; 1 answered, 0 failed and 2 not sent"},
		"W1 thinking in v3":    {Trial{Requests: []Request{with(9, thinking(1)), with(9)}}, at(1), "1 of 2 answers streamed reasoning, which capacity-v3 does not time"},
		"W5 warm":              {Trial{Requests: []Request{with(9, cached(99))}}, at(1), "warm-cache: 99 % of the prompt tokens"},
	} {
		tt.trial.WallNS = 10e9
		if c := NewCell(tt.o, []Trial{tt.trial}); count2(c.Doubts, tt.sentence) != 1 {
			t.Errorf("%s: %q", id, c.Doubts)
		}
	}
	if c := NewCell(at(1), []Trial{calm(Trial{Requests: []Request{with(9, asked(100)), with(9, asked(102))}, WallNS: 10e9})}); c.Doubts != nil {
		t.Errorf("a calm cell: %q", c.Doubts)
	}
	// F14: a request that was lost is in no rate.
	lost := NewCell(at(0), []Trial{{Requests: []Request{with(9, late(0))}, Planned: 2, WallNS: 1e9, WindowNS: 1e9}})
	want(t, lost.ThroughputTokS, 0, Unaccounted)
	want(t, lost.OfferedRate, 2, "")
	if !lost.OffRate {
		t.Error("half of the plan was sent, and the cell does not say so")
	}
}

// TestMistakeA7 compares with definitions written the slow way.
func TestMistakeA7(t *testing.T) {
	xs := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}
	d := NewDist(xs, "", "")
	slices.Sort(xs)
	for p, got := range map[float64]*float64{0.5: d.P50, 0.9: d.P90, 0.95: d.P95, 0.99: d.P99, 0.999: d.P999} {
		// The smallest value that at least a share of p does not exceed.
		i := slices.IndexFunc(xs, func(x float64) bool {
			n := 0
			for _, y := range xs {
				if y <= x {
					n++
				}
			}
			return float64(n) >= p*float64(len(xs))
		})
		if *got != xs[i] {
			t.Errorf("p%v: %v, want %v", 100*p, *got, xs[i])
		}
	}
	if *d.Mean != 4 || math.Abs(*d.StdDev-math.Sqrt(5.6)) > 1e-15 {
		t.Errorf("mean %v, stddev %v", *d.Mean, *d.StdDev)
	}
}

// TestMistakeA9: a record read back is the record.
func TestMistakeA9(t *testing.T) {
	for _, c := range NewBench(at(1), []Trial{{Requests: two(), WallNS: 3e9, CPUNS: 3e9}, {Requests: []Request{with(9)}, WallNS: 3e9}}) {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back Cell
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, back); diff != "" {
			t.Error(diff)
		}
	}
}

// TestMistakeA12: quantiles are of the values, not of a histogram's buckets.
func TestMistakeA12(t *testing.T) {
	xs := make([]float64, 10_000)
	for i := range xs {
		xs[i] = float64(i) / 7
	}
	if d := NewDist(xs, "", ""); *d.P99 != 9899.0/7 {
		t.Errorf("p99 %v", *d.P99)
	}
}

// TestMistakeW10: a tie is a tie, and its spread stands beside it.
func TestMistakeW10(t *testing.T) {
	bench := func(rates ...int64) Cell {
		var rs []Request
		for _, r := range rates {
			rs = append(rs, run("code", 100, r))
		}
		return NewBench(at(1), []Trial{{Requests: rs, WallNS: 60e9}})[0]
	}
	a, b := bench(50, 40, 80), bench(50, 25, 100)
	if *a.TokPerSec.P50 != *b.TokPerSec.P50 || a.StdDevTokS.Value == nil || *b.StdDevTokS.Value <= 0 {
		t.Errorf("%+v %+v", a.TokPerSec, b.TokPerSec)
	}
}

// TestMistakeW11: an engine that fails its slow prompts does not win by it.
func TestMistakeW11(t *testing.T) {
	lost := func(r *Request) { r.FailureClass, r.End = "timeout", -1 }
	cells := NewBench(at(1), []Trial{{WallNS: 60e9, Requests: []Request{run("code", 100, 50), run("long_gen", 100, 25, lost)}}})
	all := cells[len(cells)-1]
	want(t, p50(cells[0].TokPerSec), 50, "")
	want(t, p50(cells[1].TokPerSec), 0, IncompleteCell)
	want(t, p50(all.TokPerSec), 0, IncompleteCell)
	want(t, all.ThroughputTokS, 0, IncompleteCell)
	if all.Failed != 1 || all.Failures["timeout"] != 1 {
		t.Errorf("%+v", all.Failures)
	}
}
