package loopback

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// written is a stream's writes: when, on the bubble's clock, and what.
type written struct {
	began  time.Time
	at     []time.Duration
	events int
}

// TestPacerKeepsSchedule: whatever the arrivals, and however long a sleep
// oversleeps, each event is written at its planned time from its own request,
// late by no more than one sleep's error. Lateness does not add up.
func TestPacerKeepsSchedule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := Schedule{
			First:  time.Duration(rapid.IntRange(1, 60).Draw(rt, "first")) * time.Millisecond,
			Gap:    time.Duration(rapid.IntRange(100, 20_000).Draw(rt, "gap")) * time.Microsecond,
			Events: rapid.IntRange(1, 30).Draw(rt, "events"),
		}
		waits := rapid.SliceOfN(rapid.IntRange(0, 40_000), 1, 20).Draw(rt, "arrivals in µs")
		over := time.Duration(rapid.IntRange(0, 3_000).Draw(rt, "oversleeping in µs")) * time.Microsecond
		synctest.Test(t, func(t *testing.T) { pace(t, s, waits, over) })
	})
}

func pace(t *testing.T, s Schedule, waits []int, over time.Duration) {
	var c tally
	p := newPacer(s, &c, func(d time.Duration) { time.Sleep(d + over) })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.run(ctx); close(done) }()
	streams := make([]*written, len(waits))
	ended := make([]chan error, len(waits))
	for i, us := range waits {
		time.Sleep(time.Duration(us) * time.Microsecond)
		w := &written{began: time.Now()}
		streams[i], ended[i] = w, make(chan error, 1)
		p.add(&stream{frames: newFrames(s, true), ended: ended[i], write: func([]byte) error {
			w.at = append(w.at, time.Since(w.began))
			return nil
		}})
	}
	for i := range ended {
		if err := <-ended[i]; err != nil {
			t.Error(err)
		}
	}
	cancel()
	<-done
	var worst time.Duration
	for i, w := range streams {
		if len(w.at) != s.Events {
			t.Fatalf("stream %d: %d events written, want %d", i, len(w.at), s.Events)
		}
		for k, at := range w.at {
			late := at - s.First - time.Duration(k)*s.Gap
			worst = max(worst, late)
			if late < 0 || late > over+tick {
				t.Fatalf("stream %d, event %d: %s late, want 0 to %s", i, k, late, over+tick)
			}
		}
	}
	st := c.stats(s, false)
	if st.LagMax != int64(worst) || st.Requests != int64(len(waits)) || st.Events != int64(len(waits)*s.Events) {
		t.Errorf("stats %+v, worst lateness %s", st, worst)
	}
	if first := time.Duration(st.FirstMean); first < s.First || first > s.First+over+tick {
		t.Errorf("mean truth %s, want %s and at most %s more", first, s.First, over+tick)
	}
}

// TestPacerExact: with sleeps that keep their word the schedule is kept to the
// tick, far beyond where relative sleeps would have drifted.
func TestPacerExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace(t, Schedule{First: time.Millisecond, Gap: 10 * time.Millisecond, Events: 5000}, []int{0, 333, 1}, 0)
	})
}

// TestPacerBroken: a stream whose reader is gone ends at once, is counted, and
// holds up no other.
func TestPacerBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Schedule{First: time.Millisecond, Gap: time.Millisecond, Events: 5}
		var c tally
		p := newPacer(s, &c, time.Sleep)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go p.run(ctx)
		gone := errors.New("gone")
		writes := [2]int{}
		ended := [2]chan error{make(chan error, 1), make(chan error, 1)}
		for i := range 2 {
			p.add(&stream{frames: newFrames(s, true), ended: ended[i], write: func([]byte) error {
				if writes[i]++; i == 0 && writes[0] == 2 {
					return gone
				}
				return nil
			}})
		}
		if err := <-ended[0]; !errors.Is(err, gone) {
			t.Errorf("the broken stream ended with %v", err)
		}
		if err := <-ended[1]; err != nil {
			t.Errorf("the other stream ended with %v", err)
		}
		if st := c.stats(s, false); writes != [2]int{2, 5} || st.Cut != 1 || st.LagMax != 0 {
			t.Errorf("writes %v, %+v", writes, st)
		}
	})
}

// TestQueue: what goes in comes out in order, and memory does not grow with
// what went through.
func TestQueue(t *testing.T) {
	var q queue
	for i := range 10_000 {
		q.push(&stream{sent: i})
		if i < 100 {
			continue
		}
		if got := q.head().sent; got != i-100 {
			t.Fatalf("got %d, want %d", got, i-100)
		}
		q.pop()
	}
	if cap(q.list) > 1000 {
		t.Errorf("room for %d streams is kept for 100", cap(q.list))
	}
}
