// Package meter runs a meter beside a measurement: cupel-meter on this machine, or one
// that is served on another. What it records can be looked at meanwhile.
package meter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/stages/trace"
)

// Want says what is to be recorded.
type Want struct {
	GPUs []string // UUIDs; empty = all
	Hz   float64  // looks a second, 0 = as the meter likes
}

// Record records to w until stop is closed, and then ends the trace properly. An error
// means that it ended otherwise: what was written stays. It returns soon after ctx
// has ended.
type Record func(ctx context.Context, want Want, stop <-chan struct{}, w io.Writer) error

// Recording is a trace that is being made.
type Recording struct {
	begun  chan struct{} // closed when the header is there, or never will be
	ended  chan struct{}
	stop   chan struct{}
	cancel context.CancelFunc
	once   sync.Once

	mu     sync.Mutex
	follow *trace.Follower
	err    error // of the recording, once ended is closed
	bad    error // of what came, or of the writer behind it
	opened bool  // begun is closed
}

// Start starts a recording to w, which takes whole lines that trace.Read can read, and
// nothing after Stop has returned. Of an error of w, Stop tells.
func Start(ctx context.Context, record Record, want Want, w io.Writer) *Recording {
	r := &Recording{begun: make(chan struct{}), ended: make(chan struct{}), stop: make(chan struct{}), follow: trace.Follow(w)}
	ctx, r.cancel = context.WithCancel(ctx)
	go func() {
		err := record(ctx, want, r.stop, r)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = err
		close(r.ended)
		r.open()
	}()
	return r
}

// Write takes what the meter writes.
func (r *Recording) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := r.follow.Write(p)
	if err != nil {
		r.bad = err
	}
	if r.follow.Trace() != nil {
		r.open()
	}
	return n, err
}

// open is called with the lock held.
func (r *Recording) open() {
	if !r.opened {
		r.opened = true
		close(r.begun)
	}
}

// Begun waits for the header, at most for patience, and reports whether it came.
func (r *Recording) Begun(ctx context.Context, patience time.Duration) bool {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-r.begun:
	case <-late.C:
	case <-ctx.Done():
	}
	there := false
	r.Look(func(*trace.Trace) { there = true })
	return there
}

// Look calls f with what was recorded so far, unless that is nothing. f must not keep
// the trace.
func (r *Recording) Look(f func(*trace.Trace)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.follow.Trace(); t != nil {
		f(t)
	}
}

// Ended is closed when nothing more will be recorded.
func (r *Recording) Ended() <-chan struct{} { return r.ended }

// errCut is a recording that ended by itself and has no end.
var errCut = errors.New("it ended before it was asked to")

// Stop ends the recording and waits until it has ended, at most for grace: then the
// meter is given up. The error says why the trace is not whole, nil = it is. It may be
// called again.
func (r *Recording) Stop(grace time.Duration) error {
	early := false
	select {
	case <-r.ended:
		early = true
	default:
	}
	r.once.Do(func() { close(r.stop) })
	late := time.NewTimer(grace)
	defer late.Stop()
	var gaveUp error
	select {
	case <-r.ended:
	case <-late.C:
		gaveUp = fmt.Errorf("it did not end within %s", grace)
		r.cancel()
		<-r.ended
	}
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	whole := r.follow.Trace() != nil && (r.follow.Trace().End != nil || r.follow.Trace().None != nil)
	switch {
	case r.bad != nil:
		return r.bad
	case whole:
		return nil
	case gaveUp != nil:
		return gaveUp
	case r.err != nil:
		return r.err
	case early:
		return errCut
	}
	return errors.New("the end of its trace is missing")
}
