package evidence

import "github.com/cupel-dev/cupel/stages/trace"

// MeterDoc is what the meter beside a candidate can read. It holds nothing that
// changes from look to look, and not which devices they are: a cell of an energy
// workload is measured again when it changes.
type MeterDoc struct {
	Reads  []MeterReads `json:"reads"`            // by domain, kind and quantity
	Reason string       `json:"reason,omitempty"` // why it reads nothing, a code; "" = it does
}

// MeterReads is one thing that is read of one or more devices.
type MeterReads struct {
	Domain   trace.Domain   `json:"domain"`
	Quantity trace.Quantity `json:"quantity"`
	Kind     string         `json:"kind"`    // of the devices
	Devices  int            `json:"devices"` // how many of them
	Sources  []string       `json:"sources"` // functions, fields or files, sorted
}

// Where a cell's meter ran.
const (
	MeterLocal  = "local"  // beside cupel, on the machine that cupel runs on
	MeterRemote = "remote" // served on another machine
	MeterNone   = "none"
)

// MeterRun says how a cell of an energy workload was measured beside its meter.
type MeterRun struct {
	Meter     string    `json:"meter"`                // local | remote | none
	GPUs      []string  `json:"gpus,omitempty"`       // UUIDs of those that serve the candidate; empty = not known
	WantedNS  int64     `json:"wanted_ns"`            // that the timed part was to last at least
	PeriodNS  int64     `json:"period_ns,omitempty"`  // of the slowest energy counter, before the timed part; 0 = not known
	PilotRate *float64  `json:"pilot_rate,omitempty"` // req/s in the untimed run before it; nil = there was none
	SteadyNS  int64     `json:"steady_ns,omitempty"`  // for which a steady temperature was waited
	Unsteady  string    `json:"unsteady,omitempty"`   // why it is not known to have been steady, "" = it was, or need not be
	Idle      *WallSpan `json:"idle,omitempty"`       // in which nothing was in flight; nil = it was left out
	Failure   string    `json:"failure,omitempty"`    // why the trace is not whole, "" = it is, or there was no meter
	// Clock is what the client's system said of its wall clock, for recordings of
	// another machine that have no exchange of clocks; nil = it was not asked.
	Clock *trace.Clock `json:"clock,omitempty"`
}

// WallSpan is a stretch of the client's wall clock, ns since 1970.
type WallSpan struct {
	StartUnixNS int64 `json:"start_unix_ns"`
	EndUnixNS   int64 `json:"end_unix_ns"`
}
