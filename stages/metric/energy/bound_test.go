package energy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// held holds what was measured against the truth: within what it says that it may be
// off by, or refused. It reports whether it was measured.
func held(t *testing.T, what string, m Measured, truth float64) bool {
	t.Helper()
	if m.QuantisationPct.Value == nil {
		t.Errorf("%s: quantisation %s", what, text(m.QuantisationPct))
		return false
	}
	q := *m.QuantisationPct.Value
	if m.J.Value == nil {
		if m.J.Reason != metric.PublicationCoarse && m.J.Reason != metric.SamplingGap || q <= DefaultCoarsest {
			t.Errorf("%s: %s at %.2f %%", what, text(m.J), q)
		}
		return false
	}
	if off := 100 * math.Abs(*m.J.Value/truth-1); !(off <= q) {
		t.Errorf("%s: off by %.2f %%, %.2f %% is stated", what, off, q)
	}
	return true
}

// Prefill and decode end on edges of the power, which a straight line smears the same
// way at each: many requests do not make it less.
func TestEdges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 4))
	measured, refused := 0, 0
	for _, x := range []struct{ prefill, decode, each, gap float64 }{
		{650, 340, 1, 0.002}, {700, 250, 1, 0.002}, {700, 200, 1, 0.002}, {700, 150, 1, 0.5}, {700, 100, 1.2, 0.002},
		{700, 100, 4, 0.5}, {650, 340, 3, 0.002}, {200, 700, 1, 0.1}, {500, 500, 2, 0.1},
	} {
		for _, jitter := range []float64{0, 0.1} {
			p, at := steps{{0, 75}}, 15.05
			var rs []metric.Request
			var prefill, decode float64
			for range 40 {
				first := at + x.each + jitter*rnd.Float64()
				end := first + x.each + jitter*rnd.Float64()
				p = append(p, step(at, x.prefill), step(first, x.decode), step(end, 75))
				rs = append(rs, asked(at, first, end, 1000, 100))
				prefill, decode = prefill+x.prefill*(first-at), decode+x.decode*(end-first)
				at = end + x.gap
			}
			r := nv(at+5, p)
			r.hz = 23
			ws := NewCell(one("nv.gpu"), []Trial{beside(r.trace(t), rs...)}).Bases[0].Windows
			for w, truth := range map[Window]float64{Prefill: prefill, Decode: decode, Request: prefill + decode} {
				if held(t, string(w), ws[w], truth) {
					measured++
				} else {
					refused++
				}
			}
		}
	}
	if measured < 20 || refused < 8 {
		t.Errorf("%d are measured, %d refused", measured, refused)
	}
}

// A counter that changes at every look shows what it was up to a period before.
func TestFastLags(t *testing.T) {
	rnd := rand.New(rand.NewPCG(10, 4))
	worst := 0.0
	for _, period := range []float64{0.001, 0.02, 0.03, 0.04, 0.043, 0.045, 0.047} {
		for range 10 {
			r := rig{hz: 23, phase: rnd.Float64() * 0.043, seconds: 30, devices: []trace.Device{gpu("GPU-1")}}
			r = r.counts("GPU-1", trace.NVGPU, "mJ", nvmlEnergy, published(flat(300), period, 1e-3, 7))
			tr := r.trace(t)
			for range 10 {
				from := 5 + 15*rnd.Float64()
				o := one("nv.gpu")
				o.Coarsest = 20
				m := NewCell(o, []Trial{beside(tr, asked(from, from+0.1, from+1.1, 9, 9))}).Bases[0].Windows[Whole]
				if held(t, "fast", m, 330) {
					worst = max(worst, math.Abs(*m.J.Value/3.3-100))
				}
			}
		}
	}
	if worst < 2 {
		t.Errorf("nothing was off by more than %.2f %%", worst)
	}
}

// onlyPower is a device whose instantaneous power alone is read, 23 times a second.
func onlyPower(p steps, seconds float64, fails func(t float64) bool) rig {
	return box(23, seconds, gpu("card0")).reads("card0", trace.HwmonGPU, trace.Power, "mW", "hwmon0/power1_input", func(t float64) (int64, string) {
		if fails(t) {
			return 0, "timeout"
		}
		// A sensor is never still: it moves by a few mW at every look.
		return int64(1000*p.watts(t)) + int64(t*23)%7, ""
	})
}

