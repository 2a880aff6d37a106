package arrival

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
)

// Bounds of a plan. A plan outside them is an error, never cut to size.
const (
	MaxArrivals = 1_000_000
	MaxWindow   = 24 * time.Hour
	MaxRate     = 100_000 // requests per second
	MaxShape    = 1000    // burstiness
	MaxSpeed    = 1000
)

// Schedule is when the requests of one cell are to be sent.
type Schedule struct {
	Offsets []time.Duration // from the cell's start, ascending, each 0 <= offset < Window
	Window  time.Duration   // nothing is sent at its end or later
	Rows    []TraceRow      // of a trace: Rows[i] is what Offsets[i] replays; else empty
}

// Digest is the SHA-256 of the offsets in nanoseconds, each a decimal number
// followed by a line feed.
func (s Schedule) Digest() step.Digest {
	h := sha256.New()
	line := make([]byte, 0, 24)
	for _, o := range s.Offsets {
		line = append(strconv.AppendInt(line[:0], int64(o), 10), '\n')
		h.Write(line)
	}
	return step.Digest(h.Sum(nil))
}

// Plan draws the schedule of one cell. rate is in requests per second: the
// cell's own, and where a ramp begins; a trace ignores it. seed and trial
// matter to poisson and gamma alone: constant, ramp and trace leave nothing to
// chance. trace holds the rows that process trace replays, in order of time.
// An error is a sentence on what is out of bounds and what to do.
func Plan(a spec.Arrivals, rate float64, seed int64, trial int, trace []TraceRow) (Schedule, error) {
	if a.Process == "trace" {
		return replay(a, trace)
	}
	p, err := newProcess(a, rate, seed, trial)
	if err != nil {
		return Schedule{}, fmt.Errorf("arrivals: %w", err)
	}
	s := Schedule{Window: p.window}
	for {
		at := p.at(p.next())
		if at >= float64(p.window) {
			break
		}
		if len(s.Offsets) == MaxArrivals {
			return Schedule{}, fmt.Errorf("arrivals: more than %d in %v: shorten the duration or lower the rate", MaxArrivals, p.window)
		}
		s.Offsets = append(s.Offsets, time.Duration(at))
	}
	if len(s.Offsets) == 0 {
		return Schedule{}, fmt.Errorf("arrivals: none falls into %v at %v per second: lengthen the duration", p.window, rate)
	}
	return s, nil
}

// windowOf reads the sending window; fallback is what an absent one means, 0 =
// it must be there.
func windowOf(a spec.Arrivals, fallback time.Duration) (time.Duration, error) {
	if a.Duration == "" && fallback == 0 {
		return 0, fmt.Errorf("process %s needs a duration: the window in which requests are sent", a.Process)
	}
	window := fallback
	if a.Duration != "" {
		d, err := time.ParseDuration(a.Duration)
		if err != nil {
			return 0, fmt.Errorf("duration %q: write it like 90s or 5m", a.Duration)
		}
		window = d
	}
	if window <= 0 || window > MaxWindow {
		return 0, fmt.Errorf("duration %v: allowed are windows of more than 0 and at most %v", window, MaxWindow)
	}
	return window, nil
}

// replay plans the rows of a trace that fall into the window, speed times
// faster than they were recorded. The window of a whole trace ends one mean gap
// after its last row, so that arrivals / window is the trace's rate; a duration
// cuts it shorter, never longer.
func replay(a spec.Arrivals, rows []TraceRow) (Schedule, error) {
	speed := a.Speed
	if speed == 0 {
		speed = 1
	}
	if !(speed > 0 && speed <= MaxSpeed) {
		return Schedule{}, fmt.Errorf("trace: speed %v: allowed are speeds of more than 0 and at most %d", a.Speed, MaxSpeed)
	}
	if err := checkRows(rows); err != nil {
		return Schedule{}, fmt.Errorf("trace: %w", err)
	}
	played := func(at time.Duration) float64 { return nanos(float64(at) / speed) }
	whole := naturalWindow(played(rows[len(rows)-1].At), len(rows))
	window, err := windowOf(a, whole)
	if err != nil {
		return Schedule{}, fmt.Errorf("trace: %w", err)
	}
	window = min(window, whole)
	s := Schedule{Window: window}
	for _, row := range rows {
		at := played(row.At)
		if at >= float64(window) {
			break
		}
		s.Offsets = append(s.Offsets, time.Duration(at))
	}
	if len(s.Offsets) > MaxArrivals {
		return Schedule{}, fmt.Errorf("trace: %d rows fall into %v, allowed are %d: shorten the duration", len(s.Offsets), window, MaxArrivals)
	}
	s.Rows = rows[:len(s.Offsets)]
	return s, nil
}

// naturalWindow of n rows of which the last is at last (ns). Rows that share
// one instant have no gap and get a second.
func naturalWindow(last float64, n int) time.Duration {
	if n < 2 || last == 0 {
		return time.Second
	}
	return time.Duration(min(nanos(last/float64(n-1)*float64(n)), float64(MaxWindow+1)))
}

// checkRows guards against rows that did not come from ReadTrace.
func checkRows(rows []TraceRow) error {
	if len(rows) == 0 {
		return errors.New("there are no rows to replay")
	}
	before := time.Duration(0)
	for i, r := range rows {
		if r.At < before {
			return fmt.Errorf("row %d at %v is earlier than %v: rows must be in order of time", i+1, r.At, before)
		}
		before = r.At
	}
	return nil
}
