package dispatch

import (
	"context"
	"runtime"
	"time"
)

// pacer waits until an instant at most nearby ahead, as exactly as it can.
type pacer func(at time.Time)

// nearby is how far ahead the exact wait begins. It cannot be interrupted, so
// it also is how late a cancelled context is noticed.
const nearby = 10 * time.Millisecond

// until waits for an instant and reports whether ctx is still alive then. The
// way there is slept off on an ordinary timer, which can be interrupted and may
// be some milliseconds late.
func until(ctx context.Context, at time.Time, pace pacer) bool {
	if far := time.Until(at) - nearby; far > 0 {
		t := time.NewTimer(far)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return false
		}
	}
	if time.Until(at) > spinFor {
		// What was just started waits in this thread's own queue, and would go
		// on waiting there while the thread sleeps in the kernel and the others
		// are busy. With 200 streams on two cores: p99 1 ms in place of 2.5 ms.
		runtime.Gosched()
	}
	if time.Until(at) > 0 {
		pace(at)
	}
	return ctx.Err() == nil
}

// spinFor is how long before an instant a portable pacer stops sleeping and
// reads the clock in a loop instead.
const spinFor = 100 * time.Microsecond

// portable sleeps on the runtime's timer, which some systems serve to the
// millisecond only, and spins for the rest.
func portable(at time.Time) {
	time.Sleep(time.Until(at) - spinFor)
	for time.Until(at) > 0 {
	}
}
