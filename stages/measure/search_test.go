package measure

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

// searched derives what a search finds on an engine whose answers take as many
// tenths of a second as requests are in flight.
func searched(t *testing.T, slo float64) (evidence.LoadMetrics, *engine) {
	ep := newEngine()
	ep.took = func(n int) time.Duration { return time.Duration(n) * 100 * time.Millisecond }
	c := only(everyKind(), "search")
	c.Measure["search"].Search.SLO.E2E = slo
	return derive(t, c, func() Endpoint { return ep }, nil), ep
}

func TestSearch(t *testing.T) {
	doc, ep := searched(t, 450)
	cell := doc.Cells[0]
	if v := cell.MaxConcurrency.Value; v == nil || *v != 4 || cell.Concurrency != 4 || cell.Name != "best" || cell.MaxRate.Value != nil || cell.Trials != 2 || cell.LowerBound {
		t.Fatalf("%v %+v", cell.MaxConcurrency, doc.Probes)
	}
	confirmed := 0
	seen := map[string]bool{}
	for _, p := range doc.Probes {
		if p.Holds != (p.At <= 4) || !p.Holds && p.Why != "slo-missed" {
			t.Errorf("%+v", p)
		}
		if p.At == 4 && p.Trial > 1 {
			confirmed++
		}
	}
	for _, r := range ep.asked {
		seen[r.Messages[0].Content] = true
	}
	if confirmed != 1 || len(seen) != len(ep.asked) {
		t.Errorf("%d confirmations, %d of %d prompts differ", confirmed, len(seen), len(ep.asked))
	}
	if none, _ := searched(t, 50); none.Cells[0].MaxConcurrency.Value != nil || none.Cells[0].MaxConcurrency.Reason != "low-fails" || len(none.Probes) != 1 {
		t.Errorf("%+v", none.Cells[0].MaxConcurrency)
	}
	if all, _ := searched(t, 5000); *all.Cells[0].MaxConcurrency.Value != 8 || !all.Cells[0].LowerBound || !strings.Contains(strings.Join(all.Cells[0].Doubts, "\n"), "lower bound") {
		t.Errorf("%+v", all.Cells[0].Doubts)
	}
}

// TestSearchRate: an engine that serves one at a time in 100 ms keeps up with
// ten a second and not with more.
func TestSearchRate(t *testing.T) {
	ep := newEngine()
	ep.took = func(n int) time.Duration { return time.Duration(n) * 100 * time.Millisecond }
	c := only(everyKind(), "search")
	w := c.Measure["search"].Search
	w.Over, w.Low, w.High, w.Requests, w.Duration, w.Process, w.SLO.E2E, w.Confirm = "rate", 1, 40, 0, "2s", "constant", 150, 0
	cell := derive(t, c, func() Endpoint { return ep }, nil).Cells[0]
	if v := cell.MaxRate.Value; v == nil || *v < 9 || *v > 10.5 || cell.Concurrency != 0 {
		t.Errorf("%+v", cell.MaxRate)
	}
}

// TestSearchOfADeadEndpoint: an endpoint that goes away is no load that is too
// high.
func TestSearchOfADeadEndpoint(t *testing.T) {
	ep := newEngine()
	alive := ep.Answer
	ep.Answer = func(ctx context.Context, r llm.Request) llm.Response {
		if len(ep.asked) >= 16 { // after the first probe
			return failing(llm.Failure{Class: llm.ClassUnreachable, NoByte: true})
		}
		return alive(ctx, r)
	}
	c := only(everyKind(), "search")
	c.Measure["search"].Search.SLO.E2E = 5000
	if _, err := cellOf(t, c, ep); err == nil || !strings.Contains(err.Error(), "answers no request any more") {
		t.Error(err)
	}
}

