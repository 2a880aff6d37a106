//go:build cgo

package main

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/source"
)

// gpus is NVML as a source.
type gpus struct {
	l    *library
	d    source.Description
	gpus []*gpu
}

func (g *gpus) Describe() source.Description { return g.d }

// Read asks every GPU for its counter, for all its fields in one call, and for its
// temperature. It costs three calls of NVML a GPU, and no look at a symbol.
func (g *gpus) Read(put source.Put) {
	for _, m := range g.gpus {
		m.read(put)
	}
}

// Close lets go of NVML.
func (g *gpus) Close() error {
	g.l.end()
	return nil
}

// gpu is one that is read.
type gpu struct {
	id    string
	index int
	dev   nvml.Device
	lost  hardware.Reason // why there is no dev

	calls  []call
	fields []nvml.FieldValue
	of     []pick // what the fields are
	at     []int  // their channels
}

// call is a function that answers with one number.
type call struct {
	f    func(nvml.Device) (uint64, nvml.Return)
	unit string
	at   int // channel
}

// reads prepares what is read, in channels from first on.
func (m *gpu) reads(l *library, first int, picks []pick) {
	for i, p := range picks {
		if p.call != "" {
			m.calls = append(m.calls, call{l.function(p.question), p.Unit, first + i})
			continue
		}
		m.fields = append(m.fields, nvml.FieldValue{FieldId: p.field, ScopeId: p.scope})
		m.of = append(m.of, p)
		m.at = append(m.at, first+i)
	}
}

func (m *gpu) read(put source.Put) {
	for _, c := range m.calls {
		c.read(m.dev, put)
	}
	m.readFields(put)
}

func (c call) read(dev nvml.Device, put source.Put) {
	n, ret := c.f(dev)
	v, code := within(c.unit, n, ret)
	put(c.at, v, code)
}

// readFields asks for all fields at once. Every entry has a return code of its own,
// and what the driver left untouched says so.
func (m *gpu) readFields(put source.Put) {
	if len(m.fields) == 0 {
		return
	}
	ret := fieldValues(m.dev, m.fields)
	for i := range m.fields {
		v, why := valueOf(&m.fields[i], ret, m.of[i].Unit)
		code := ""
		if why != nil {
			code = why.Code
		}
		put(m.at[i], v, code)
	}
}

// fieldValues asks for fields. Their return codes are set before to an error, so
// that an entry that the driver skips is not taken for a 0.
func fieldValues(dev nvml.Device, fields []nvml.FieldValue) nvml.Return {
	for i := range fields {
		fields[i].NvmlReturn, fields[i].ValueType = uint32(nvml.ERROR_UNKNOWN), ^uint32(0)
	}
	return dev.GetFieldValues(fields)
}

// valueOf reads one entry of a call that returned ret.
func valueOf(f *nvml.FieldValue, ret nvml.Return, unit string) (int64, *hardware.Reason) {
	if ret == nvml.SUCCESS {
		ret = nvml.Return(int32(f.NvmlReturn))
	}
	if ret != nvml.SUCCESS {
		why := reasonOf(ret)
		return 0, &why
	}
	v, code := decode(f.ValueType, f.Value)
	if code == "" && v > bounds[unit] {
		code = hardware.Implausible
	}
	if code != "" {
		return 0, &hardware.Reason{Code: code}
	}
	return v, nil
}

// within is a number that a function returned, or a reason code.
func within(unit string, n uint64, ret nvml.Return) (v int64, code string) {
	if ret != nvml.SUCCESS {
		return 0, codeOf(ret)
	}
	if v, code = counted(n); code == "" && v > bounds[unit] {
		return 0, hardware.Implausible
	}
	return v, code
}

// function is what answers a question that is no field.
func (l *library) function(q question) func(nvml.Device) (uint64, nvml.Return) {
	switch q {
	case totalEnergy:
		return nvml.Device.GetTotalEnergyConsumption
	case powerUsage:
		return func(d nvml.Device) (uint64, nvml.Return) {
			mw, ret := d.GetPowerUsage()
			return uint64(mw), ret
		}
	case temperature:
		return func(d nvml.Device) (uint64, nvml.Return) {
			c, ret := d.GetTemperature(nvml.TEMPERATURE_GPU)
			return uint64(c), ret
		}
	default:
		return func(nvml.Device) (uint64, nvml.Return) { return 0, nvml.ERROR_FUNCTION_NOT_FOUND }
	}
}

// answers asks a GPU every question once.
func (l *library) answers(dev nvml.Device) map[question]answer {
	out := map[question]answer{}
	for q, unit := range map[question]string{totalEnergy: "mJ", powerUsage: "mW", temperature: "C"} {
		out[q] = l.first(dev, q, unit)
	}
	if !l.has("nvmlDeviceGetFieldValues") {
		for _, q := range fieldQuestions {
			out[q] = answer{why: &hardware.Reason{Code: hardware.MissingSymbol, Detail: "nvmlDeviceGetFieldValues"}}
		}
		return out
	}
	fields := make([]nvml.FieldValue, len(fieldQuestions))
	for i, q := range fieldQuestions {
		fields[i] = nvml.FieldValue{FieldId: q.field, ScopeId: q.scope}
	}
	ret := fieldValues(dev, fields)
	for i, q := range fieldQuestions {
		r := ret
		if ret == nvml.ERROR_INVALID_ARGUMENT { // a field that this driver does not know spoils the others
			r = fieldValues(dev, fields[i:i+1])
		}
		v, why := valueOf(&fields[i], r, unitOf(q))
		if unknown := nvml.Return(int32(fields[i].NvmlReturn)); why != nil && (r == nvml.ERROR_INVALID_ARGUMENT || unknown == nvml.ERROR_INVALID_ARGUMENT) {
			why.Code = hardware.NotSupported // the driver does not know this field, or this scope of it
		}
		out[q] = answer{v, why}
	}
	return out
}

// unitOf is the unit of a field.
func unitOf(q question) string {
	switch q.field {
	case nvml.FI_DEV_POWER_INSTANT, nvml.FI_DEV_POWER_AVERAGE:
		return "mW"
	case nvml.FI_DEV_ENERGY, nvml.FI_DEV_TOTAL_ENERGY_CONSUMPTION:
		return "mJ"
	default:
		return "ns"
	}
}

// first asks a function for the first time.
func (l *library) first(dev nvml.Device, q question, unit string) answer {
	if !l.has(q.call) {
		return answer{why: &hardware.Reason{Code: hardware.MissingSymbol, Detail: q.call}}
	}
	n, ret := l.function(q)(dev)
	if ret != nvml.SUCCESS {
		why := reasonOf(ret)
		return answer{why: &why}
	}
	v, code := within(unit, n, ret)
	if code != "" {
		return answer{why: &hardware.Reason{Code: code, Detail: fmt.Sprint(n)}}
	}
	return answer{v: v}
}
