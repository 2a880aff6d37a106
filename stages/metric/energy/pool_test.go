package energy

import (
	"math"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// otherIdle is a machine whose idle power is another one; loaded it draws as much.
func otherIdle(w float64) func(*rig) {
	return counting(published(steps{{0, w}, {15, 400}}, 0.1, 1e-3, 5_000_000))
}

// Trials that must not be pooled have no number of asiai's either: two bases are never
// medianised together.
func TestAsiaiIsNotPooled(t *testing.T) {
	for _, x := range []struct {
		what   string
		change func(*rig)
		reason string
	}{
		{"another source", func(r *rig) { r.charts[0].Source = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" }, metric.BasesDiffer},
		{"power in place of the counter", func(r *rig) {
			r.charts[0].Quantity, r.charts[0].Unit, r.charts[0].Source = trace.Power, "mW", "field 186"
			r.charts[0].at = func(t float64) (int64, string) { return int64(1000 * loaded.watts(t)), "" }
		}, metric.BasesDiffer},
		{"another limit", noting(0.1, trace.State{LimitMW: new(int64(500_000))}), metric.PowerLimitChanged},
		{"another driver", noting(0.1, trace.State{Driver: "580", LimitMW: new(int64(700_000))}), metric.DriverChanged},
	} {
		t.Run(x.what, func(t *testing.T) {
			c := NewCell(one("nv.gpu"), []Trial{good(t), good(t), good(t, x.change)})
			for name, v := range map[string]metric.Value{
				"M6": c.Asiai.PowerWatts, "M7": c.Asiai.TokPerSecPerWatt, "M9": c.Asiai.SoCWatts, "M10": c.Asiai.EnergyPerToken,
				"M11": c.Asiai.IdleSoCWatts, "active": c.Asiai.ActivePerToken, "J": c.Bases[0].Windows[Whole].J,
				"idle": c.Bases[0].LoadedIdleW, "spread of idle": c.IdleCV,
			} {
				want(t, name, v, 0, x.reason)
			}
			want(t, "M6 of the third", c.PerTrial[2].Asiai.PowerWatts, 400, "")
			want(t, "M9 of the third", c.PerTrial[2].Asiai.SoCWatts, 400, "")
			sound(t, &c)
		})
	}
}

// A driver that only one trial knows is no difference.
func TestDriverUnknown(t *testing.T) {
	unknown := good(t, func(r *rig) { r.states[0].V.Driver = "" })
	c := NewCell(one("nv.gpu"), []Trial{unknown, good(t), unknown})
	want(t, "J", c.Bases[0].Windows[Whole].J, 24_000, "")
	c = NewCell(one("nv.gpu"), []Trial{unknown, good(t), good(t, noting(0.1, trace.State{Driver: "580", LimitMW: new(int64(700_000))}))})
	want(t, "J", c.Bases[0].Windows[Whole].J, 0, metric.DriverChanged)
}

// The idle machine's spread is that of all trials: two that are each as steady as can
// be and far apart were not both idle.
func TestIdleOverTrials(t *testing.T) {
	c := NewCell(one("nv.gpu"), []Trial{good(t, otherIdle(75)), good(t, otherIdle(260))})
	want(t, "idle", c.Bases[0].LoadedIdleW, 0, metric.IdleCV)
	want(t, "M11", c.Asiai.IdleSoCWatts, 0, metric.IdleCV)
	want(t, "active", c.Asiai.ActivePerToken, 0, metric.IdleCV)
	want(t, "net", c.Bases[0].Windows[Whole].NetJ, 0, metric.IdleCV)
	want(t, "gross", c.Bases[0].Windows[Whole].J, 16_000, "")
	want(t, "M9", c.Asiai.SoCWatts, 400, "")
	want(t, "one of them", c.PerTrial[0].Bases[0].LoadedIdleW, 75, "")
	// 12 samples each: the deviation is 92.5 x sqrt(24/23) of 167.5.
	want(t, "spread", c.IdleCV, 100*92.5*math.Sqrt(24.0/23)/167.5, "")
	sound(t, &c)

	c = NewCell(one("nv.gpu"), []Trial{good(t, otherIdle(96)), good(t, otherIdle(104))})
	want(t, "near one another", c.Bases[0].LoadedIdleW, 100, "")
	want(t, "M11 of all samples", c.Asiai.IdleSoCWatts, 100, "")
	want(t, "net, trial by trial", c.Bases[0].Windows[Whole].NetJ, 20*(304+296), "")
	want(t, "spread", c.IdleCV, 100*4*math.Sqrt(24.0/23)/100, "")
	sound(t, &c)
}
