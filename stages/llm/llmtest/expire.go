package llmtest

import (
	"context"
	"sync"
)

// WithExpiry returns a context whose deadline passes when expire is called, so
// that a test of a time-out waits for an event instead of a clock.
func WithExpiry(parent context.Context) (ctx context.Context, expire func()) {
	e := &expiring{Context: parent, done: make(chan struct{})}
	context.AfterFunc(parent, func() { e.end(parent.Err()) })
	return e, func() { e.end(context.DeadlineExceeded) }
}

type expiring struct {
	context.Context
	done chan struct{}
	mu   sync.Mutex
	err  error
}

func (e *expiring) end(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
		close(e.done)
	}
}

func (e *expiring) Done() <-chan struct{} { return e.done }

func (e *expiring) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}
