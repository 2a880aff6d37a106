package convert

import (
	"cmp"
	"io"
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/parse"
	"github.com/cupel-dev/cupel/stages/trace"
)

// stored is the unit that a value of another is kept in, and the power of ten to it:
// whole numbers are stored, and 3.5 W are 3,500,000 uW.
var stored = map[string]struct {
	unit  string
	scale int
}{
	"J": {"uJ", 6}, "mJ": {"uJ", 3}, "uJ": {"uJ", 0}, "nJ": {"nJ", 0},
	"W": {"uW", 6}, "mW": {"uW", 3}, "uW": {"uW", 0},
	"s": {"ns", 9}, "ns": {"ns", 0}, "C": {"mC", 3}, "mC": {"mC", 0},
	"1": {"milli", 3}, "milli": {"milli", 0}, "percent": {"percent", 0},
}

// kindOf is the kind of device that has a domain.
func kindOf(d trace.Domain) string {
	switch {
	case strings.HasPrefix(string(d), "nvml."), d == trace.HwmonGPU:
		return trace.GPU
	case d == trace.RAPLPackage, d == trace.RAPLDRAM:
		return trace.CPU
	}
	return trace.Machine
}

// domains and quantities are those that a table may name.
var (
	domains = []trace.Domain{trace.NVGPU, trace.NVModule, trace.NVMemory, trace.RAPLPackage, trace.RAPLDRAM, trace.RAPLPsys, trace.HwmonGPU, trace.HwmonBoard,
		trace.Wall, trace.AppleGPU, trace.AppleCPU, trace.AppleANE, trace.AppleDRAM, trace.AppleDCS, trace.System}
	quantities = []trace.Quantity{trace.Energy, trace.Power, trace.PowerAverage, trace.Temperature, trace.ThermalTime, trace.BrakeTime, trace.PowerCapTime, trace.Load1, trace.SpeedLimit}
)

// Table reads CSV with the columns time, device, domain, quantity, unit and value,
// one reading a row, and range if the counters wrap. An empty value, or a reason code
// in its place, is a reading that failed.
func Table(r io.Reader, o Options) (*Recording, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	var at [6]int
	for i, name := range []string{"time", "device", "domain", "quantity", "unit", "value"} {
		if at[i] = t.column(name); at[i] < 0 {
			return nil, fail(t.n, "the column %s is not there: want time,device,domain,quantity,unit,value", name)
		}
	}
	out := newRecording(o, "a table")
	top := t.column("range")
	err = t.each(func(row []string) error {
		x := tableRow{time: row[at[0]], device: row[at[1]], domain: row[at[2]], quantity: row[at[3]], unit: row[at[4]], value: parse.Point(row[at[5]], t.comma)}
		if top >= 0 {
			x.top = row[top]
		}
		return out.row(x, o, t.n)
	})
	if err != nil {
		return nil, err
	}
	return out.done()
}

// tableRow is one reading as it is written.
type tableRow struct{ time, device, domain, quantity, unit, value, top string }

func (r *Recording) row(x tableRow, o Options, line int) error {
	at, err := moment(x.time, o, line)
	if err != nil {
		return err
	}
	c, scale, err := x.channel()
	if err != nil {
		return fail(line, "%v", err)
	}
	if err := r.device(trace.Device{ID: c.Device, Kind: kindOf(c.Domain)}); err != nil {
		return fail(line, "%v", err)
	}
	v, code, err := x.reading(c.Quantity, scale)
	if err == nil {
		err = r.put(c, at, v, code)
	}
	if err != nil {
		return fail(line, "%v", err)
	}
	return nil
}

func (x tableRow) channel() (c trace.Channel, scale int, err error) {
	c = trace.Channel{Device: x.device, Domain: trace.Domain(x.domain), Quantity: trace.Quantity(x.quantity), Source: "csv"}
	unit, known := stored[x.unit]
	switch {
	case !word(x.device):
		return c, 0, problem("%q is no name of a device", x.device)
	case !isOneOf(domains, c.Domain):
		return c, 0, problem("%q is no domain", x.domain)
	case !isOneOf(quantities, c.Quantity):
		return c, 0, problem("%q is no quantity", x.quantity)
	case !known || !fits(c.Quantity, x.unit):
		return c, 0, problem("%q is no unit of "+x.quantity, x.unit)
	}
	c.Unit = unit.unit
	if x.top != "" {
		if c.Range, err = parse.Decimal(x.top, unit.scale); err != nil || c.Range <= 0 {
			return c, 0, problem("%q is no range", x.top)
		}
	}
	return c, unit.scale, nil
}

// reading is the value in the stored unit, or why there is none.
func (x tableRow) reading(q trace.Quantity, scale int) (v int64, code string, err error) {
	if x.value == "" || isCode(x.value) {
		return 0, cmp.Or(x.value, hardware.NotSaid), nil
	}
	v, err = parse.Decimal(x.value, scale)
	if err != nil || v < 0 && q != trace.Temperature {
		return 0, "", problem("%q is no "+string(q), x.value)
	}
	return v, "", nil
}
