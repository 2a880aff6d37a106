package record

import (
	"time"

	"github.com/cupel-dev/cupel/stages/trace"
)

// clock is where times come from.
type clock interface {
	// now returns ns of a clock that never goes back, and ns since 1970 of the wall
	// clock of the same moment.
	now() (mono, wall int64)
	// wait returns when that clock says until, or earlier when there is a reason to stop.
	wait(until int64, s stops)
	// quality is what the system says of the wall clock.
	quality() trace.Clock
}

// stops are channels that are closed to end a recording; nil is never closed.
type stops struct{ done, asked, input <-chan struct{} }

// why says which of them is closed, "" = none.
func (s stops) why() string {
	select {
	case <-s.done:
		return trace.Asked
	case <-s.asked:
		return trace.Asked
	default:
	}
	select {
	case <-s.input:
		return trace.InputEnded
	default:
		return ""
	}
}

// system is the clock of the machine.
type system struct{ zero time.Time }

func newSystem() system { return system{time.Now()} }

func (s system) now() (mono, wall int64) {
	n := time.Now()
	return int64(n.Sub(s.zero)), n.UnixNano()
}

func (s system) wait(until int64, st stops) {
	t := time.NewTimer(time.Until(s.zero.Add(time.Duration(until))))
	defer t.Stop()
	select {
	case <-t.C:
	case <-st.done:
	case <-st.asked:
	case <-st.input:
	}
}

func (system) quality() trace.Clock { return quality() }
