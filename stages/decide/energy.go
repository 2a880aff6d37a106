package decide

import (
	"reflect"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// Energy is what the rule of a guard on an energy workload may name, at one cell of
// it: all that capacity has, of the same run, and the energy.
type Energy struct {
	Concurrency float64     `cel:"concurrency" doc:"requests in flight; 0 in an open loop"`
	Cell        string      `cel:"cell" doc:"the cell's name, such as c=4 or rate=2.5"`
	Candidate   *EnergyCell `cel:"candidate" doc:"the candidate's cell"`
	Baseline    *EnergyCell `cel:"baseline" doc:"the baseline's cell"`
	Prior       Priors      `cel:"prior"`
}

// EnergyCell is a cell with the energy of its run. What is of the energy carries an
// id, so that no rule mixes bases, windows and denominators.
type EnergyCell struct {
	Cell          `cel:"-"`
	Energy        Bases    `cel:"energy" id:"energy" doc:"by base and window; docs/energy.md"`
	Asiai         Asiai    `cel:"asiai" id:"asiai" doc:"by the names of asiai's specification"`
	ThermalShare  *float64 `cel:"thermal_share" id:"energy_thermal_share" doc:"share of the cell in which heat or a power brake held a clock down, worst device"`
	PowerCapShare *float64 `cel:"power_cap_share" id:"energy_power_cap_share" doc:"share of the cell in which the power cap held a clock down, worst device"`
	StartC        *float64 `cel:"start_c" id:"energy_start_c" doc:"hottest GPU when the cell began, °C"`
}

// Bases are those of [energy.Spelled]; a test compares the two. One that the
// workload does not count is nil, and naming it an error of the check.
type Bases struct {
	NVGPU            *Base `cel:"nv_gpu" label:"base=nv.gpu"`
	NVModule         *Base `cel:"nv_module" label:"base=nv.module"`
	NVGPURAPL        *Base `cel:"nv_gpu_rapl" label:"base=nv.gpu+rapl.package+rapl.dram"`
	NVGPURAPLPackage *Base `cel:"nv_gpu_rapl_package" label:"base=nv.gpu+rapl.package"`
	RAPL             *Base `cel:"rapl" label:"base=rapl.package+rapl.dram"`
	RAPLPackage      *Base `cel:"rapl_package" label:"base=rapl.package"`
	AMDGPU           *Base `cel:"amd_gpu" label:"base=amd.gpu"`
	AppleSoC5        *Base `cel:"apple_soc5" label:"base=apple.soc5"`
	AppleGPU         *Base `cel:"apple_gpu" label:"base=apple.gpu"`
	Wall             *Base `cel:"wall" label:"base=wall"`
}

// Base is the energy of one base, by window.
type Base struct {
	Request     *Measured `cel:"request" label:"window=request" doc:"from dispatch to end, added up over requests that do not overlap"`
	Prefill     *Measured `cel:"prefill" label:"window=prefill" doc:"from dispatch to the first output"`
	Decode      *Measured `cel:"decode" label:"window=decode" doc:"from the first output to the end"`
	Steady      *Measured `cel:"steady" label:"window=steady" doc:"while every stream was busy"`
	Whole       *Measured `cel:"cell" label:"window=cell" doc:"from the first dispatch to the last end"`
	LoadedIdleW *float64  `cel:"loaded_idle_w" doc:"the model resident and nothing in flight, W"`
	Publication *float64  `cel:"publication_ms" doc:"measured period of the slowest counter, ms"`
}

// Measured has the metric ids of [energy.Measured].
type Measured struct {
	DurationS             *float64 `cel:"duration_s" doc:"length of the window, s"`
	QuantisationPct       *float64 `cel:"quantisation_pct" doc:"what the energy may be off by, percent: of the counter's period, of gaps, of clocks and of what the power did"`
	J                     *float64 `cel:"j" doc:"energy, J"`
	W                     *float64 `cel:"w" doc:"mean power, W"`
	NetJ                  *float64 `cel:"net_j" doc:"energy without loaded idle x time, J"`
	JPerRequest           *float64 `cel:"j_per_request" doc:"J / request"`
	JPerOutputToken       *float64 `cel:"j_per_output_token" doc:"J / output token"`
	JPerOutputInterval    *float64 `cel:"j_per_output_interval" doc:"J / interval between output tokens; of decode alone"`
	JPerTotalToken        *float64 `cel:"j_per_total_token" doc:"J / prompt or output token"`
	NetJPerRequest        *float64 `cel:"net_j_per_request" doc:"net J / request"`
	NetJPerOutputToken    *float64 `cel:"net_j_per_output_token" doc:"net J / output token"`
	NetJPerOutputInterval *float64 `cel:"net_j_per_output_interval" doc:"net J / interval between output tokens; of decode alone"`
	NetJPerTotalToken     *float64 `cel:"net_j_per_total_token" doc:"net J / prompt or output token"`
	CostPerMOutputTokens  *float64 `cel:"cost_per_m_output_tokens" doc:"price of the energy of a million output tokens"`
}

// Asiai has the numbers of [energy.Asiai].
type Asiai struct {
	PowerWatts       *float64 `cel:"power_watts" doc:"M6: GPUs alone, over the measured requests, W"`
	TokPerSecPerWatt *float64 `cel:"tok_per_sec_per_watt" doc:"M7: tok/s of a stream / power_watts"`
	SoCWatts         *float64 `cel:"soc_watts" doc:"M9: the first base over a turn, W"`
	EnergyPerToken   *float64 `cel:"energy_per_token_j" doc:"M10: J of a turn / (n - 1)"`
	IdleSoCWatts     *float64 `cel:"idle_soc_watts" doc:"M11: loaded idle, W"`
	ActivePerToken   *float64 `cel:"energy_per_token_active_j" doc:"M10 without loaded idle"`
}

// energyFacts describes one cell with its energy; a side without either is absent.
func energyFacts(cell string, candidate, baseline *metric.Cell, ofCandidate, ofBaseline *energy.Cell) facts {
	f := facts{why: map[string]string{}}
	vars := Energy{Cell: cell, Candidate: f.energyCell("candidate", candidate, ofCandidate), Baseline: f.energyCell("baseline", baseline, ofBaseline)}
	for _, c := range []*EnergyCell{vars.Candidate, vars.Baseline} {
		if c != nil {
			vars.Concurrency = c.Concurrency
		}
	}
	f.vars = vars
	return f
}

func (f *facts) energyCell(path string, c *metric.Cell, e *energy.Cell) *EnergyCell {
	cell := f.cell(path, c)
	if cell == nil {
		return nil
	}
	out := &EnergyCell{Cell: *cell}
	if e == nil {
		for _, group := range []string{".energy", ".asiai", ".thermal_share", ".power_cap_share", ".start_c"} {
			f.why[path+group] = noEnergy
		}
		return out
	}
	out.ThermalShare = f.value(path+".thermal_share", e.ThermalShare)
	out.PowerCapShare = f.value(path+".power_cap_share", e.PowerCapShare)
	out.StartC = f.value(path+".start_c", e.StartC)
	f.numbers(path+".asiai", reflect.ValueOf(&out.Asiai).Elem(), reflect.ValueOf(e.Asiai))
	f.bases(path+".energy", &out.Energy, e)
	return out
}

// bases copies the energy of each base that was counted.
func (f *facts) bases(path string, to *Bases, e *energy.Cell) {
	v := reflect.ValueOf(to).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("cel")
		f.why[path+"."+name] = notCounted
		for k := range e.Bases {
			if energy.Spell(e.Bases[k].Base) == name {
				f.why[path+"."+name] = ""
				v.Field(i).Set(reflect.ValueOf(f.base(path+"."+name, &e.Bases[k])))
			}
		}
	}
}