// TestClientBoundProbe: what the client could not do is shown by no probe.
func TestClientBoundProbe(t *testing.T) {
	ep := newEngine()
	c := only(everyKind(), "search")
	c.Measure["search"].Search.SLO.E2E = 5000
	s := Steps(c)[0]
	job := &pintest.Job{S: s, Inputs: cellJob(t, load()).Inputs}
	cpu := func() int64 { // more than there are, once more than four were in flight
		n := ep.most
		if ep.most = 0; n > 4 {
			return 1e12
		}
		return 0
	}
	measureCell(t, Cell{Dial: dial(ep), CPU: cpu}, job)
	m := &pintest.Job{S: metricsStep(c, "fp8", "search"), Inputs: map[string][]byte{"best-t1": job.Output(evidence.OutCell), "best-t1-server": nil}}
	if err := (Metrics{}).Run(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	doc := decoded[evidence.LoadMetrics](t, m.Output(evidence.OutMetrics))
	if p := doc.Probes[1]; p.At != 8 || p.Holds || p.Why != "client-bound" || !doc.Cells[0].LowerBound || !strings.Contains(strings.Join(doc.Cells[0].Doubts, "\n"), "because of the client") {
		t.Errorf("%+v %v", p, doc.Cells[0].Doubts)
	}
}

// TestProbeByItsBounds: what the client's lateness could not change is the
// engine's doing, and what it could is nobody's.
func TestProbeByItsBounds(t *testing.T) {
	const limit = 1000 // ms end to end
	for name, c := range map[string]struct {
		took  int64 // ms, of each request
		slo   metric.SLO
		pulse metric.Pulse
		holds bool
		why   string
	}{
		"in time":                       {40, metric.SLO{E2E: limit}, metric.Pulse{LagP99: 1e6}, true, ""},
		"late by less than 1 %":         {40, metric.SLO{E2E: limit}, metric.Pulse{LagP99: 9e6}, true, ""},
		"late by more":                  {40, metric.SLO{E2E: limit}, metric.Pulse{LagP99: 11e6}, false, clientBound},
		"late against the least bound":  {40, metric.SLO{E2E: limit, TTFT: 300}, metric.Pulse{LagP99: 4e6}, false, clientBound},
		"missed":                        {1200, metric.SLO{E2E: limit}, metric.Pulse{LagP99: 1e6}, false, sloMissed},
		"missed, though the client lag": {1200, metric.SLO{E2E: limit}, metric.Pulse{LagP99: 150e6}, false, sloMissed},
		"missed for the lag":            {1100, metric.SLO{E2E: limit}, metric.Pulse{LagP99: 150e6}, false, clientBound},
		"missed for a client that hung": {5000, metric.SLO{E2E: limit}, metric.Pulse{LagP99: 1e6, Frozen: 4500e6}, false, clientBound},
		"hung, and missed all the same": {9000, metric.SLO{E2E: limit}, metric.Pulse{LagP99: 1e6, Frozen: 4500e6}, false, sloMissed},
	} {
		end := c.took * 1e6
		c.pulse.Ticks = 1000
		trial := metric.Trial{WallNS: 10 * end, MaxInFlight: 1, InFlightNS: 10 * end, Pulse: &c.pulse}
		for i := range int64(10) {
			n := int64(8)
			trial.Requests = append(trial.Requests, metric.Request{
				Planned: -1, Dispatched: i * end, FirstOutput: 20e6, FirstVisible: 20e6, LastOutput: end, End: end,
				PromptTokens: &n, OutputTokens: &n, ContentChunks: 8, Eligible: true,
			})
		}
		trial.SelfCheck = &metric.SelfCheck{Concurrency: 1, LagP95: 1e6, LagP99: 1e6}
		head := evidence.CellHeader{Cell: "c=1", Concurrency: 1}
		w := &spec.Search{Attain: 0.95, SLO: spec.SLO{E2E: c.slo.E2E, TTFT: c.slo.TTFT}}
		if p := look(w, "capacity-v3", head, trial); p.Holds != c.holds || p.Why != c.why {
			t.Errorf("%s: holds %v, %q, attained %v", name, p.Holds, p.Why, p.Attained)
		}
	}
}
