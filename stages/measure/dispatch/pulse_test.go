package dispatch

import (
	"testing"
	"testing/synctest"
	"time"
)

// With a clock that is never late there is a tick every 5 ms and no lag.
func TestPulseTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := StartPulse()
		time.Sleep(time.Second + time.Millisecond)
		if got := p.Stop(); got.Ticks != 200 || got.LagP99 != 0 || got.LagMax != 0 || got.Frozen != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestPulseSums(t *testing.T) {
	p := &Pulse{stop: make(chan struct{})}
	every := 1
	for range 198 {
		every = p.take(100*time.Microsecond, every)
	}
	p.take(3*time.Millisecond, every)
	p.take(2*time.Second, every)
	got := p.Stop()
	if got.Ticks != 200 || got.LagP50 != 100_000 || got.LagP99 != 100_000 || got.LagMax != 2_000_000_000 || got.Frozen != 2_000_000_000 {
		t.Errorf("%+v", got)
	}
}

// A long cell keeps a bounded number of lags, evenly spread.
func TestPulseIsBounded(t *testing.T) {
	p := &Pulse{stop: make(chan struct{})}
	every := 1
	for i := range 5 * pulseKeeps {
		every = p.take(time.Duration(i%2)*time.Microsecond, every)
	}
	if len(p.lags) > pulseKeeps || every != 8 {
		t.Errorf("%d lags, every %d", len(p.lags), every)
	}
	if got := p.Stop(); got.Ticks != 5*pulseKeeps || got.LagMax != 1000 {
		t.Errorf("%+v", got)
	}
}
