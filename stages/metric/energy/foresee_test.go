package energy

import (
	"slices"
	"testing"

	"github.com/cupel-dev/cupel/stages/trace"
)

// What is foreseen of a counter is what a recording of it states, where the power is
// steady and no look comes late. Looks are 50 ms apart.
func TestEndsAreWhatIsStated(t *testing.T) {
	for _, c := range []struct {
		file, base string
		from       float64
		period     int64
	}{
		{"publication-100ms", "nv.gpu", 17, 100e6},
		{"publication-1s", "nv.gpu", 30, 1e9},
		{"two-packages", "rapl.package", 17, 1e6}, // changes at every look
	} {
		cell := NewCell(one(c.base), []Trial{beside(recorded(t, c.file), twoTurns(c.from)...)})
		m := cell.Bases[0].Windows[Whole]
		want(t, c.file, m.QuantisationPct, 100*float64(Ends(c.period, 50e6))/20e9, "")
	}
	if Ends(100e6, 50e6) != 50e6 || Ends(1e6, 50e6) != 75e6 || Ends(54e6, 50e6) != 81e6 || Ends(56e6, 50e6) != 28e6 {
		t.Error("half a period, or a period and a half of one that changes at 90 % of the looks")
	}
}

// A base is foreseen to be of the very channels that its joules come from, with a
// recording and from its header alone.
func TestReadable(t *testing.T) {
	for name := range replay() {
		tr := recorded(t, name)
		for _, s := range Spelled {
			channels, ok := Readable(tr, s.Base)
			c := NewCell(one(s.Base), []Trial{beside(tr, twoTurns(17)...)})
			if ok != (c.Bases[0].Digest != "") {
				t.Errorf("%s, %s: readable %v, digest %q", name, s.Base, ok, c.Bases[0].Digest)
			}
			if listed, same := Readable(&trace.Trace{Header: tr.Header}, s.Base); same != ok || ok && !slices.Equal(listed, channels) {
				t.Errorf("%s, %s: %v of the recording, %v of its header", name, s.Base, channels, listed)
			}
		}
	}
}
