// Package loopback is an endpoint of known timing, and the self-check that
// holds the measuring client against it.
//
// [Serve] answers OpenAI chat requests with streams whose every event is
// planned to an absolute time and carries the wall clock of its writing.
// [Read] sends requests through llm.Client as a cell does and compares the
// client's stamps with those: both are clocks of one host, so the difference
// is what the client and the machine add. [Check] does so in a fraction of a
// second, right before a cell.
package loopback

import (
	"fmt"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// Model is the id under which the server answers.
const Model = "loopback"

// Schedule says when a stream's events are written: event i at First + i*Gap
// after its request was read. Lateness never adds up: the next event is planned
// from the request, not from the one before.
type Schedule struct {
	First  time.Duration `json:"first_ns"`        // from the request to the first event
	Gap    time.Duration `json:"gap_ns"`          // between events; 0 = as fast as the reader takes them
	Events int           `json:"events"`          // with text, per stream
	Bytes  int           `json:"bytes,omitempty"` // length of each event's text, of which 19 are the clock; 0 = no more than that
}

// CheckSchedule is the schedule for the check before a cell: 220 ms.
var CheckSchedule = Schedule{First: 30 * time.Millisecond, Gap: 10 * time.Millisecond, Events: 20}

// GroundTruth is the schedule for which other clients have published their
// error: first token after 50 ms, then one every 10 ms, 100 in all.
var GroundTruth = Schedule{First: 50 * time.Millisecond, Gap: 10 * time.Millisecond, Events: 100}

// The bounds of a schedule. A first event below a millisecond could come
// sooner than the pacer looks again.
const (
	minFirst  = time.Millisecond
	minGap    = 100 * time.Microsecond
	maxWait   = time.Minute
	maxEvents = 100_000
	maxBytes  = 64 << 10
)

// Check says what is wrong with the schedule, nil = nothing.
func (s Schedule) Check() error {
	switch {
	case s.Gap == 0 && (s.First < 0 || s.First > maxWait):
		return fmt.Errorf("schedule: first event after %s, want 0 to %s", s.First, maxWait)
	case s.Gap != 0 && (s.First < minFirst || s.First > maxWait):
		return step.WithHint(fmt.Errorf("schedule: first event after %s, want %s to %s", s.First, minFirst, maxWait),
			"a gap of 0 is full speed and may begin at once")
	case s.Gap != 0 && (s.Gap < minGap || s.Gap > maxWait):
		return fmt.Errorf("schedule: gap %s, want 0 for full speed or %s to %s", s.Gap, minGap, maxWait)
	case s.Events < 1 || s.Events > maxEvents:
		return fmt.Errorf("schedule: %d events, want 1 to %d", s.Events, maxEvents)
	case s.Bytes != 0 && (s.Bytes < stampLen || s.Bytes > maxBytes):
		return fmt.Errorf("schedule: %d bytes per event, want 0 or %d to %d", s.Bytes, stampLen, maxBytes)
	}
	return nil
}

// width is the length of an event's text.
func (s Schedule) width() int { return max(s.Bytes, stampLen) }

// planned is when event i of a request read at that time is to be written.
func (s Schedule) planned(read int64, i int) int64 {
	return read + int64(s.First) + int64(i)*int64(s.Gap)
}
