//go:build unix

package loopback

import "syscall"

// CPUTime is the CPU time of this process in nanoseconds, -1 = not known.
func CPUTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return -1
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
