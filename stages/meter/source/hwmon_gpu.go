package source

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// twoDies are the PCI devices of AMD cards with two dies, each of which the system
// shows as a GPU: MI250 and MI250X. The first die's sensor is that of the whole card,
// and the second's reads 0 W or nothing.
var twoDies = []string{"0x7408", "0x740c"}

// secondDie explains a die that tells nothing.
const secondDie = "the second die of a card; the sensor of the first is that of the whole card"

// reading is a number that a GPU may have.
type reading struct {
	kind, ending, unit string
	quantity           trace.Quantity
	labels             []string // of the whole card, best first
	trust              func(int64) string
}

var readings = []reading{
	{"energy", "input", "uJ", trace.Energy, []string{"card", "pkg"}, counts(0)},
	{"power", "input", "uW", trace.Power, []string{"card", "PPT"}, positive},
	{"power", "average", "uW", trace.PowerAverage, []string{"card", "PPT"}, positive},
	{"temp", "input", "mC", trace.Temperature, []string{"junction", "pkg"}, nil},
}

// gpu makes the channels of one GPU, or says why it has none.
func (h *hwmonSource) gpu(m monitor, id string, index int) (missing []trace.Missing) {
	pair := m.driver == "amdgpu" && slices.Contains(twoDies, m.text("device/device"))
	if pair && m.silent() {
		return []trace.Missing{{Device: id, What: filepath.Base(m.dir), Reason: hardware.NotApplicable, Detail: secondDie}}
	}
	d := trace.Device{ID: id, Kind: trace.GPU, Name: gpuName(m, pair), Architecture: m.driver, Index: index}
	powers := 0
	for _, r := range readings {
		name := m.pick(r.kind, r.ending, r.labels...)
		if name == "" {
			continue
		}
		f, why := m.openCounter(filepath.Join(m.dir, name))
		if why != nil {
			why.Device, why.Domain = id, trace.HwmonGPU
			missing = append(missing, *why)
			continue
		}
		if r.kind != "temp" {
			powers++
		}
		h.device(d)
		h.add(trace.Channel{Device: id, Domain: trace.HwmonGPU, Quantity: r.quantity, Unit: r.unit, Source: m.source(name)}, f, r.trust)
	}
	if powers > 0 {
		h.cap(m, id)
	} else if len(missing) == 0 {
		missing = append(missing, trace.Missing{Device: id, Domain: trace.HwmonGPU, What: filepath.Base(m.dir), Reason: hardware.NotSupported, Detail: m.driver + " tells neither energy nor power of it"})
	}
	return missing
}

// silent reports that no sensor of power says more than 0 W.
func (m monitor) silent() bool {
	for _, ending := range []string{"input", "average"} {
		if name := m.pick("power", ending); name != "" && strings.Trim(m.text(name), "0") != "" {
			return false
		}
	}
	return true
}

// positive: a GPU that answers draws something. 0 W is what a sensor says that has
// nothing to say.
func positive(v int64) string {
	if v <= 0 {
		return hardware.Implausible
	}
	return ""
}

func gpuName(m monitor, pair bool) string {
	name := m.driver
	if v, d := m.text("device/vendor"), m.text("device/device"); hardware.Text(v) && hardware.Text(d) {
		name += " " + v + ":" + d
	}
	if pair {
		name += ", the whole card of two dies"
	}
	return name
}

// cap remembers where the power limit is.
func (h *hwmonSource) cap(m monitor, id string) {
	f, why := m.openCounter(filepath.Join(m.dir, "power1_cap"))
	if why != nil {
		f = nil
	}
	h.caps = append(h.caps, capFile{id, f})
}

// board makes the channel of an ACPI power meter: an average over an interval of
// the board's own, of whatever the board's maker wired it to. It is shown, and in no
// base.
func (h *hwmonSource) board(m monitor, id string, index int) []trace.Missing {
	name := m.pick("power", "average")
	if name == "" {
		return []trace.Missing{{Device: id, Domain: trace.HwmonBoard, What: filepath.Base(m.dir), Reason: hardware.NotSupported}}
	}
	f, why := m.openCounter(filepath.Join(m.dir, name))
	if why != nil {
		why.Device, why.Domain = id, trace.HwmonBoard
		return []trace.Missing{*why}
	}
	d := trace.Device{ID: id, Kind: trace.Machine, Index: index}
	if label := m.text("power1_oem_info"); hardware.Text(label) {
		d.Name = label // "Module Power Socket 0" and the like on Grace
	}
	h.device(d)
	h.add(trace.Channel{Device: id, Domain: trace.HwmonBoard, Quantity: trace.PowerAverage, Unit: "uW", Source: m.source(name)}, f, positive)
	return nil
}
