package record

import (
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cupel-dev/cupel/stages/trace"
)

func TestClockOf(t *testing.T) {
	kept := trace.Clock{Synchronised: true, ErrorNS: 1_500_000}
	for _, c := range []struct {
		state  int
		status int32
		err    error
		want   trace.Clock
	}{
		{unix.TIME_OK, unix.STA_PLL, nil, kept},
		{unix.TIME_INS, unix.STA_PLL, nil, kept}, // a leap second comes
		{unix.TIME_ERROR, unix.STA_UNSYNC, nil, trace.Clock{}},
		{unix.TIME_OK, unix.STA_UNSYNC, nil, trace.Clock{}},
		{unix.TIME_OK, 0, syscall.EPERM, trace.Clock{}},
	} {
		if got := clockOf(c.state, &unix.Timex{Status: c.status, Maxerror: 1500}, c.err); got != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
