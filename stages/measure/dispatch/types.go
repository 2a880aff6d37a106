package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
)

// Send sends the request of an index once and returns what came back. It is
// called by many goroutines, at most once per index, and must return soon after
// ctx ends. Whatever can be prepared is prepared before.
type Send func(ctx context.Context, index int) llm.Response

// Result is one request that was sent.
type Result struct {
	Index      int
	Planned    int64 // ns since Outcome.Start at which it was to be sent, -1 = closed loop
	Dispatched int64 // ns since Outcome.Start at which Send was called
	Response   llm.Response

	// Cut marks a request that was in flight when the window of an open loop
	// ended and was cancelled for that reason: its failure is of class canceled
	// and counts as failed, which one that the user stopped does not.
	Cut bool
}

// Outcome is what happened to a cell as a whole.
//
//	Sent + Unsent = requests asked for
//	MaxInFlight <= workers                      (closed loop)
//	InFlightNS  = sum of the requests' times between dispatch and end
type Outcome struct {
	Start       time.Time // the zero of the cell's clock, with its monotonic reading
	WallNS      int64     // from Start to the end of the last request; of an open loop at least the window
	InFlightNS  int64     // integral over the wall of the requests in flight: / WallNS is their mean
	MaxInFlight int
	Sent        int
	Unsent      int // the last ones by index

	// Stalled is how long workers of a closed loop waited for take, added up.
	// A request's own times never contain it, but the load was lower than asked
	// for meanwhile: a share of WallNS x workers worth mentioning makes the
	// client the bottleneck.
	Stalled time.Duration

	// Err says why the loop ended early: the context's cause, or ErrBacklog;
	// nil = it ran its course, which for an open loop may leave requests unsent
	// because the window was over.
	Err error
}

// ErrBacklog ends an open loop in which more requests are in flight, or ended
// and not yet taken, than memory should be asked to hold. What is in flight is
// cancelled and comes back marked Cut.
var ErrBacklog = errors.New("too many requests are in flight or wait to be written down: the endpoint does not keep up with the rate; lower it or shorten the window")
