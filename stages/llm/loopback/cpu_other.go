//go:build !unix

package loopback

// cpuTime is the CPU time of this process in nanoseconds, -1 = not known.
func cpuTime() int64 { return -1 }