// What happened between two readings of a power is in its bound.
func TestPowerBound(t *testing.T) {
	busy := steps{{0, 75}}
	for at := 15.0; at < 75; at += 6 {
		busy = append(busy, step(at, 500), step(at+5, 75))
	}
	rs := []metric.Request{asked(14.5, 20, 75.5, 9, 101)}
	of := func(r rig) Measured {
		return NewCell(one("amd.gpu"), []Trial{beside(r.trace(t), rs...)}).Bases[0].Windows[Whole]
	}
	truth := busy.between(14.5, 75.5)
	never := func(float64) bool { return false }
	if m := of(onlyPower(busy, 80, never)); !held(t, "read throughout", m, truth) {
		t.Errorf("read throughout: %s", text(m.J))
	}
	one := func(t float64) bool { return t > 30 && t < 30.04 }
	if m := of(onlyPower(busy, 80, one)); !held(t, "one reading failed", m, truth) {
		t.Errorf("one reading failed: %s", text(m.J))
	}
	want(t, "fails while busy", of(onlyPower(busy, 80, func(t float64) bool { return busy.watts(t) > 100 })).J, 0, metric.SamplingGap)
	want(t, "failed for 2 s", of(onlyPower(busy, 80, func(t float64) bool { return t > 30 && t < 32 })).J, 0, metric.SamplingGap)
	limited := onlyPower(busy, 80, func(t float64) bool { return t > 30 && t < 30.4 }).state(0, trace.State{Device: "card0", LimitMW: new(int64(550_000))})
	if m := of(limited); !held(t, "a gap in which the limit bounds what was drawn", m, truth) {
		t.Errorf("a gap in which the limit bounds what was drawn: %s", text(m.J))
	}
	rnd := rand.New(rand.NewPCG(8, 4))
	quick := bursts(rnd, 80)
	want(t, "bursts of 0.2 s", of(onlyPower(quick, 80, never)).J, 0, metric.PublicationCoarse)
	slow := onlyPower(quick, 80, never)
	slow.hz = 1
	want(t, "read once a second", of(slow).J, 0, metric.PublicationCoarse)
}

// Of two causes the reason is the larger one.
func TestLargestCause(t *testing.T) {
	for _, x := range []struct {
		c    causes
		want string
	}{
		{causes{published: 847, clocks: 6}, metric.PublicationCoarse},
		{causes{published: 4, clocks: 6}, metric.ClockOffsetTooLarge},
		{causes{published: 4, gaps: 6, clocks: 5}, metric.SamplingGap},
		{causes{published: 4, gaps: 1}, metric.PublicationCoarse},
	} {
		if got := x.c.why(); got != x.want {
			t.Errorf("%+v: %s", x.c, got)
		}
	}
}

// It lags by a period of what was drawn before, not of the window's own mean.
func TestFastLagsAtEdges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 4))
	o := one("nv.gpu")
	o.Coarsest = 100
	worst := 0.0
	for range 60 {
		edge := 10 + rnd.Float64()
		r := rig{hz: 23, phase: rnd.Float64() * 0.043, seconds: 20, devices: []trace.Device{gpu("GPU-1")}}
		r = r.counts("GPU-1", trace.NVGPU, "mJ", nvmlEnergy, published(steps{{0, 700}, {edge, 100}}, 0.045, 1e-3, 7))
		m := NewCell(o, []Trial{beside(r.trace(t), asked(edge, edge+0.1, edge+2, 9, 9))}).Bases[0].Windows[Whole]
		if held(t, "after an edge", m, 200) {
			worst = max(worst, *m.J.Value/2-100)
		}
	}
	if worst < 8 {
		t.Errorf("nothing was off by more than %.2f %%", worst)
	}
}

// A power that is published once a second and read more often has no more to say. The
// bursts are not in step with it: of those that are, it says nothing at all.
func TestPowerPublishedSeldom(t *testing.T) {
	for _, cycle := range []float64{0.37, 0.41, 0.73} {
		var p steps
		for at := 0.0; at < 80; at += cycle {
			p = append(p, step(at, 650), step(at+cycle/2, 340))
		}
		r := box(23, 80, gpu("card0")).reads("card0", trace.HwmonGPU, trace.Power, "mW", "hwmon0/power1_input", func(t float64) (int64, string) {
			return int64(1000 * p.watts(math.Floor(t))), ""
		})
		m := NewCell(one("amd.gpu"), []Trial{beside(r.trace(t), asked(14.5, 20, 75.5, 9, 101))}).Bases[0].Windows[Whole]
		want(t, "published once a second", m.J, 0, metric.PublicationCoarse)
		if q := m.QuantisationPct.Value; q == nil || *q < 20 {
			t.Errorf("a cycle of %v s: %s", cycle, text(m.QuantisationPct))
		}
	}
}
