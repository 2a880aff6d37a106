package arrival

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
)

// process is a stream of arrivals: next yields their operational times, and at
// turns one into nanoseconds since the start, whole but still a float64 so
// that what lies far beyond the window cannot overflow.
type process struct {
	window time.Duration
	next   func() float64
	at     func(s float64) float64
}

func newProcess(a spec.Arrivals, rate float64, seed int64, trial int) (process, error) {
	window, err := windowOf(a, 0)
	if err != nil {
		return process{}, err
	}
	if err := checkRate(rate); err != nil {
		return process{}, err
	}
	p := process{window: window, at: steady(rate)}
	mean := rate
	switch a.Process {
	case "constant":
		p.next = count()
	case "poisson":
		p.next = sum(newDraw(seed, trial).exponential)
	case "gamma":
		shape := a.Burstiness
		if shape == 0 {
			shape = 1
		}
		if !(shape > 0 && shape <= MaxShape) {
			return process{}, fmt.Errorf("burstiness %v: allowed are shapes of more than 0 and at most %d", a.Burstiness, MaxShape)
		}
		d := newDraw(seed, trial)
		p.next = sum(func() float64 { return d.gamma(shape) / shape })
	case "ramp":
		if err := checkRate(a.To); err != nil {
			return process{}, fmt.Errorf("end of the ramp: %w", err)
		}
		p.next, p.at = count(), ramp(rate, a.To, window)
		mean = (rate + a.To) / 2
	default:
		return process{}, fmt.Errorf("process %q: known are constant, poisson, gamma, ramp and trace", a.Process)
	}
	if n := mean * window.Seconds(); n > MaxArrivals {
		return process{}, fmt.Errorf("%.0f are expected in %v, allowed are %d: shorten the duration or lower the rate", n, window, MaxArrivals)
	}
	return p, nil
}

func checkRate(r float64) error {
	if r == 0 {
		return errors.New("no rate is given: say how many requests a second are to be sent")
	}
	if !(r > 0 && r <= MaxRate) {
		return fmt.Errorf("rate %v: allowed are rates of more than 0 and at most %d per second", r, MaxRate)
	}
	return nil
}

// count yields 0, 1, 2, ...: an arrival at the start, then one per mean gap.
func count() func() float64 {
	n := -1.0
	return func() float64 { n++; return n }
}

// sum adds gaps up. The first arrival comes after the first gap.
func sum(gap func() float64) func() float64 {
	s := 0.0
	return func() float64 { s += gap(); return s }
}

func steady(rate float64) func(float64) float64 {
	return func(s float64) float64 { return nanos(s * 1e9 / rate) }
}

// ramp inverts the integral of a rate that goes linearly from r to to over the
// window: r t + (to-r) t^2 / 2W = s. The form with the root below the fraction
// loses no digits, and is right when both rates are equal.
func ramp(r, to float64, window time.Duration) func(float64) float64 {
	slope := (to - r) / window.Seconds()
	return func(s float64) float64 {
		under := float64(r*r) + float64(2*slope*s)
		if under < 0 { // a falling rate has reached 0: never
			return math.Inf(1)
		}
		return nanos(2 * s / (r + math.Sqrt(under)) * 1e9)
	}
}

// nanos rounds to whole nanoseconds, ties to even.
func nanos(ns float64) float64 { return math.RoundToEven(ns) }
