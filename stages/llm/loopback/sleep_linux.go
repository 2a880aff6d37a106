package loopback

import (
	"os"
	"strconv"
	"syscall"
	"time"
)

// sharpen lets this thread's sleeps end when they should: the kernel may else
// add 50 µs to spare wake-ups.
func sharpen() {
	const setTimerSlack = 29 // prctl(2)
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
}

// nap sleeps in the kernel: the runtime's own timers are only as fine as a
// millisecond while the process is idle. A signal may end it early, which the
// pacer's next look at the clock puts right.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil)
}

// Prefer asks the system to run this process before its parent, where that is
// permitted: a server that shares its cores with the client under test should
// keep its schedule, so that what is late is the client. New threads inherit it.
func Prefer() {
	now, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return
	}
	const highest, closer = -20, 10
	nice := max(20-now-closer, highest) // getpriority(2) answers 20 - nice
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, nice)
		}
	}
}
