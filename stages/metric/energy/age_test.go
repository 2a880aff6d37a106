package energy

import (
	"math"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// A driver that says when it wrote makes an uneven counter exact: ticks that come 1.9
// and 2.3 s apart in turn, looked at twice a second.
func TestAge(t *testing.T) {
	last := func(at float64) float64 {
		k := math.Floor(at / 4.2)
		if rest := at - 4.2*k; rest >= 1.9 {
			return 4.2*k + 1.9
		}
		return 4.2 * k
	}
	p := steps{{0, 10}, {29.4 + 1.9, 60}}
	r := box(2, 160, trace.Device{ID: "soc", Kind: trace.Machine})
	r = r.counts("soc", trace.AppleGPU, "mJ", "Energy Model/GPU", func(at float64) (int64, string) {
		return int64(math.Round(p.joules(last(at)) * 1000)), ""
	})
	plain := r
	r = r.reads("soc", trace.AppleGPU, trace.Age, "ns", "Energy Model/GPU", func(at float64) (int64, string) {
		return int64(math.Round((at - last(at)) * 1e9)), ""
	})
	of := func(r rig) metric.Value {
		c := NewCell(one("apple.gpu"), []Trial{beside(r.trace(t), asked(31.3, 33, 131.3, 9, 101))})
		sound(t, &c)
		return c.Bases[0].Windows[Whole].J
	}
	want(t, "dated", of(r), 6000, "")
	if v := of(plain); v.Value == nil || math.Abs(*v.Value-6000) > 15 || math.Abs(*v.Value-6000) < 1e-6 {
		t.Errorf("without dates: %s", text(v))
	}
}
