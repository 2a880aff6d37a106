package main

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// question is something that NVML can be asked about a GPU: a function, or a field
// with its scope.
type question struct {
	call  string // name of the function, "" = a field
	field uint32
	scope uint32
}

func (q question) String() string {
	switch {
	case q.call != "":
		return q.call
	case q.scope != ofGPU:
		return fmt.Sprintf("field %d scope %d", q.field, q.scope)
	default:
		return fmt.Sprintf("field %d", q.field)
	}
}

// Scopes of the fields of power and energy, NVML_POWER_SCOPE_*. The prose of nvml.h
// numbers them otherwise than its macros; these are the macros'.
const (
	ofGPU    = 0
	ofModule = 1
	ofMemory = 2
)

// The functions that are asked. The number beside a field's use below is its
// NVML_FI_DEV_ constant.
var (
	totalEnergy = question{call: "nvmlDeviceGetTotalEnergyConsumption"}
	powerUsage  = question{call: "nvmlDeviceGetPowerUsage"}
	temperature = question{call: "nvmlDeviceGetTemperature"}
)

func field(id, scope uint32) question { return question{field: id, scope: scope} }

// fieldQuestions are all fields that are asked once, at the start.
var fieldQuestions = []question{
	field(186, ofGPU), field(185, ofGPU), field(191, ofGPU), field(83, ofGPU),
	field(186, ofModule), field(185, ofModule), field(191, ofModule),
	field(186, ofMemory), field(185, ofMemory), field(191, ofMemory),
	field(74, ofGPU), field(269, ofGPU), field(270, ofGPU), field(271, ofGPU),
}

// answer is the first reply to a question. why = nil: v is the value.
type answer struct {
	v   int64
	why *hardware.Reason
}

// pick is a question that is asked again and again, and what its answers are.
type pick struct {
	question
	trace.Channel
}

// choice decides which questions about one GPU become channels. It decides once:
// what fails later is a sample that failed.
type choice struct {
	device  trace.Device
	compute string // capability, such as 9.0; "" = not known
	answers map[question]answer

	picks   []pick
	missing []trace.Missing
}

// choose fills in picks and missing.
func (c *choice) choose() {
	if superchip(c.device.Name) {
		c.energyOfSuperchip()
	} else {
		c.energy()
	}
	c.power()
	c.scoped(trace.NVModule, ofModule)
	c.scoped(trace.NVMemory, ofMemory)
	c.need(trace.NVGPU, trace.PowerCapTime, "ns", field(74, ofGPU))
	c.need(trace.NVGPU, trace.ThermalTime, "ns", field(269, ofGPU))
	c.need(trace.NVGPU, trace.ThermalTime, "ns", field(270, ofGPU))
	c.need(trace.NVGPU, trace.BrakeTime, "ns", field(271, ofGPU))
	c.need(trace.NVGPU, trace.Temperature, "C", temperature)
}

// can reports whether a question was answered.
func (c *choice) can(q question) bool {
	a, asked := c.answers[q]
	return asked && a.why == nil
}

// take makes a channel of the first question that was answered.
func (c *choice) take(d trace.Domain, q trace.Quantity, unit string, of ...question) bool {
	i := slices.IndexFunc(of, c.can)
	if i < 0 {
		return false
	}
	c.picks = append(c.picks, pick{of[i], trace.Channel{Device: c.device.ID, Domain: d, Quantity: q, Unit: unit, Source: of[i].String()}})
	return true
}

// need is take, or the reason of the first question.
func (c *choice) need(d trace.Domain, q trace.Quantity, unit string, of ...question) bool {
	if c.take(d, q, unit, of...) {
		return true
	}
	c.miss(d, of[0])
	return false
}

// miss notes why a question has no answer.
func (c *choice) miss(d trace.Domain, q question) {
	why := hardware.Reason{Code: hardware.NotSaid}
	if a := c.answers[q]; a.why != nil {
		why = *a.why
	}
	c.missing = append(c.missing, trace.Missing{Device: c.device.ID, Domain: d, What: q.String(), Reason: why.Code, Detail: why.Detail})
}

