package energy

import (
	"slices"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// rising goes on from a to b, in s, by a share of the time, and is 0 again from reset on.
func rising(a, b, share, reset float64) func(float64) (int64, string) {
	return func(t float64) (int64, string) {
		if t >= reset {
			return 0, ""
		}
		return int64(1e9 * share * max(0, min(t, b)-a)), ""
	}
}

func timing(q trace.Quantity, source string, at func(float64) (int64, string)) func(*rig) {
	return func(r *rig) { *r = r.reads("GPU-1", trace.NVGPU, q, "ns", source, at) }
}

// The cell is from 17 s to 37 s.
func TestThrottleCounters(t *testing.T) {
	heatAt := func(at func(float64) (int64, string)) func(*rig) { return func(r *rig) { r.charts[2].at = at } }
	capAt := func(at func(float64) (int64, string)) func(*rig) { return func(r *rig) { r.charts[3].at = at } }
	thermal := func(c *Cell) metric.Value { return c.ThermalShare }
	capped := func(c *Cell) metric.Value { return c.PowerCapShare }
	const fellHot = "a counter of the time for which clocks were held down for heat or by the power brake fell during the cell: it was at least "
	const fellCap = "a counter of the time for which clocks were held down by the power cap fell during the cell: it was at least "
	for _, x := range []struct {
		what   string
		change []func(*rig)
		of     func(*Cell) metric.Value
		want   float64
		reason string // of the share
		j      string // reason of the cell's J
		doubt  string
	}{
		{"14 s of heat and a reset", []func(*rig){heatAt(rising(18, 32, 1, 33))}, thermal, 0, metric.CounterBackwards, metric.Thermal, fellHot + "70 % of the cell"},
		{"no heat and a fall", []func(*rig){heatAt(func(t float64) (int64, string) { return int64(5e9 - 5e9*min(1, max(0, t-30))), "" })}, thermal, 0, metric.CounterBackwards, metric.CounterBackwards, fellHot + "0 % of the cell"},
		{"a fall before the cell", []func(*rig){heatAt(rising(1, 1.5, 1, 15))}, thermal, 0, "", "", ""},
		{"15 s of cap and a reset", []func(*rig){capAt(rising(18, 33, 1, 34))}, capped, 0, metric.CounterBackwards, "", fellCap + "75 % of the cell"},
		{"a cap, and no fall", []func(*rig){capAt(rising(18, 33, 1, 99))}, capped, 0.75, "", "", ""},
		{"software and hardware at once", []func(*rig){heatAt(rising(0, 99, 0.7, 99)), timing(trace.ThermalTime, "field 270", rising(0, 99, 0.7, 99))}, thermal, 1, "", metric.Thermal, ""},
		{"each by less than is allowed", []func(*rig){heatAt(rising(0, 99, 0.003, 99)), timing(trace.ThermalTime, "field 270", rising(0, 99, 0.003, 99))}, thermal, 0.006, "", metric.Thermal, ""},
		{"together by less than is allowed", []func(*rig){heatAt(rising(0, 99, 0.002, 99)), timing(trace.BrakeTime, "field 271", rising(0, 99, 0.002, 99))}, thermal, 0.004, "", "", ""},
	} {
		t.Run(x.what, func(t *testing.T) {
			c := NewCell(one("nv.gpu"), []Trial{good(t, x.change...)})
			want(t, "share", x.of(&c), x.want, x.reason)
			want(t, "J", c.Bases[0].Windows[Whole].J, 8000, x.j)
			if x.doubt == "" && c.Doubts != nil || x.doubt != "" && !slices.Contains(c.Doubts, x.doubt) {
				t.Errorf("doubts: %q, want %q", c.Doubts, x.doubt)
			}
			sound(t, &c)
		})
	}
}

// Of two GPUs one says how long it was slowed down: nobody knows of the other.
func TestHeatOfOneOfTwo(t *testing.T) {
	tl := good(t, func(r *rig) {
		r.devices = append(r.devices, gpu("GPU-2"))
		*r = r.counts("GPU-2", trace.NVGPU, "mJ", nvmlEnergy, published(loaded, 0.1, 1e-3, 0)).
			state(0, trace.State{Device: "GPU-2", MIG: new(false), Processes: new(1), PIDs: []int{8}, LimitMW: new(int64(700_000)), Driver: "575.1"})
	})
	c := NewCell(one("nv.gpu"), []Trial{tl})
	want(t, "J", c.Bases[0].Windows[Whole].J, 16_000, "")
	if d := []string{"whether GPU-2 was slowed down by heat could not be read"}; !slices.Equal(c.Doubts, d) {
		t.Errorf("doubts: %q", c.Doubts)
	}
}
