package energy

import (
	"slices"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

const display = "0000:0a:00.0"

// withDisplay adds the GPU of a CPU, which hwmon reads at a steady 15 W.
func withDisplay(r *rig) {
	r.devices = append(r.devices, gpu(display))
	*r = r.reads(display, trace.HwmonGPU, trace.Power, "uW", "amdgpu/power1_input (PPT)", constant(15_000_000))
}

// Where nobody names the GPUs, a base is of those of its own vendor.
func TestTwoVendors(t *testing.T) {
	c := NewCell(one("nv.gpu"), []Trial{good(t, withDisplay)})
	want(t, "J", c.Bases[0].Windows[Whole].J, 8000, "")
	want(t, "M6", c.Asiai.PowerWatts, 400, "")
	want(t, "limit", c.PowerLimitW, 700, "")
	if d := []string{"the GPUs that serve were not named, and " + display + " is of another vendor than the bases: it does not count"}; !slices.Equal(c.Doubts, d) {
		t.Errorf("doubts: %q", c.Doubts)
	}
	sound(t, &c)

	c = NewCell(one("nv.gpu", "amd.gpu"), []Trial{good(t, withDisplay)})
	want(t, "J", c.Bases[0].Windows[Whole].J, 8000, "")
	want(t, "J of the other", c.Bases[1].Windows[Whole].J, 300, "")
	want(t, "M6", c.Asiai.PowerWatts, 400, "")
	if d := c.Bases[1].Devices; !slices.Equal(d, []string{display}) {
		t.Error(d)
	}
	sound(t, &c)

	named := good(t, withDisplay)
	named.GPUs = []string{display}
	c = NewCell(one("amd.gpu", "nv.gpu"), []Trial{named})
	want(t, "J", c.Bases[0].Windows[Whole].J, 300, "")
	want(t, "M6 is that of the named", c.Asiai.PowerWatts, 15, "")
	want(t, "J of the other", c.Bases[1].Windows[Whole].J, 0, metric.DomainMissing)
	named.GPUs = []string{"GPU-1", display}
	c = NewCell(one("nv.gpu"), []Trial{named})
	want(t, "both named", c.Bases[0].Windows[Whole].J, 0, metric.DomainMissing)
}

// A GPU of the base's own vendor that cannot be read is still one of its GPUs, and so is
// one of which nothing is known.
func TestUnreadGPUCounts(t *testing.T) {
	for _, x := range []struct {
		what    string
		missing []trace.Missing
		reason  string
	}{
		{"its vendor's", []trace.Missing{{Device: "GPU-2", Domain: trace.NVGPU, Reason: "not-supported"}}, metric.DomainMissing},
		{"nobody's", nil, metric.DomainMissing},
		{"nobody's, looked for without a domain", []trace.Missing{{Device: "GPU-2", Reason: "nvml-error"}}, metric.DomainMissing},
		{"another's", []trace.Missing{{Device: "GPU-2", Domain: trace.HwmonGPU, Reason: "not-supported"}}, ""},
	} {
		t.Run(x.what, func(t *testing.T) {
			c := NewCell(one("nv.gpu"), []Trial{good(t, func(r *rig) {
				r.devices, r.missing = append(r.devices, gpu("GPU-2")), x.missing
			})})
			want(t, "J", c.Bases[0].Windows[Whole].J, 8000, x.reason)
			sound(t, &c)
		})
	}
}
