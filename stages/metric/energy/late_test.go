package energy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cupel-dev/cupel/stages/trace"
)

// late leaves looks out, so that some gaps are between one period and two.
func late(rnd *rand.Rand, samples []trace.Sample, every float64, gap int64) []trace.Sample {
	var out []trace.Sample
	until := int64(0)
	for _, s := range samples {
		if s.T < until {
			continue
		}
		if out = append(out, s); rnd.Float64() < every {
			until = s.T + gap
		}
	}
	return out
}

// A look that comes after two publications sees the second one: of a power that stays
// the same every window is exact, wherever its ends are.
func TestLateLooks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 4))
	for _, x := range []struct{ period, gap, every float64 }{{0.1, 0.11, 0.05}, {0.1, 0.15, 0.05}, {0.1, 0.19, 0.1}, {1, 1.6, 0.005}, {2.1, 3.9, 0.002}} {
		for range 10 {
			samples := late(rnd, sampled(rnd, flat(500), x.period, 23, 40+40*x.period), x.every, int64(x.gap*1e9))
			c := counterCurve(samples, trace.Channel{Domain: trace.NVGPU, Unit: "mJ"}, 3000, nil)
			if off := math.Abs(float64(c.period)/1e9/x.period - 1); off > 0.003 {
				t.Errorf("a period of %v s is %v ns", x.period, c.period)
			}
			for range 50 {
				from := 3*x.period + rnd.Float64()*20
				w := span{int64(from * 1e9), int64((from + 10*x.period) * 1e9)}
				if j := c.joules(w); j.why != "" || math.Abs(j.v/(500*seconds(w.ns()))-1) > 0.004 {
					t.Fatalf("%+v: %v is %+v", x, w, j)
				}
			}
		}
	}
}

// Where the power moves, what a late look leaves open is in the bound.
func TestLateLooksBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 4))
	worst := 0.0
	for range 60 {
		p := bursts(rnd, 40)
		samples := late(rnd, sampled(rnd, p, 0.1, 23, 40), 0.1, int64((0.1+0.1*rnd.Float64())*1e9))
		c := counterCurve(samples, trace.Channel{Domain: trace.NVGPU, Unit: "mJ"}, 3000, nil)
		for range 60 {
			from := 1 + rnd.Float64()*30
			to := from + 1 + rnd.Float64()
			w := span{int64(from * 1e9), int64(to * 1e9)}
			off := 100 * math.Abs(c.joules(w).v/p.between(from, to)-1)
			if worst = max(worst, off); !(off <= stated(c, w)) {
				t.Errorf("off by %.2f %%, %.2f %% is stated", off, stated(c, w))
			}
		}
	}
	if worst < 1.5 {
		t.Errorf("nothing was off by more than %.2f %%", worst)
	}
}