// energy takes the counter of a GPU that is nothing more. The function and fields
// 191 and 83 read the same counter (nvml.h), so one of them is enough.
func (c *choice) energy() {
	c.need(trace.NVGPU, trace.Energy, "mJ", totalEnergy, field(191, ofGPU), field(83, ofGPU))
	c.take(trace.NVModule, trace.Energy, "mJ", field(191, ofModule))
}

// superchips are a GPU and a Grace processor on one module. On a GH200 the function
// counts all of the module (found by the authors of Zeus, whose tool had taken it for
// the GPU). Of GB200 and GB300 it is not known here; to call the number the GPU's
// would claim more than to call it the module's. A GB10 is no module of this kind.
var superchips = regexp.MustCompile(`\bG[HB]\d\d\d\b`)

func superchip(name string) bool { return superchips.MatchString(name) }

// energyOfSuperchip takes the module's counter, and the GPU's where the driver
// counts it apart: nvml.h gives field 191 a scope, but also says that it is the same
// as the counter of the module. So the two are compared.
func (c *choice) energyOfSuperchip() {
	gpu, module := field(191, ofGPU), field(191, ofModule)
	if !c.can(module) {
		c.need(trace.NVModule, trace.Energy, "mJ", totalEnergy, gpu, field(83, ofGPU))
		c.wholeModule()
		return
	}
	c.take(trace.NVModule, trace.Energy, "mJ", module)
	if !c.can(gpu) || !apart(c.answers[gpu].v, c.answers[module].v) {
		c.wholeModule()
		return
	}
	c.take(trace.NVGPU, trace.Energy, "mJ", gpu)
}

func (c *choice) wholeModule() {
	c.missing = append(c.missing, trace.Missing{
		Device: c.device.ID, Domain: trace.NVGPU, What: totalEnergy.String(),
		Reason: hardware.NotSupported, Detail: "the counter is that of the whole module",
	})
}

// apart reports whether a GPU's counter is another than its module's: smaller by
// more than what passes between two readings, 1 % and 1 kJ.
func apart(gpu, module int64) bool { return module-gpu > max(module/100, 1_000_000) }

// power takes fields 186 and 185. nvmlDeviceGetPowerUsage stands in for one of them
// where the field is missing, and for which depends on the GPU.
func (c *choice) power() {
	now := c.take(trace.NVGPU, trace.Power, "mW", field(186, ofGPU))
	average := c.take(trace.NVGPU, trace.PowerAverage, "mW", field(185, ofGPU))
	switch {
	case superchip(c.device.Name):
		c.answers[powerUsage] = answer{why: &hardware.Reason{Code: hardware.NotApplicable, Detail: "of the GPU or of the module: nobody says"}}
	case !now && instantaneous(c.device.Architecture, c.compute):
		now = c.take(trace.NVGPU, trace.Power, "mW", powerUsage)
	case !now && !average:
		average = c.take(trace.NVGPU, trace.PowerAverage, "mW", powerUsage)
	}
	if !now {
		c.miss(trace.NVGPU, field(186, ofGPU))
	}
	if !now && !average {
		c.miss(trace.NVGPU, powerUsage)
	}
}

// instantaneous reports whether nvmlDeviceGetPowerUsage is the power now: on GA100,
// which alone has compute capability 8.0, and on what is older than Ampere. On the
// others it is the mean of the last second (nvml.h), and what is not known is taken
// for one of them.
func instantaneous(architecture, compute string) bool {
	if architecture == "ampere" {
		return compute == "8.0"
	}
	return slices.Contains([]string{"kepler", "maxwell", "pascal", "volta", "turing"}, architecture)
}

// scoped takes the power of a wider or narrower scope, and the memory's energy.
func (c *choice) scoped(d trace.Domain, scope uint32) {
	c.take(d, trace.Power, "mW", field(186, scope))
	c.take(d, trace.PowerAverage, "mW", field(185, scope))
	if scope == ofMemory {
		c.take(d, trace.Energy, "mJ", field(191, scope))
	}
	if !slices.ContainsFunc(c.picks, func(p pick) bool { return p.Domain == d }) {
		c.miss(d, field(186, scope))
	}
}
