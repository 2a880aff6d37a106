package metric

import (
	"math"
	"slices"
	"testing"
)

// run is one run of a bench's prompt: TTFT 100 ms, then tokens at a rate.
func run(group string, tokens, perSecond int64, change ...func(*Request)) Request {
	r := Request{Planned: -1, FirstOutput: 100e6, FirstVisible: 100e6, End: 100e6 + tokens*1e9/perSecond,
		PromptTokens: tok(30), OutputTokens: &tokens, ContentChunks: int(tokens), Group: group, Eligible: true}
	r.LastOutput = r.End
	for _, f := range change {
		f(&r)
	}
	return r
}

func TestBench(t *testing.T) {
	cells := NewBench(CellOptions{Concurrency: 1, Protocol: CapacityV3}, []Trial{{WallNS: 60e9, CPUNS: 600e6, MaxInFlight: 2, Requests: []Request{
		run("code", 100, 10), run("tool_call", 60, 20), run("code", 100, 25),
		run("tool_call", 60, 20), run("code", 100, 20), run("tool_call", 60, 30), run("tool_call", 60, 20)}}})
	var names []string
	for _, c := range cells {
		names = append(names, c.Name)
	}
	if want := []string{"code", "tool_call", "all"}; !slices.Equal(names, want) {
		t.Fatalf("%v, want %v", names, want)
	}
	code, tool, all := cells[0], cells[1], cells[2]
	for _, tt := range []struct {
		got  *float64
		want float64
	}{
		{code.TokPerSec.P50, 20}, {tool.TokPerSec.P50, 20}, {all.TokPerSec.P50, 20}, {all.TokPerSec.Mean, 145.0 / 7},
		{code.TTFT.P50, 100}, {code.E2E.P50, 5100}, {code.OutputTokens.P50, 100}, {code.Generation.P50, 5000}, {&code.WallS, 19.3},
	} {
		want(t, Of(*tt.got, ""), tt.want, "")
	}
	// Population variances: of 10, 25, 20 it is 350/9; of 20, 20, 30, 20 it is 75/4.
	sd := math.Sqrt((350.0/9 + 75.0/4) / 2)
	want(t, all.StdDevTokS, sd, "")
	want(t, tool.StdDevTokS, math.Sqrt(75.0/4), "")
	want(t, tool.TokPerSecCV, 100*math.Sqrt(75.0/4)/22.5, "")
	want(t, all.TokPerSecCV, 100*sd*7/145, "")
	if all.Stability != Unstable || code.PerTrial[0].TokPerSec.N != 3 {
		t.Errorf("%s %+v", all.Stability, code.PerTrial[0].TokPerSec)
	}
	// What was measured over the whole bench stands in each cell.
	want(t, code.ClientOverhead, 0.01, "")
	if !code.ClientBound || !code.PerTrial[0].ClientBound || count2(code.Doubts, "client-bound: 2 requests were in flight") != 1 {
		t.Errorf("%v %q", code.ClientBound, code.Doubts)
	}
}

func TestTokPerSec(t *testing.T) {
	for name, tt := range map[string]struct {
		r      Request
		want   float64
		reason string
	}{
		"client":           {run("", 50, 100), 100, ""},
		"engine's own":     {run("", 50, 100, func(r *Request) { r.ServerDecode = 1e9 }), 50, ""},
		"one piece, own":   {run("", 50, 100, func(r *Request) { r.Unstreamed, r.ServerDecode = true, 1e9 }), 50, ""},
		"one piece":        {run("", 50, 100, func(r *Request) { r.Unstreamed = true }), 0, NotStreamed},
		"at the floor":     {run("", 1, 100), 100, ""},
		"below the floor":  {run("", 1, 101), 0, TooBrief},
		"no usage":         {run("", 50, 100, func(r *Request) { r.OutputTokens = nil }), 0, NoUsage},
		"failed":           {run("", 50, 100, func(r *Request) { r.FailureClass = "timeout" }), 0, IncompleteCell},
		"streams thinking": {run("", 50, 100, func(r *Request) { r.FirstOutput, r.ReasoningChunks = 0, 9 }), 50 / 0.6, ""},
	} {
		c := NewBench(at(1), []Trial{{Requests: []Request{tt.r}, WallNS: 1e9}})[0]
		v := Null(c.TokPerSec.Reason, "")
		if c.TokPerSec.P50 != nil {
			v = Of(*c.TokPerSec.P50, "")
		}
		t.Run(name, func(t *testing.T) { want(t, v, tt.want, tt.reason) })
		if c.Stability != Unknown {
			t.Errorf("%s: one run is %s", name, c.Stability)
		}
	}
	none := NewBench(at(1), nil)
	if len(none) != 1 || none[0].TokPerSec.Reason != NoRequests {
		t.Errorf("%+v", none)
	}
}

func TestBenchStability(t *testing.T) {
	for name, tt := range map[string]struct {
		rates []int64
		want  string
	}{
		"stable": {[]int64{100, 104, 100}, Stable}, "variable": {[]int64{100, 116}, Variable}, "unstable": {[]int64{100, 130}, Unstable},
	} {
		var rs []Request
		for _, r := range tt.rates {
			rs = append(rs, run("code", 100, r))
		}
		if c := NewBench(at(1), []Trial{{Requests: rs, WallNS: 9e9}})[0]; c.Stability != tt.want {
			t.Errorf("%s: %s %v", name, c.Stability, *c.TokPerSecCV.Value)
		}
	}
}

// TestBenchSharesDoubts: what was seen of the whole client stands once in every
// cell, a prompt's own gaps are judged by its own median, and no prompt is
// blamed for what only the whole can show.
func TestBenchSharesDoubts(t *testing.T) {
	trial := func(lag int64) Trial {
		one := calm(Trial{WallNS: 60e9, CPUNS: -1, Requests: []Request{
			stream(0, 50, 5, 20, func(r *Request) { r.Group = "quick" }), stream(0, 50, 50, 40, func(r *Request) { r.Group = "slow" })}})
		one.SelfCheck.LagP99, one.Server.OutputTokens, one.StartUnixNS = lag, Of(90, unitTokens), 7e9
		return one
	}
	for _, trials := range [][]Trial{{trial(2e6)}, {trial(0), trial(2e6)}} {
		cells := NewBench(at(1), trials)
		for i, uncertain := range []bool{true, false, false} { // the median gap of all is 50 ms
			c := cells[i]
			if c.GapsUncertain != uncertain || count2(c.Doubts, "gaps-uncertain: ") == 1 != uncertain || c.PerTrial[len(trials)-1].GapsUncertain != uncertain {
				t.Errorf("%s: gaps uncertain: %v %q", c.Name, c.GapsUncertain, c.Doubts)
			}
			if n := len(trials); !c.UsageOff || count2(c.Doubts, sayUsage) != n || count2(c.Doubts, "CPU time could not be read") != n || count2(c.Doubts, "not checked") != 0 || c.StartedUnixS != 7 {
				t.Errorf("%s: %v %q", c.Name, c.UsageOff, c.Doubts)
			}
			if one := c.PerTrial[0]; !one.UsageOff || count2(one.Doubts, sayUsage) != 1 || one.StartedUnixS != 7 {
				t.Errorf("%s, its first trial: %v %q", c.Name, one.UsageOff, one.Doubts)
			}
		}
	}
}
