package artifact

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
)

func TestRanOn(t *testing.T) {
	h200 := hardware.Class{Count: 2, Name: "NVIDIA H200", PowerLimitMW: 700000}
	slice := hardware.Class{Count: 1, Name: "NVIDIA H200", PowerLimitMW: 600000, MIG: "1g.18gb"}
	for name, c := range map[string]struct {
		id          *hardware.Identity
		gpu         string
		gpus, limit float64
	}{
		"one class":   {&hardware.Identity{GPUs: []hardware.Class{h200}, Driver: "570.1"}, "NVIDIA H200", 2, 700},
		"two classes": {&hardware.Identity{GPUs: []hardware.Class{h200, slice}, Driver: "570.1"}, "2 x NVIDIA H200 + 1 x NVIDIA H200 MIG 1g.18gb", 3, 0},
		"no GPU":      {&hardware.Identity{CPU: "x"}, "", 0, 0},
		"unknown":     {nil, "", 0, 0},
	} {
		r := new(Record)
		r.ranOn(&evidence.PinDoc{Hardware: c.id})
		h := r.Hardware
		if c.gpu == "" {
			if h.GPU.Value != nil || h.GPUs.Value != nil || h.Driver.Value != nil {
				t.Errorf("%s: %+v", name, h)
			}
			continue
		}
		if *h.GPU.Value != c.gpu || *h.GPUs.Value != c.gpus || *h.Driver.Value != "570.1" || (h.PowerLimitW.Value == nil) != (c.limit == 0) || c.limit != 0 && *h.PowerLimitW.Value != c.limit {
			t.Errorf("%s: %+v", name, h)
		}
	}
}
