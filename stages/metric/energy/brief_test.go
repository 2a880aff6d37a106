package energy

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
)

// Of runs below a second no more than half may be left out: the few would stand for all.
func TestBriefRuns(t *testing.T) {
	for _, x := range []struct {
		brief  int // of 4
		reason string
	}{{0, ""}, {1, ""}, {2, ""}, {3, metric.TooBrief}, {4, metric.TooBrief}} {
		tl := good(t)
		tl.Requests = nil
		for i := range 4 {
			from, to := 17+4*float64(i), 20+4*float64(i)
			if i < x.brief {
				to = from + 0.9
			}
			tl.Requests = append(tl.Requests, asked(from, from+0.5, to, 500, 31))
		}
		c := NewCell(one("nv.gpu"), []Trial{tl})
		want(t, "M9", c.Asiai.SoCWatts, 400, x.reason)
		want(t, "M10", c.Asiai.EnergyPerToken, 40, x.reason)
		want(t, "active", c.Asiai.ActivePerToken, 30, x.reason)
		sound(t, &c)
	}
}
