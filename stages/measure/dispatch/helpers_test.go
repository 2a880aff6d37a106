package dispatch

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
)

// answer is a Send that takes d, or fails as canceled when ctx ends first.
func answer(d func(index int) time.Duration) Send {
	return func(ctx context.Context, index int) llm.Response {
		t := time.NewTimer(d(index))
		defer t.Stop()
		select {
		case <-t.C:
			return llm.Response{Raw: index}
		case <-ctx.Done():
			return llm.Response{Raw: index, Failure: &llm.Failure{Class: llm.ClassCanceled}}
		}
	}
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// simulated is a pacer for a bubble of testing/synctest.
func simulated() pacer { return func(at time.Time) { time.Sleep(time.Until(at)) } }

// openSimulated is Open on the bubble's clock, with another limit.
func openSimulated(ctx context.Context, offsets []time.Duration, window time.Duration, cancelAtEnd bool, limit int, send Send, take func(Result)) Outcome {
	o := &opened{loop: newLoop(len(offsets)), offsets: offsets, cancelAtEnd: cancelAtEnd, send: send, limit: limit}
	o.window = window
	return o.run(ctx, simulated, take)
}

// checkRun asserts what must be true of every run, whatever became of it.
func checkRun(t *testing.T, out Outcome, requests int, results []Result) {
	t.Helper()
	if out.Sent+out.Unsent != requests || out.Sent != len(results) {
		t.Errorf("%d sent, %d unsent, %d results of %d", out.Sent, out.Unsent, len(results), requests)
	}
	byIndex := slices.Clone(results)
	slices.SortFunc(byIndex, func(a, b Result) int { return a.Index - b.Index })
	for i, r := range byIndex {
		if r.Index != i || r.Response.Raw != i {
			t.Fatalf("result %d has index %d and the answer to %d", i, r.Index, r.Response.Raw)
		}
		if i > 0 && r.Dispatched < byIndex[i-1].Dispatched {
			t.Errorf("index %d was dispatched at %d, the one before at %d", i, r.Dispatched, byIndex[i-1].Dispatched)
		}
		if r.Planned >= 0 && r.Dispatched < r.Planned {
			t.Errorf("index %d was dispatched at %d, before its instant %d", i, r.Dispatched, r.Planned)
		}
	}
	if mean := float64(out.InFlightNS) / float64(max(out.WallNS, 1)); mean > float64(out.MaxInFlight) {
		t.Errorf("%v requests in flight in the mean, at most %d", mean, out.MaxInFlight)
	}
}

func collect(into *[]Result) func(Result) { return func(r Result) { *into = append(*into, r) } }

func indices(results []Result) (out []int) {
	for _, r := range results {
		out = append(out, r.Index)
	}
	return out
}
