package measure

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/dispatch"
)

// openInBubble is an open loop by the bubble's clock; dispatch.Open spins on the
// machine's.
func openInBubble(ctx context.Context, offsets []time.Duration, window time.Duration, cancelAtEnd bool, send dispatch.Send, take func(dispatch.Result)) dispatch.Outcome {
	start, results := time.Now(), make(chan dispatch.Result, len(offsets))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var flying sync.WaitGroup
	out := dispatch.Outcome{Start: start, Sent: len(offsets), WallNS: int64(window), MaxInFlight: 1}
	for i, at := range offsets {
		time.Sleep(time.Until(start.Add(at))) // of the bubble's clock
		flying.Go(func() {
			r := dispatch.Result{Index: i, Planned: int64(at), Dispatched: int64(time.Since(start))}
			r.Response = send(ctx, i)
			results <- r
		})
	}
	time.Sleep(time.Until(start.Add(window))) // of the bubble's clock
	if cancelAtEnd {
		cancel()
	}
	flying.Wait()
	close(results)
	out.WallNS = int64(time.Since(start))
	for r := range results {
		out.InFlightNS += max(r.Response.Times.End, 0)
		take(r)
	}
	return out
}

// TestOpenLoop: what is sent follows the plan and not the answers.
func TestOpenLoop(t *testing.T) {
	ep := newEngine()
	ep.took = func(int) time.Duration { return time.Second }
	b := must(t)(cellOf(t, only(everyKind(), "open"), ep))[0]
	h := b.head
	want := evidence.Arrivals{Process: "constant", Rate: 2.5, WindowNS: 4e9, Planned: 10, PlanSHA256: h.Arrivals.PlanSHA256}
	if h.Kind != "open-loop" || h.Cell != "rate=2.5" || h.Loop != "open" || h.Concurrency != 0 || *h.Arrivals != want || h.Requests != 10 || h.Unsent != 0 || h.WallNS != 4600e6 {
		t.Errorf("%+v %+v", h, h.Arrivals)
	}
	for i, r := range b.rows {
		if r.Planned != int64(i)*400e6 || r.Dispatched != r.Planned {
			t.Errorf("row %d was planned for %d and sent at %d", i, r.Planned, r.Dispatched)
		}
	}
	// A second each in the warm-up, at 2.5 a second: twice the 2.5 that fly.
	if len(ep.asked) != 11 || ep.Warmed[0] != 6 {
		t.Errorf("%d sent over %v connections", len(ep.asked), ep.Warmed)
	}
}

// TestWindowEnd: what is in flight then is a failure when it is to be cut.
func TestWindowEnd(t *testing.T) {
	ep := newEngine()
	ep.took = func(int) time.Duration { return time.Second }
	c := only(everyKind(), "open")
	c.Measure["open"].OpenLoop.Arrivals.Drain = "cancel"
	b := must(t)(cellOf(t, c, ep))[0]
	cut := 0
	for _, r := range b.rows {
		if r.Failure != nil {
			cut++
			if r.Failure.Class != llm.ClassCanceled || r.Failure.Message == "" || r.Planned < 3e9 {
				t.Errorf("%+v", r.Failure)
			}
		}
	}
	if cut != 2 || b.head.WallNS != 4e9 || b.head.Requests != 10 {
		t.Errorf("%d cut, %+v", cut, b.head)
	}
}

// TestTrace: a row gives the prompt's length and the answer's limit.
func TestTrace(t *testing.T) {
	ep := newEngine()
	const trace = "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.000000,200,7\n2024-05-10 00:00:01.000000,400,9\n2024-05-10 00:00:01.500000,100,3\n"
	b := must(t)(cellOf(t, only(everyKind(), "trace"), ep, traceInput, trace))[0]
	if a := b.head.Arrivals; a.Process != "trace" || a.Planned != 3 || a.Rate != 3/(float64(a.WindowNS)/1e9) || b.head.Cell != "trace" {
		t.Errorf("%+v", a)
	}
	for i, want := range []struct{ tokens, limit int }{{200, 7}, {400, 9}, {100, 3}} {
		r, sent := b.rows[i], ep.asked[len(ep.asked)-3+i]
		if r.AskedTokens != want.tokens || sent.Sampling.MaxTokens != want.limit || float64(*r.Usage.PromptTokens) < 0.9*float64(want.tokens) || float64(*r.Usage.PromptTokens) > 1.1*float64(want.tokens) {
			t.Errorf("row %d: %d tokens asked for, %d counted, limit %d", i, r.AskedTokens, *r.Usage.PromptTokens, sent.Sampling.MaxTokens)
		}
	}
	if b.head.Prompts.CalibratedBy != "usage" {
		t.Errorf("%+v", b.head.Prompts)
	}
}

// TestTracePrefixes: prompts of a Mooncake trace begin alike where their blocks
// do, and a cache that finds them is no surprise.
func TestTracePrefixes(t *testing.T) {
	const trace = `{"timestamp":0,"input_length":1100,"output_length":5,"hash_ids":[1,2,3]}
{"timestamp":1000,"input_length":1200,"output_length":5,"hash_ids":[1,2,4]}
{"timestamp":2000,"input_length":600,"output_length":5,"hash_ids":[5,6]}
`
	inputs := map[string][]byte{traceInput: []byte(trace)}
	ep := newEngine()
	ep.cache = func(n int64) int64 { return n / 2 }
	doc := derive(t, only(everyKind(), "trace"), func() Endpoint { return ep }, inputs)
	sent := ep.asked[len(ep.asked)-3:]
	common := func(i, j int) (n int) {
		a, b := sent[i].Messages[0].Content, sent[j].Messages[0].Content
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		return n
	}
	if both := common(0, 1) / 4; both < 970 || both > 1024 || common(0, 2) > 16 || doc.Cells[0].WarmCache {
		t.Errorf("%d tokens in common of 1,024, %d characters of none; %q", both, common(0, 2), doc.Cells[0].Doubts)
	}
	for i, want := range []int{1100, 1200, 600} {
		if n := tokensOf(sent[i].Messages[0].Content) + templateOf; n < want*98/100 || n > want*102/100 {
			t.Errorf("prompt %d has %d tokens, want %d", i, n, want)
		}
	}
	c := only(everyKind(), "trace")
	c.Measure["trace"].OpenLoop.Prompt = spec.CapacityPrompt{Builder: "anvil/n", Cache: "unique"}
	if cell := derive(t, c, func() Endpoint { return ep }, inputs).Cells[0]; !cell.WarmCache || !strings.Contains(strings.Join(cell.Doubts, "\n"), "were not replayed") {
		t.Errorf("%v %q", cell.WarmCache, cell.Doubts)
	}
}
