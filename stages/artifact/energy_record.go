package artifact

import (
	"reflect"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// Energy is the energy of a measurement. Base, rails and set say what was counted;
// window says of which stretch the numbers are that have none in their name.
type Energy struct {
	Base   Text  `json:"base"`       // nv.gpu, apple.soc5, ...
	Rails  Texts `json:"rails"`      // domains that were read, sorted
	Set    Text  `json:"set_sha256"` // of the exact set of domains and sources
	Window Text  `json:"window"`     // turn | decode | run: of an engine's whole run, pauses included

	// By asiai's names: M6 and M7 are of the GPUs alone, the others of the base.
	PowerWatts       Number `json:"power_watts"`               // M6
	TokPerSecPerWatt Number `json:"tok_per_sec_per_watt"`      // M7
	SoCWatts         Number `json:"soc_watts"`                 // M9
	EnergyPerToken   Number `json:"energy_per_token_j"`        // M10: J / (n - 1); of a run J / n
	IdleSoCWatts     Number `json:"idle_soc_watts"`            // M11
	ActivePerToken   Number `json:"energy_per_token_active_j"` // M10 without loaded idle

	// Of the base, from the first dispatch to the last end.
	CellW                  Number `json:"cell_w"`
	CellJ                  Number `json:"cell_j"`
	CellJPerRequest        Number `json:"cell_j_per_request"`
	CellJPerOutputToken    Number `json:"cell_j_per_output_token"`
	CellJPerTotalToken     Number `json:"cell_j_per_total_token"`
	CellNetJPerOutputToken Number `json:"cell_net_j_per_output_token"`
	DecodeJPerInterval     Number `json:"decode_j_per_output_interval"`
	LoadedIdleW            Number `json:"loaded_idle_w"`
	PowerCapShare          Number `json:"power_cap_share"` // of the cell
	ThermalShare           Number `json:"thermal_share"`   // of the cell

	// A declared calibration, wall = a + b*x W of its base; it is in none of the
	// numbers.
	WallBase   Text   `json:"wall_base"`
	WallA      Number `json:"wall_a_w"`
	WallB      Number `json:"wall_b"`
	WallR2     Number `json:"wall_r2"`
	WallN      Number `json:"wall_n"`
	WallMeter  Text   `json:"wall_meter"`
	WallSHA256 Text   `json:"wall_sha256"` // of the file of pairs
}

// because gives a reason to each field that has no value.
func (e *Energy) because(reason string) {
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		v.Field(i).Addr().Interface().(blank).because(reason)
	}
}

// any reports whether one of the numbers by asiai's names has a value.
func (e *Energy) any() bool {
	return slices.ContainsFunc([]Number{e.PowerWatts, e.TokPerSecPerWatt, e.SoCWatts, e.EnergyPerToken, e.IdleSoCWatts, e.ActivePerToken}, Number.has)
}

// energyOf is the energy of a cell of cupel's own metrics.
func energyOf(m *evidence.LoadMetrics, cell string) (e Energy) {
	i := slices.IndexFunc(m.Energy, func(c energy.Cell) bool { return c.Name == cell })
	if i < 0 {
		e.because("the workload measures no energy")
		return e
	}
	c := &m.Energy[i]
	a := &c.Asiai
	e.PowerWatts, e.TokPerSecPerWatt = valueOf(a.PowerWatts), valueOf(a.TokPerSecPerWatt)
	e.SoCWatts, e.EnergyPerToken = valueOf(a.SoCWatts), valueOf(a.EnergyPerToken)
	e.IdleSoCWatts, e.ActivePerToken = valueOf(a.IdleSoCWatts), valueOf(a.ActivePerToken)
	e.PowerCapShare, e.ThermalShare = valueOf(c.PowerCapShare), valueOf(c.ThermalShare)
	e.ofBase(c)
	e.declared(m.Calibration)
	e.because("null")
	return e
}

// ofBase takes the base that asiai's names take, which is the first.
func (e *Energy) ofBase(c *energy.Cell) {
	if len(c.Bases) == 0 {
		return
	}
	of := &c.Bases[0]
	e.Base, e.Set, e.Window = said(of.Base), said(of.Digest), said(c.Asiai.Window)
	if rails := c.Asiai.Rails; len(rails) > 0 {
		e.Rails = is(slices.Sorted(slices.Values(rails)))
	}
	whole, decode := of.Windows[energy.Whole], of.Windows[energy.Decode]
	for _, f := range []struct {
		to   *Number
		from metric.Value
	}{
		{&e.CellW, whole.W}, {&e.CellJ, whole.J}, {&e.CellJPerRequest, whole.JPerRequest}, {&e.CellJPerOutputToken, whole.JPerOutputToken},
		{&e.CellJPerTotalToken, whole.JPerTotalToken}, {&e.CellNetJPerOutputToken, whole.NetJPerOutputToken},
		{&e.DecodeJPerInterval, decode.JPerOutputInterval}, {&e.LoadedIdleW, of.LoadedIdleW},
	} {
		*f.to = valueOf(f.from)
	}
}

func (e *Energy) declared(c *energy.Calibration) {
	if c == nil {
		const why = "the campaign declares none"
		e.WallBase, e.WallMeter, e.WallSHA256 = unknown[string](why), unknown[string](why), unknown[string](why)
		e.WallA, e.WallB, e.WallR2, e.WallN = unknown[float64](why), unknown[float64](why), unknown[float64](why), unknown[float64](why)
		return
	}
	e.WallBase, e.WallMeter, e.WallSHA256 = said(c.Base), said(c.Meter), said(c.SHA256)
	e.WallA, e.WallB, e.WallR2, e.WallN = is(c.A), is(c.B), is(c.R2), is(float64(c.N))
}
