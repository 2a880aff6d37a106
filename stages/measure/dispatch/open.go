package dispatch

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
)

// maxPending bounds what an open loop holds: requests in flight, and results
// that were not taken yet.
const maxPending = 65_536

// Open sends request i at offsets[i] after the start (ascending), each in a
// goroutine of its own, and never waits for an answer or for take. A request
// that is due late, because the machine was busy, is sent at once and none of
// those behind it is shifted: Result.Dispatched - Result.Planned is its lag,
// which contains everything up to the call of send. Nothing is sent at the
// window's end or later; what was due by then and not sent is Unsent.
//
// At the window's end the requests in flight are waited for, or with
// cancelAtEnd cancelled: those come back as failures of class canceled, marked
// Cut. take is called from the caller's goroutine, in the order in which
// requests ended. When ctx ends nothing more is sent and everything in flight
// ends with it. The achieved rate is Outcome.Sent / window.
func Open(ctx context.Context, offsets []time.Duration, window time.Duration, cancelAtEnd bool, send Send, take func(Result)) Outcome {
	o := &opened{loop: newLoop(len(offsets)), offsets: offsets, cancelAtEnd: cancelAtEnd, send: send, limit: maxPending}
	o.window = window
	return o.run(ctx, precise, take)
}

// opened is one open loop.
type opened struct {
	*loop
	offsets     []time.Duration
	cancelAtEnd bool
	send        Send
	limit       int
	cut         atomic.Bool // everything in flight was cancelled by the loop itself
}

func (o *opened) run(parent context.Context, prepare func() pacer, take func(Result)) Outcome {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	o.join(1)
	var err error
	go func() {
		defer o.leave()
		// The thread is not given back: it ends with its timer's settings.
		runtime.LockOSThread()
		pace := prepare()
		o.start = time.Now()
		err = o.dispatch(ctx, pace)
		if err != nil || o.cancelAtEnd && parent.Err() == nil {
			o.cut.Store(true)
			cancel()
		}
	}()
	o.deliver(take)
	out := o.outcome()
	if parent.Err() == nil {
		out.WallNS = max(out.WallNS, int64(o.window))
	}
	out.Err = err
	if err == nil {
		out.Err = context.Cause(parent)
	}
	return out
}

// dispatch starts the goroutines of the requests, each at its instant, and
// returns at the window's end. The goroutine that runs first takes the lowest
// index that is due, so the order of dispatch is that of the plan even when
// several are started at once.
func (o *opened) dispatch(ctx context.Context, pace pacer) error {
	end := o.start.Add(o.window)
	for _, offset := range o.offsets {
		at := o.start.Add(offset)
		if !at.Before(end) || !until(ctx, at, pace) {
			break
		}
		if !o.enlist(o.limit) {
			return ErrBacklog
		}
		go func() {
			defer o.leave()
			o.one(ctx)
		}()
	}
	until(ctx, end, pace)
	return nil
}

func (o *opened) one(ctx context.Context) {
	i, at, ok := o.begin()
	if !ok {
		return
	}
	r := Result{Index: i, Planned: int64(o.offsets[i]), Dispatched: at, Response: o.send(ctx, i)}
	f := r.Response.Failure
	r.Cut = f != nil && f.Class == llm.ClassCanceled && o.cut.Load()
	o.done(r)
}
