package energy

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// walled has a wall meter beside its GPU.
func walled(r *rig) {
	r.devices = append(r.devices, trace.Device{ID: "wall", Kind: trace.Machine})
	*r = r.counts("wall", trace.Wall, "mJ", "meter", published(loaded, 0.1, 1e-3, 0))
}

// integrated has a GPU without a counter: what it draws is integrated.
func integrated(r *rig) {
	r.charts[0] = chart{trace.Channel{Device: "GPU-1", Domain: trace.NVGPU, Quantity: trace.Power, Unit: "mW", Source: "field 186"}, constant(400_000)}
}

// power_watts is of the GPUs, and what it is of is known where no base has them.
func TestWhatPowerIsOf(t *testing.T) {
	wall := func(trials ...Trial) *Cell { c := NewCell(one("wall"), trials); return &c }
	counter, integral := wall(good(t, walled)), wall(good(t, walled, integrated))
	device := amd(350, 700_000)
	walled(&device)
	other := wall(beside(device.trace(t), asked(10, 12, 20, 100, 101), asked(20, 22, 30, 100, 101)))
	for _, c := range []*Cell{counter, integral, other} {
		sound(t, c)
		if c.Asiai.PowerWatts.Value == nil {
			t.Fatalf("no power of %s: %s", c.Asiai.PowerBase, c.Asiai.PowerWatts.Reason)
		}
		if len(Comparable(counter, c, Band{StartC: 100})) != 0 && c == integral {
			t.Errorf("the wall's own: %q", Comparable(counter, c, Band{}))
		}
		if why := TurnsComparable(counter, c); len(why) != 0 {
			t.Errorf("turns of the wall: %q", why)
		}
	}
	if l := counter.Asiai.PowerLabel; l != metric.Indicative {
		t.Errorf("20 s are labelled %q", l)
	}
	want(t, "off", counter.Asiai.PowerQuantisationPct, 0.25, "")
	for _, x := range []struct {
		what string
		b    *Cell
		want string
	}{
		{"itself", counter, ""},
		{"an integral", integral, "power_watts of nv.gpu was read from other domains or by other means"},
		{"another maker's", other, "power_watts is of nv.gpu on one side and of amd.gpu on the other"},
		{"an older record", &Cell{}, "power_watts is of nv.gpu on one side and of nothing that is known on the other"},
	} {
		if got := strings.Join(PowerComparable(&counter.Asiai, &x.b.Asiai), "; "); got != x.want {
			t.Errorf("%s: %q, want %q", x.what, got, x.want)
		}
	}
	if why := PowerComparable(&Asiai{}, &Asiai{}); len(why) != 1 {
		t.Errorf("two of which nothing is known: %q", why)
	}
}

// Trials that were read by different means have nothing in common, and two arms of
// which that is true have not either.
func TestTwoMixedArms(t *testing.T) {
	mixed := NewCell(one("nv.gpu"), []Trial{good(t), good(t, integrated)})
	want(t, "M6", mixed.Asiai.PowerWatts, 0, metric.BasesDiffer)
	sound(t, &mixed)
	const why = "nv.gpu was not measured alike in the trials of either"
	if got := strings.Join(Comparable(&mixed, &mixed, Band{}), "; "); got != why {
		t.Errorf("%q", got)
	}
	plain := NewCell(one("nv.gpu"), []Trial{good(t)})
	if got := strings.Join(Comparable(&plain, &mixed, Band{}), "; "); got != "nv.gpu was not measured alike in the trials of one of them" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(TurnsComparable(&mixed, &mixed), "; "); got != why {
		t.Errorf("%q", got)
	}
	if got := strings.Join(PowerComparable(&mixed.Asiai, &mixed.Asiai), "; "); got != "power_watts of "+why {
		t.Errorf("%q", got)
	}
}

// A turn is shorter than all of them together, and its ends count for more.
func TestQuantisationOfATurn(t *testing.T) {
	c := NewCell(one("nv.gpu"), []Trial{good(t)})
	whole := c.Bases[0].Windows[Whole].QuantisationPct
	want(t, "of the cell", c.Asiai.PowerQuantisationPct, *whole.Value, "")
	want(t, "of a turn", c.Asiai.TurnQuantisationPct, 2**whole.Value, "")
	open := one("nv.gpu")
	open.Streams = 0
	c = NewCell(open, []Trial{good(t)})
	want(t, "in an open loop", c.Asiai.TurnQuantisationPct, 0, metric.OpenLoop)
	want(t, "of the cell in an open loop", c.Asiai.PowerQuantisationPct, 0, metric.OpenLoop)
}
