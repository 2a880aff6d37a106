package energy

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
)

// shared is a trial of which only some requests are the cell's: between its two turns
// somebody else's takes its own, at 800 W.
func shared(t *testing.T) Trial {
	t.Helper()
	power := published(steps{{0, 100}, {15, 400}, {20.5, 800}, {24.5, 400}}, 0.1, 1e-3, 5_000_000)
	tl := good(t, counting(power))
	tl.Requests = []metric.Request{asked(16, 17, 20, 500, 101), asked(25, 26, 29, 500, 101)}
	return tl
}

// The power of a cell whose requests took turns with others' is of its own turns.
func TestShared(t *testing.T) {
	o := one("nv.gpu")
	c := NewCell(o, []Trial{shared(t)})
	want(t, "M6 of all", c.Asiai.PowerWatts, (9*400+4*800)/13.0, "")

	o.Shared = true
	c = NewCell(o, []Trial{shared(t), shared(t)})
	want(t, "M6", c.Asiai.PowerWatts, 400, "")
	want(t, "M7", c.Asiai.TokPerSecPerWatt, *metric.TokPerSec(metric.CellOptions{Concurrency: 1, Protocol: o.Protocol}, []metric.Trial{new(shared(t)).asTrial()}).P50/400, "")
	want(t, "M9", c.Asiai.SoCWatts, 400, "")
	for _, x := range []*Cell{&c, &c.PerTrial[1]} {
		for _, w := range []Window{Whole, Steady} {
			m := x.Bases[0].Windows[w]
			want(t, "J of "+string(w), m.J, 0, metric.Overlapping)
			want(t, "s of "+string(w), m.DurationS, 0, metric.Overlapping)
			want(t, "net J of "+string(w), m.NetJ, 0, metric.Overlapping)
		}
		want(t, "M6", x.Asiai.PowerWatts, 400, "")
	}
	want(t, "J of its requests", c.Bases[0].Windows[Request].J, 2*2*4*400, "")
	sound(t, &c)

	for _, failed := range [][]int{{1}, {0, 1}} {
		tl := shared(t)
		for _, i := range failed {
			tl.Requests[i].FailureClass = "http-500"
		}
		c = NewCell(o, []Trial{tl})
		want(t, "M6 of one that failed", c.Asiai.PowerWatts, 0, metric.IncompleteCell)
		want(t, "M7 of one that failed", c.Asiai.TokPerSecPerWatt, 0, metric.IncompleteCell)
		sound(t, &c)
	}
}
