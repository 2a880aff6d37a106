//go:build unix

package loopback

import "syscall"

// cpuTime is the CPU time of this process in nanoseconds, -1 = not known.
func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return -1
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