func (f *facts) base(path string, from *energy.Of) *Base {
	to := &Base{LoadedIdleW: f.value(path+".loaded_idle_w", from.LoadedIdleW), Publication: f.value(path+".publication_ms", from.PublicationMS)}
	v := reflect.ValueOf(to).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("cel")
		m, ok := from.Windows[energy.Window(name)]
		if !ok {
			continue
		}
		w := new(Measured)
		f.numbers(path+"."+name, reflect.ValueOf(w).Elem(), reflect.ValueOf(m))
		v.Field(i).Set(reflect.ValueOf(w))
	}
	return to
}

// numbers copies values by metric id.
func (f *facts) numbers(path string, to, from reflect.Value) {
	theirs := byID(from)
	for i := range to.NumField() {
		id := to.Type().Field(i).Tag.Get("cel")
		v, _ := theirs[id].Interface().(metric.Value)
		to.Field(i).Set(reflect.ValueOf(f.value(path+"."+id, v)))
	}
}

// energyOf finds the energy of a candidate's cell, nil when none was derived.
func energyOf(r *evidence.Record, candidate, workload, name string) *energy.Cell {
	cells := r.Candidates[candidate].Load[workload].Energy
	for i := range cells {
		if cells[i].Name == name {
			return &cells[i]
		}
	}
	return nil
}

// namedBases are the bases that the rule names, as rules write them.
func (r rule) namedBases() (names []string) {
	for _, p := range r.Paths() {
		if parts := strings.Split(p, "."); len(parts) > 3 && isSide(parts[0]) && parts[1] == "energy" {
			names = append(names, parts[2])
		}
	}
	return names
}

func isSide(name string) bool { return name == "candidate" || name == "baseline" }
