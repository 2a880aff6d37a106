// Package trace is the recording that a meter makes of what its counters said and
// when: its form, a strict reader and a writer. Joules and watts are not in it; they
// are derived from it, in stages/metric/energy, as often as anybody likes.
//
// A trace is JSON lines: a header, then what happened in the order in which it was
// noted, then an end. docs/meter.md describes it for other programs.
package trace

// Schema names the form and its version.
const Schema = "cupel/energy-trace/v1"

// Header is the first line.
type Header struct {
	Schema   string    `json:"schema"`
	Meter    string    `json:"meter"`             // what made the trace, and its version
	Made     string    `json:"made"`              // sample | import
	Hz       float64   `json:"hz"`                // looks a second that were intended; 0 = not known
	WallNS   int64     `json:"wall_ns"`           // wall clock at t = 0, ns since 1970
	Clock    Clock     `json:"clock"`             // how far that wall clock can be trusted
	System   string    `json:"system,omitempty"`  // linux/amd64
	Driver   string    `json:"driver,omitempty"`  // of the GPUs
	Devices  []Device  `json:"devices"`           // what was read
	Channels []Channel `json:"channels"`          // of them; a sample names one by its position here
	Missing  []Missing `json:"missing,omitempty"` // what was looked for and cannot be read
	None     *Missing  `json:"none,omitempty"`    // why there is no trace at all: then nothing follows
}

// Clock is what the system says of its wall clock.
type Clock struct {
	Synchronised bool  `json:"synchronised"`      // kept by NTP, PTP or the like
	ErrorNS      int64 `json:"error_ns,omitzero"` // at most so far off, 0 = not known
}

// Device is one thing that is measured.
type Device struct {
	ID           string `json:"id"`   // UUID of a GPU; package-0, wall, soc of others. Unique
	Kind         string `json:"kind"` // gpu | cpu | machine
	Name         string `json:"name,omitempty"`
	Architecture string `json:"architecture,omitempty"`
	Index        int    `json:"index"` // of its kind, as the system counts
}

// Kinds of devices.
const (
	GPU     = "gpu"
	CPU     = "cpu"
	Machine = "machine"
)

// Channel is one number of one device that is read again and again.
type Channel struct {
	Device   string   `json:"device"`         // its ID
	Domain   Domain   `json:"domain"`         // what part of the device the number is about
	Quantity Quantity `json:"quantity"`       // what the number is
	Unit     string   `json:"unit"`           // see Units
	Source   string   `json:"source"`         // the function, field or file: nvmlDeviceGetTotalEnergyConsumption, field 186, intel-rapl:0/energy_uj
	Range    int64    `json:"range,omitzero"` // a counter goes on at 0 after this value; 0 = not known
}

// Counts reports whether the channel is of energy or power.
func (c Channel) Counts() bool {
	return c.Quantity == Energy || c.Quantity == Power || c.Quantity == PowerAverage
}

// Domain is a part of a machine whose energy is counted.
type Domain string

// The domains. A module (GH200) is GPU, CPU and memory together; memory is inside
// the GPU's own number already.
const (
	NVGPU       Domain = "nvml.gpu"
	NVModule    Domain = "nvml.module"
	NVMemory    Domain = "nvml.memory"
	RAPLPackage Domain = "rapl.package"
	RAPLDRAM    Domain = "rapl.dram"
	RAPLPsys    Domain = "rapl.psys"
	HwmonGPU    Domain = "hwmon.gpu"
	HwmonBoard  Domain = "hwmon.board" // a board's own power meter: shown, in no base
	Wall        Domain = "wall"
	AppleGPU    Domain = "apple.gpu"
	AppleCPU    Domain = "apple.cpu"
	AppleANE    Domain = "apple.ane"
	AppleDRAM   Domain = "apple.dram"
	AppleDCS    Domain = "apple.dcs"
	System      Domain = "system" // the machine's load: not energy
)

// Quantity is what a channel's number is.
type Quantity string

