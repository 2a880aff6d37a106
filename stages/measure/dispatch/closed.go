package dispatch

import (
	"context"
	"time"
)

// Closed sends requests 0 to requests-1 in order of their index, each by one
// of workers goroutines as soon as that one's last request has ended: a slot
// refills by itself and never waits for a batch. take is called from the
// caller's goroutine, in the order in which requests ended, and for every
// request that was sent. When take is slower than the answers, at most about
// 1,024 results wait for it and then the workers do, between two requests; see
// Outcome.Stalled.
//
// When ctx ends nothing more is sent, and Closed returns once those in flight
// have returned, which are results like any other. workers below 1 are 1.
func Closed(ctx context.Context, workers, requests int, send Send, take func(Result)) Outcome {
	l := newLoop(max(requests, 0))
	l.room = roomFor
	workers = min(max(workers, 1), l.requests)
	l.join(workers)
	gate := make(chan struct{})
	for range workers {
		go func() {
			defer l.leave()
			<-gate
			for ctx.Err() == nil && l.one(ctx, send) {
			}
		}()
	}
	l.start = time.Now()
	close(gate) // the workers exist before the clock starts
	l.deliver(take)
	out := l.outcome()
	out.Err = context.Cause(ctx)
	return out
}

func (l *loop) one(ctx context.Context, send Send) bool {
	i, at, ok := l.begin()
	if !ok {
		return false
	}
	l.done(Result{Index: i, Planned: -1, Dispatched: at, Response: send(ctx, i)})
	return true
}
