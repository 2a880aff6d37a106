//go:build !linux

package loopback

import "time"

func sharpen() {}

func nap(d time.Duration) { time.Sleep(d) }

// Prefer asks the system to run this process before its parent, where that is
// possible and permitted.
func Prefer() {}
