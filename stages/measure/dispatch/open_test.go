package dispatch

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/stages/llm"
)

func every(gap time.Duration, n int) (offsets []time.Duration) {
	for i := range n {
		offsets = append(offsets, time.Duration(i)*gap)
	}
	return offsets
}

// Answers take far longer than the gaps: an open loop does not care.
func TestOpenSendsAtThePlannedInstants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var results []Result
		offsets := []time.Duration{0, 1, time.Millisecond, time.Millisecond, time.Second, 59 * time.Second}
		out := openSimulated(t.Context(), offsets, time.Minute, false, 100, answer(always(time.Hour)), collect(&results))
		checkRun(t, out, len(offsets), results)
		for _, r := range results {
			if r.Planned != int64(offsets[r.Index]) || r.Dispatched != r.Planned || r.Response.Failure != nil || r.Cut {
				t.Errorf("%+v, want it at %v", r, offsets[r.Index])
			}
		}
		if out.MaxInFlight != 6 || out.InFlightNS != 6*int64(time.Hour) || out.WallNS != int64(time.Hour+59*time.Second) || out.Err != nil {
			t.Errorf("%+v", out)
		}
	})
}

func TestOpenWaitsForTheEndOfItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		out := openSimulated(t.Context(), every(time.Second, 3), time.Minute, false, 100, answer(always(time.Second)), func(Result) {})
		if out.WallNS != int64(time.Minute) || time.Since(begun) != time.Minute || !out.Start.Equal(begun) {
			t.Errorf("wall %v, returned after %v", time.Duration(out.WallNS), time.Since(begun))
		}
	})
}

func TestOpenCutsWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var results []Result
		out := openSimulated(t.Context(), every(time.Second, 10), 10*time.Second, true, 100, answer(always(2500*time.Millisecond)), collect(&results))
		checkRun(t, out, 10, results)
		for _, r := range results {
			if cut := r.Index >= 8; r.Cut != cut || cut != (r.Response.Failure != nil) {
				t.Errorf("request %d: cut %v, failure %v", r.Index, r.Cut, r.Response.Failure)
			}
		}
		if out.WallNS != int64(10*time.Second) || out.Err != nil || out.Unsent != 0 {
			t.Errorf("%+v", out)
		}
	})
}

// A dispatcher that was held up for 3 s sends what is due at once; the rest
// keeps its instants, and what the window's end overtook is not sent.
func TestOpenIsLateInTheOpen(t *testing.T) {
	for _, c := range []struct {
		window    time.Duration
		sent      int
		dispatchd []time.Duration
	}{
		{time.Minute, 8, []time.Duration{0, 1e9, 5e9, 5e9, 5e9, 5e9, 6e9, 7e9}},
		{5 * time.Second, 2, []time.Duration{0, 1e9}},
	} {
		synctest.Test(t, func(t *testing.T) {
			held := func() pacer {
				return func(at time.Time) {
					time.Sleep(time.Until(at))
					if planned := at.Sub(time.Now().Truncate(time.Minute)); planned == 2*time.Second {
						time.Sleep(3 * time.Second)
					}
				}
			}
			var results []Result
			o := &opened{loop: newLoop(8), offsets: every(time.Second, 8), send: answer(always(time.Millisecond)), limit: 100}
			o.window = c.window
			out := o.run(t.Context(), held, collect(&results))
			checkRun(t, out, 8, results)
			for _, r := range results {
				if time.Duration(r.Dispatched) != c.dispatchd[r.Index] {
					t.Errorf("window %v: request %d at %v, want %v", c.window, r.Index, time.Duration(r.Dispatched), c.dispatchd[r.Index])
				}
			}
			if out.Sent != c.sent {
				t.Errorf("window %v: %d sent, want %d", c.window, out.Sent, c.sent)
			}
		})
	}
}

func TestOpenSendsNothingAfterTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := openSimulated(t.Context(), every(time.Second, 10), 4*time.Second, false, 100, answer(always(0)), func(r Result) {
			if r.Dispatched >= int64(4*time.Second) {
				t.Errorf("request %d went out at %v", r.Index, time.Duration(r.Dispatched))
			}
		})
		if out.Sent != 4 || out.Unsent != 6 || out.Err != nil {
			t.Errorf("%+v", out)
		}
	})
}

func TestOpenIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		answer, take time.Duration
	}{
		"in flight": {time.Hour, 0},
		"not taken": {0, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			var results []Result
			out := openSimulated(t.Context(), every(time.Second, 100), time.Hour, false, 20, answer(always(c.answer)), func(r Result) {
				results = append(results, r)
				time.Sleep(c.take)
			})
			checkRun(t, out, 100, results)
			if !errors.Is(out.Err, ErrBacklog) || out.Sent != 20 || out.MaxInFlight > 20 {
				t.Errorf("%s: %+v", name, out)
			}
			for _, r := range results {
				if failed := r.Response.Failure != nil; failed != (c.answer > 0) || r.Cut != failed {
					t.Errorf("%s: %+v", name, r)
				}
			}
		})
	}
}

func TestOpenStopsWithItsContext(t *testing.T) {
	stopped := errors.New("enough")
	for _, cancelAtEnd := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(4500*time.Millisecond, func() { cancel(stopped) })
			var results []Result
			out := openSimulated(ctx, every(time.Second, 100), time.Hour, cancelAtEnd, 50, answer(always(2*time.Second)), collect(&results))
			checkRun(t, out, 100, results)
			if out.Sent != 5 || out.Err != stopped || out.WallNS != int64(4500*time.Millisecond) {
				t.Errorf("%+v", out)
			}
			for _, r := range results {
				if canceled := r.Response.Failure != nil; canceled != (r.Index >= 3) || r.Cut {
					t.Errorf("request %d: cut %v, failure %v", r.Index, r.Cut, r.Response.Failure)
				}
			}
		})
	}
}

// Little's law: the integral of what is in flight is the sum of the times in
// flight, whatever the plan and the answers.
func TestOpenCountsWhatIsInFlight(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gaps := rapid.SliceOfN(rapid.IntRange(0, 5000), 1, 50).Draw(rt, "gaps in ms")
		takes := rapid.SliceOfN(rapid.IntRange(0, 30_000), len(gaps), len(gaps)).Draw(rt, "answers in ms")
		var offsets []time.Duration
		at := time.Duration(0)
		for _, g := range gaps {
			at += time.Duration(g) * time.Millisecond
			offsets = append(offsets, at)
		}
		window := time.Duration(rapid.IntRange(1, 200_000).Draw(rt, "window in ms")) * time.Millisecond
		cut := rapid.Bool().Draw(rt, "cut")
		synctest.Test(t, func(t *testing.T) {
			var results []Result
			var sum atomic.Int64
			out := openSimulated(t.Context(), offsets, window, cut, 100, func(ctx context.Context, i int) llm.Response {
				begun := time.Now()
				defer func() { sum.Add(int64(time.Since(begun))) }()
				return answer(func(i int) time.Duration { return time.Duration(takes[i]) * time.Millisecond })(ctx, i)
			}, collect(&results))
			checkRun(t, out, len(offsets), results)
			want := 0
			for _, o := range offsets {
				if o < window {
					want++
				}
			}
			if out.Sent != want || out.InFlightNS != sum.Load() || out.WallNS < int64(window) || cut && out.WallNS != int64(window) {
				t.Errorf("%+v of %d due, %v in flight in all", out, want, time.Duration(sum.Load()))
			}
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// The real clock and the real pacer: order, bounds and accounts hold under the
// race detector, whatever the machine's load does to the lag.
func TestOpenOnTheRealClock(t *testing.T) {
	var results []Result
	out := Open(t.Context(), every(200*time.Microsecond, 1000), 200*time.Millisecond, true, answer(always(5*time.Millisecond)), collect(&results))
	checkRun(t, out, 1000, results)
	for _, r := range results {
		if r.Dispatched >= int64(200*time.Millisecond) {
			t.Errorf("request %d went out at %v", r.Index, time.Duration(r.Dispatched))
		}
	}
	if out.WallNS < int64(200*time.Millisecond) || out.Err != nil || math.Abs(time.Since(out.Start).Seconds()) > 600 {
		t.Errorf("%+v", out)
	}
}
