package record

import (
	"golang.org/x/sys/unix"

	"github.com/cupel-dev/cupel/stages/trace"
)

// quality asks the kernel, which is told by whoever keeps the clock (chrony, ntpd,
// systemd-timesyncd, ptp4l through phc2sys). A keeper that does not tell it leaves
// the clock unsynchronised in its eyes; that errs on the careful side.
func quality() trace.Clock {
	var t unix.Timex // modes 0: nothing is set
	state, err := unix.Adjtimex(&t)
	return clockOf(state, &t, err)
}

// clockOf reads an answer of adjtimex. Maxerror is in microseconds.
func clockOf(state int, t *unix.Timex, err error) trace.Clock {
	if err != nil || state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0 {
		return trace.Clock{}
	}
	return trace.Clock{Synchronised: true, ErrorNS: max(0, int64(t.Maxerror)*1000)}
}
