package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
)

// Two workers; request 0 takes 10 s, the others 2 s: one slot refills five
// times meanwhile.
func TestClosedRefillsEachSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var results []Result
		out := Closed(t.Context(), 2, 7, answer(func(i int) time.Duration {
			if i == 0 {
				return 10 * time.Second
			}
			return 2 * time.Second
		}), collect(&results))
		checkRun(t, out, 7, results)
		last := results[len(results)-2:]
		if got := indices(results)[:4]; !slices.Equal(got, []int{1, 2, 3, 4}) || last[0].Index+last[1].Index != 6 && last[1].Index != 6 {
			t.Errorf("ended in order %v", indices(results))
		}
		if out.WallNS != int64(12*time.Second) || out.InFlightNS != int64(22*time.Second) || out.MaxInFlight != 2 || out.Stalled != 0 || out.Err != nil {
			t.Errorf("%+v", out)
		}
		for _, r := range results {
			want := time.Duration(max(r.Index-1, 0)) * 2 * time.Second
			if r.Planned != -1 || time.Duration(r.Dispatched) != want && r.Index != 6 {
				t.Errorf("request %d was planned at %d and dispatched at %v, want %v", r.Index, r.Planned, time.Duration(r.Dispatched), want)
			}
		}
	})
}

func TestClosedSizes(t *testing.T) {
	for _, c := range []struct{ workers, requests, most int }{
		{1, 5, 1}, {5, 5, 5}, {100, 3, 3}, {0, 2, 1}, {-1, 2, 1}, {3, 0, 0}, {3, -1, 0}, {7, 1000, 7},
	} {
		synctest.Test(t, func(t *testing.T) {
			var results []Result
			var flying, most atomic.Int64
			out := Closed(t.Context(), c.workers, c.requests, func(ctx context.Context, i int) llm.Response {
				most.Store(max(most.Load(), flying.Add(1)))
				defer flying.Add(-1)
				return answer(always(time.Second))(ctx, i)
			}, collect(&results))
			checkRun(t, out, max(c.requests, 0), results)
			if out.MaxInFlight != c.most || int(most.Load()) != c.most {
				t.Errorf("%d workers, %d requests: %d in flight as counted, %d as seen, want %d", c.workers, c.requests, out.MaxInFlight, most.Load(), c.most)
			}
			if want := int64(max(c.requests, 0)) * int64(time.Second); out.InFlightNS != want {
				t.Errorf("in-flight integral %d, want %d", out.InFlightNS, want)
			}
		})
	}
}

// A slow take bounds the queue, stalls the workers between requests, and is
// reported; no request's own times change.
func TestClosedReportsASlowTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const requests = 5 * roomFor
		var results []Result
		var sent atomic.Int64
		send := func(ctx context.Context, i int) llm.Response {
			sent.Add(1)
			begun := time.Now()
			r := answer(always(time.Millisecond))(ctx, i)
			r.Times.End = int64(time.Since(begun))
			return r
		}
		out := Closed(t.Context(), 4, requests, send, func(r Result) {
			results = append(results, r)
			if ahead := int(sent.Load()) - len(results); ahead > 2*(roomFor+4)+4 {
				t.Errorf("%d results wait", ahead)
			}
			time.Sleep(10 * time.Millisecond)
		})
		checkRun(t, out, requests, results)
		for _, r := range results {
			if r.Response.Times.End != int64(time.Millisecond) {
				t.Fatalf("request %d took %d ns", r.Index, r.Response.Times.End)
			}
		}
		if out.InFlightNS != requests*int64(time.Millisecond) {
			t.Errorf("in-flight integral %d contains the stall", out.InFlightNS)
		}
		idle := 4*time.Duration(out.WallNS) - time.Duration(out.InFlightNS)
		if out.Stalled < 10*time.Second || out.Stalled > idle {
			t.Errorf("stalled for %v of %v that the workers were idle", out.Stalled, idle)
		}
	})
}

func TestClosedFailuresAreResults(t *testing.T) {
	var results []Result
	out := Closed(t.Context(), 3, 50, func(_ context.Context, i int) llm.Response {
		return llm.Response{Raw: i, Failure: &llm.Failure{Class: llm.ClassOverload}}
	}, collect(&results))
	checkRun(t, out, 50, results)
	for _, r := range results {
		if r.Response.Failure == nil || r.Cut {
			t.Errorf("result %+v", r)
		}
	}
}

func TestClosedStopsWithItsContext(t *testing.T) {
	stopped := errors.New("enough")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(2500*time.Millisecond, func() { cancel(stopped) })
		var results []Result
		out := Closed(ctx, 3, 1000, answer(always(time.Second)), collect(&results))
		checkRun(t, out, 1000, results)
		if out.Sent != 9 || out.Err != stopped || out.WallNS != int64(2500*time.Millisecond) {
			t.Errorf("%+v", out)
		}
		for i, r := range results {
			if canceled := r.Response.Failure != nil; canceled != (i >= 6) || r.Cut {
				t.Errorf("result %d: %+v", i, r)
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := Closed(ctx, 3, 10, answer(always(0)), func(Result) { t.Error("a request was sent") })
	checkRun(t, out, 10, nil)
	if !errors.Is(out.Err, context.Canceled) {
		t.Errorf("error %v", out.Err)
	}
}
