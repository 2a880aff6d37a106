package energy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// A power that rises by 100 W a second: its integral is that of the line.
func TestPowerCurve(t *testing.T) {
	var of []trace.Sample
	for s := range int64(5) {
		of = append(of, trace.Sample{T: s * 1e9, V: 100 + 100*s}, trace.Sample{T: s*1e9 + 1, E: "nvml-error"})
	}
	c := powerCurve(of, trace.Channel{Unit: "W"}, 3000)
	for _, x := range []struct {
		from, to int64
		j        float64
	}{{0, 4e9, 1200}, {5e8, 25e8, 500}, {11e8, 12e8, 21.5}, {2e9, 2e9, 0}} {
		if j := c.joules(span{x.from, x.to}); j.why != "" || math.Abs(j.v-x.j) > 1e-9 {
			t.Errorf("%d to %d: %+v, want %v", x.from, x.to, j, x.j)
		}
	}
	for _, s := range []span{{-1, 1e9}, {3e9, 4e9 + 1}, {3e9, 1e9}} {
		if j := c.joules(s); j.why != metric.NotBracketed {
			t.Errorf("%v: %+v", s, j)
		}
	}
	of[4].V = -1
	if j := powerCurve(of, trace.Channel{Unit: "W"}, 3000).joules(span{0, 4e9}); j.why != metric.Implausible {
		t.Errorf("a power below 0: %+v", j)
	}
	for to, why := range map[int64]string{1e9: "", 15e8: metric.Implausible} {
		if j := powerCurve(of, trace.Channel{Unit: "W"}, 3000).joules(span{0, to}); j.why != why {
			t.Errorf("before a power below 0, to %d: %+v", to, j)
		}
	}
	of[4].V = 3001
	if j := powerCurve(of, trace.Channel{Unit: "W"}, 3000).joules(span{5e8, 25e8}); j.why != metric.Implausible {
		t.Errorf("more than anything draws: %+v", j)
	}
}

// A power has news as often as it changes while it changes, and never more often than
// it is looked at.
func TestPowerPeriod(t *testing.T) {
	var of []trace.Sample
	for k := range int64(800) { // 50 ms apart; news every 100 ms for 10 s, and none afterwards but two
		v := k / 2
		if k > 200 {
			v = 100 + k/300
		}
		of = append(of, trace.Sample{T: k * 50e6, V: v})
	}
	if c := powerCurve(of, trace.Channel{Unit: "W"}, 3000); c.period != 100e6 {
		t.Errorf("%d ns", c.period)
	}
	for k := range of {
		of[k].V = 7
	}
	if c := powerCurve(of, trace.Channel{Unit: "W"}, 3000); c.period != 50e6 {
		t.Errorf("of a power that stays: %d ns", c.period)
	}
}

// Steps that are published 4 ms early or late are still placed better by their
// neighbours than each by itself; steps of no rhythm are no worse than in the middle of
// two looks.
func TestPlaced(t *testing.T) {
	off := func(jitter float64) (worst, middle float64) {
		rnd := rand.New(rand.NewPCG(5, 6))
		var ticks []tick
		var truth []float64
		next := 0.03
		looked := -0.05
		for x := 0.0; x < 60; x += (1 + 0.2*(rnd.Float64()-0.5)) / 20 {
			if x >= next {
				ticks = append(ticks, tick{before: int64(looked * 1e9), look: int64(x * 1e9)})
				truth = append(truth, next)
				next = 0.03 + 0.1*float64(len(truth)) + jitter*(rnd.Float64()-0.5)
			}
			looked = x
		}
		ticks, at, _ := placed(ticks)
		for i := range at {
			worst = max(worst, math.Abs(float64(at[i])/1e9-truth[i]))
			middle = max(middle, math.Abs(float64(ticks[i].middle())/1e9-truth[i]))
			if at[i] < ticks[i].before || at[i] > ticks[i].look {
				t.Fatalf("step %d at %d, seen in %d to %d", i, at[i], ticks[i].before, ticks[i].look)
			}
		}
		return worst, middle
	}
	for _, x := range []struct{ jitter, most float64 }{{0, 0.001}, {0.008, 0.02}, {0.04, 0.0276}} {
		if worst, middle := off(x.jitter); worst > x.most || x.jitter < 0.01 && worst > 0.7*middle {
			t.Errorf("jitter of %v s: off by %.4f s, in the middle by %.4f s", x.jitter, worst, middle)
		}
	}
}

// Heat between two requests is in neither, and refuses them all the same.
func TestHeatBetween(t *testing.T) {
	tl := good(t, func(r *rig) {
		r.charts[2].at = func(t float64) (int64, string) { return int64(min(max(t-23, 0), 1) * 1e9), "" }
	})
	tl.Requests = []metric.Request{asked(17, 18, 22, 9, 101), asked(25, 26, 30, 9, 101)}
	c := NewCell(one("nv.gpu"), []Trial{tl})
	want(t, "decode", c.Bases[0].Windows[Decode].J, 0, metric.Thermal)
	want(t, "share", c.ThermalShare, 1.0/13, "")
	want(t, "M9, of runs", c.Asiai.SoCWatts, 400, "")
}

// The change after one that was left out is numbered by where the clock puts it; one
// after a pause between looks that nobody missed, by the least that fits.
func TestNumbered(t *testing.T) {
	ticks := []tick{{before: 895, look: 905}, {before: 995, look: 1005}, {before: 1215, look: 1305}, {before: 1390, look: 1410}}
	if n := numbered(ticks, []bool{false, false, true, false}, 100); n[1] != 1 || n[2] != 4 || n[3] != 5 {
		t.Errorf("%v", n)
	}
	if n := numbered(ticks, make([]bool, 4), 100); n[2] != 3 {
		t.Errorf("nothing left out: %v", n)
	}
	kept, beyond := clear([]tick{{before: 0, look: 40}, {before: 120, look: 220}, {before: 220, look: 319}}, 100)
	if len(kept) != 2 || beyond[0] || !beyond[1] {
		t.Errorf("%v %v", kept, beyond)
	}
}
