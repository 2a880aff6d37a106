// Package energy derives joules and watts from the recordings of meters: every
// formula of energy, once. It is pure. docs/energy.md has the rules.
package energy

import (
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Window names a stretch of time whose energy is asked for.
type Window string

// The windows. Those of single requests exist only where requests do not overlap,
// at concurrency 1: nobody can tell whose joule it was otherwise. They are added up
// over the requests.
const (
	Request Window = "request" // t0 to tend; asiai's turn
	Prefill Window = "prefill" // t0 to tfo
	Decode  Window = "decode"  // tfo to tend
	Steady  Window = "steady"  // every stream busy
	Whole   Window = "cell"    // the timed part of the cell, from the first dispatch to the last end
)

// Windows in order.
var Windows = []Window{Request, Prefill, Decode, Steady, Whole}

// DefaultCoarsest is the quantisation in percent above which there is no value.
const DefaultCoarsest = 5.0

// Options say what is asked of a cell's traces.
type Options struct {
	Name      string   // of the cell
	Streams   int      // concurrency; 0 = open loop
	Bases     []string // see [Bases]; the first is the one that asiai's names take
	Coarsest  float64  // percent of quantisation above which there is no value; 0 = [DefaultCoarsest]
	Processes int      // compute processes that a GPU may have; 0 = 1
	KWh       *float64 // price of a kilowatt-hour, nil = none
	Currency  string
	Protocol  metric.Protocol

	// Shared: requests of other cells took turns with these, so that only what single
	// requests took is this cell's own.
	Shared bool
}

// Trial is one run of a cell with the trace beside it.
type Trial struct {
	Trace *trace.Trace // nil = there is none: None says why
	None  string       // reason code, such as no-meter

	Requests        []metric.Request
	Planned, Unsent int   // as in metric.Trial
	StartUnixNS     int64 // wall clock of the zero of Request.Dispatched, on this machine
	WallNS          int64
	Local           bool        // the trace was made by this machine's own clock
	Clock           trace.Clock // what this machine says of its own; for a trace of another one without Offsets
	Idle            *Span       // when nothing was in flight and the model was loaded, settling outside; nil = it was not waited for
	GPUs            []string    // UUIDs that serve the candidate, nil = all of the trace
}

// Span is a stretch of this machine's wall clock, ns since 1970.
type Span struct{ Start, End int64 }

// Cell is the energy of one cell, trials pooled.
type Cell struct {
	Name   string `json:"name"`
	Trials int    `json:"trials"`
	Bases  []Of   `json:"bases"` // in the order of Options

	// Asiai has the numbers that asiai's specification 0.5.0 defines, by its names.
	// GPU power is that of the GPUs alone; the others are of the first base.
	Asiai Asiai `json:"asiai"`

	ThermalShare  metric.Value `json:"thermal_share"`   // of the cell window, worst device and trial; above 0.5 % nothing is published
	PowerCapShare metric.Value `json:"power_cap_share"` // likewise: normal near the limit, and to be equal between arms
	StartC        metric.Value `json:"start_c"`         // hottest GPU at the start of the cell window, °C
	IdleCV        metric.Value `json:"idle_cv_pct"`
	ClockErrorMS  metric.Value `json:"clock_error_ms"` // how far the trace and the requests may be apart, at most
	PowerLimitW   metric.Value `json:"power_limit_w"`  // enforced, sum over devices

	Doubts   []string `json:"doubts,omitempty"`
	Plot     *Plot    `json:"plot,omitempty"` // of the first trial
	PerTrial []Cell   `json:"per_trial,omitempty"`
}

// Of is the energy of one base.
type Of struct {
	Base    string   `json:"base"`    // nv.gpu, apple.soc5, ...
	Digest  string   `json:"digest"`  // SHA-256 of the exact set of domains and sources that were read; "" = nothing was
	Domains []string `json:"domains"` // nvml.gpu x2, ...
	Devices []string `json:"devices"`

	LoadedIdleW   metric.Value `json:"loaded_idle_w"`  // model resident, nothing in flight: median
	PublicationMS metric.Value `json:"publication_ms"` // measured period of its slowest counter

	Windows map[Window]Measured `json:"windows"` // all of [Windows]
}

// Measured is the energy of one base in one window, over all trials.
type Measured struct {
	DurationS       metric.Value `json:"duration_s"`       // summed
	QuantisationPct metric.Value `json:"quantisation_pct"` // what its energy may be off by; the worst trial's
	Label           string       `json:"label,omitempty"`  // indicative: below 600 s

	J                     metric.Value `json:"j"`
	W                     metric.Value `json:"w"`     // mean
	NetJ                  metric.Value `json:"net_j"` // without loaded idle x time; only when positive
	JPerRequest           metric.Value `json:"j_per_request"`
	JPerOutputToken       metric.Value `json:"j_per_output_token"`
	JPerOutputInterval    metric.Value `json:"j_per_output_interval"` // decode only: sum of (n - 1); M10
	JPerTotalToken        metric.Value `json:"j_per_total_token"`
	NetJPerRequest        metric.Value `json:"net_j_per_request"`
	NetJPerOutputToken    metric.Value `json:"net_j_per_output_token"`
	NetJPerOutputInterval metric.Value `json:"net_j_per_output_interval"`
	NetJPerTotalToken     metric.Value `json:"net_j_per_total_token"`
	CostPerMOutputTokens  metric.Value `json:"cost_per_m_output_tokens"` // energy alone, from a price of the kWh
}

// Asiai is M6, M7 and M9 to M12. M13 is a file: see [Calibration].
type Asiai struct {
	PowerWatts       metric.Value `json:"power_watts"`          // M6: GPUs alone, over the measured requests
	TokPerSecPerWatt metric.Value `json:"tok_per_sec_per_watt"` // M7 = M1 / M6
	SoCWatts         metric.Value `json:"soc_watts"`            // M9: mean over a turn, median over runs
	EnergyPerToken   metric.Value `json:"energy_per_token_j"`   // M10: J of a turn / (n - 1), median over runs
	IdleSoCWatts     metric.Value `json:"idle_soc_watts"`       // M11: 5 x 2 s, median
	ActivePerToken   metric.Value `json:"energy_per_token_active_j"`
	Base             string       `json:"base"`   // M12
	Rails            []string     `json:"rails"`  // M12: domains that were read
	Window           string       `json:"window"` // turn

	PowerBase            string       `json:"power_base"`             // what power_watts is of: nv.gpu, amd.gpu or apple.gpu
	PowerDigest          string       `json:"power_digest"`           // as in [Of]
	PowerLabel           string       `json:"power_label,omitempty"`  // as in [Measured]
	PowerQuantisationPct metric.Value `json:"power_quantisation_pct"` // of power_watts
	TurnQuantisationPct  metric.Value `json:"turn_quantisation_pct"`  // of the turns that are in the medians, the worst
}

// Plot is the power over time, thinned out for drawing: at most 600 points.
type Plot struct {
	Base    string      `json:"base"`
	T       []float64   `json:"t_s"` // seconds since the trace began; ends of steps
	W       []float64   `json:"w"`   // mean between T[i-1] and T[i]; W[0] belongs to T[0] alone
	Idle    *[2]float64 `json:"idle_s,omitempty"`
	Cell    *[2]float64 `json:"cell_s,omitempty"`
	Steady  *[2]float64 `json:"steady_s,omitempty"`
	Thermal []float64   `json:"thermal_s,omitempty"` // moments at which a thermal or brake counter moved
	Capped  []float64   `json:"capped_s,omitempty"`  // likewise of the power cap; thinned out
}

// Calibration is M13: what a wall meter reads when a base reads x W, wall = a + b*x.
// It is declared and changes no number: who reads the finding may apply it.
type Calibration struct {
	Base   string  `json:"base"`
	A      float64 `json:"a"` // W
	B      float64 `json:"b"`
	R2     float64 `json:"r2"`
	N      int     `json:"n"`
	Meter  string  `json:"meter"`
	SHA256 string  `json:"sha256"` // of the file
}