// The quantities. The three times are monotone counters of a driver: how long its
// clocks were held down for that reason.
const (
	Energy       Quantity = "energy"        // cumulative
	Power        Quantity = "power"         // now
	PowerAverage Quantity = "power-average" // over the last second
	Temperature  Quantity = "temperature"
	ThermalTime  Quantity = "thermal-time"   // software and hardware thermal slowdown: several channels add up
	BrakeTime    Quantity = "brake-time"     // hardware power brake
	PowerCapTime Quantity = "power-cap-time" // software power cap
	Load1        Quantity = "load1"          // load average of one minute
	Age          Quantity = "age"            // ns since the driver last wrote the counter of the same device and domain (IOReport)
	SpeedLimit   Quantity = "speed-limit"    // percent of full speed that the system allows (macOS); below 100 is throttled
)

// Units of channels, and what one is in J, W, s, °C, or 1.
var Units = map[string]float64{
	"J": 1, "mJ": 1e-3, "uJ": 1e-6, "nJ": 1e-9,
	"W": 1, "mW": 1e-3, "uW": 1e-6,
	"s": 1, "ns": 1e-9,
	"C": 1, "mC": 1e-3,
	"1": 1, "milli": 1e-3, "percent": 1e-2,
}

// Missing is something that cannot be read, with the reason code of
// stages/hardware or of stages/metric/energy.
type Missing struct {
	Device string `json:"device,omitempty"`
	Domain Domain `json:"domain,omitempty"`
	What   string `json:"what,omitempty"` // the function or file
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Line is any line after the header. T is ns since the header's moment on a
// monotonic clock; exactly one of the others is there.
type Line struct {
	T       int64   `json:"t"`
	Channel *int    `json:"c,omitempty"` // a sample, with V or E
	V       *int64  `json:"v,omitempty"` // in the channel's unit
	E       string  `json:"e,omitempty"` // reason code: it could not be read this time
	State   *State  `json:"state,omitempty"`
	Sync    *int64  `json:"sync,omitempty"`   // wall clock at T, ns since 1970
	Offset  *Offset `json:"offset,omitempty"` // noted by who fetched the trace from another machine
	End     *End    `json:"end,omitempty"`    // the last line
}

// State is what a device is like: written at the start, whenever it changes, and
// at the end.
type State struct {
	Device    string   `json:"device"`
	PIDs      []int    `json:"pids,omitempty"`      // processes that compute on it, ascending
	Processes *int     `json:"processes,omitempty"` // how many; nil = cannot be read
	MIG       *bool    `json:"mig,omitempty"`       // nil = cannot be read, or it has none
	LimitMW   *int64   `json:"limit_mw,omitempty"`  // enforced power limit
	Driver    string   `json:"driver,omitempty"`    // version
	Unknown   []Unread `json:"unknown,omitempty"`   // fields that could not be read
}

// Unread is one field of a State that could not be read.
type Unread struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// Offset is one exchange of clocks with the machine that is measured, in ns since
// 1970: sent and received by this machine's wall clock, there by that one's.
type Offset struct {
	Sent     int64 `json:"sent"`
	There    int64 `json:"there"`
	Received int64 `json:"received"`
}

// End says that the recording ended as it should.
type End struct {
	Why    string `json:"why"`              // asked | duration | input-ended | full
	Late   int    `json:"late,omitzero"`    // looks that came more than half a period late, or not at all
	MaxGap int64  `json:"max_gap,omitzero"` // ns, the longest between two looks
}

// Why a recording ended.
const (
	Asked      = "asked"
	Duration   = "duration"
	InputEnded = "input-ended"
	Full       = "full" // it has as many samples as are read
)

// Sample is one reading of a channel.
type Sample struct {
	T int64
	V int64
	E string // reason code, "" = V was read
}

// Trace is a whole recording.
type Trace struct {
	Header
	Samples [][]Sample // by channel, in order of time
	States  []Noted[State]
	Syncs   []Noted[int64]
	Offsets []Noted[Offset]
	End     *End  // nil: the recording was cut
	LastT   int64 // of any line
}

// Noted is something with its time.
type Noted[X any] struct {
	T int64
	V X
}
