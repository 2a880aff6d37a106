//go:build !unix

package loopback

// CPUTime is the CPU time of this process in nanoseconds, -1 = not known.
func CPUTime() int64 { return -1 }
