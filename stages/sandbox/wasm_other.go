//go:build !linux

package sandbox

import "time"

// threadTime is not known here.
func threadTime() func() time.Duration { return nil }
