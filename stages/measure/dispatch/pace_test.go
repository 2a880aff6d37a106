package dispatch

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// No pacer may return early: a request would go out before its instant.
func TestPacersAreNeverEarly(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for name, pace := range map[string]pacer{"precise": precise(), "portable": portable} {
		for _, d := range []time.Duration{0, time.Microsecond, 50 * time.Microsecond, 300 * time.Microsecond, 3 * time.Millisecond} {
			at := time.Now().Add(d)
			pace(at)
			if early := time.Until(at); early > 0 {
				t.Errorf("%s pacer: %v early after %v", name, early, d)
			}
		}
	}
}

func TestUntilIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if until(ctx, begun.Add(time.Hour), simulated()) || time.Since(begun) != time.Second {
			t.Errorf("ended after %v", time.Since(begun))
		}
		if until(ctx, begun, simulated()) {
			t.Error("an ended context is alive")
		}
		if !until(t.Context(), begun.Add(time.Minute), simulated()) || time.Since(begun) != time.Minute {
			t.Errorf("ended after %v, want a minute", time.Since(begun))
		}
	})
}
