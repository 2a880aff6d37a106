package dispatch

import (
	"time"

	"golang.org/x/sys/unix"
)

// precise returns a pacer for the calling thread, which must stay locked: the
// kernel wakes it at an absolute instant of the monotonic clock, the one that
// time.Time carries, and without the 50 us by which it may otherwise be late to
// save power. Where either is forbidden the pacer is a portable one.
func precise() pacer {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // ns; without it the lag is larger and still measured
	zero, err := monotonicZero()
	if err != nil {
		return portable
	}
	return func(at time.Time) {
		wake := unix.NsecToTimespec(zero.ns + int64(at.Sub(zero.at)))
		for {
			switch unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &wake, nil) {
			case nil:
				return
			case unix.EINTR: // by a signal: the instant stays the same
			default:
				portable(at)
				return
			}
		}
	}
}

// instant is one moment on both clocks, nearly.
type instant struct {
	at time.Time
	ns int64
}

// monotonicZero reads one clock and then the other, and of a few tries takes the
// one in which the least time passed in between: by that much an instant may
// be late, and never early.
func monotonicZero() (best instant, err error) {
	least := time.Hour
	for range 10 {
		before := time.Now()
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return best, err
		}
		if took := time.Since(before); took < least {
			least, best = took, instant{before, ts.Nano()}
		}
	}
	return best, nil
}
