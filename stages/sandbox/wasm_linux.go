package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns a function that tells how much CPU time the calling
// thread has used; any thread may call it. See clock_getres(2): the clock of a
// thread is made of its id.
func threadTime() func() time.Duration {
	const scheduledOfThread = 2 | 4
	clock := int32(^unix.Gettid()<<3 | scheduledOfThread)
	return func() time.Duration {
		var t unix.Timespec
		if unix.ClockGettime(clock, &t) != nil {
			return 0
		}
		return time.Duration(t.Nano())
	}
}
