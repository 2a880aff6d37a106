package publish

import (
	"cmp"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

const energyKind = "energy"

// energyColumn is one number of a base in the cell window.
type energyColumn struct {
	Head string
	of   func(*energy.Of, *energy.Measured) number
}

func joules(head string, v func(*energy.Measured) metric.Value) energyColumn {
	return energyColumn{head, func(_ *energy.Of, m *energy.Measured) number { return valueOf(v(m)) }}
}

// energyColumns are what the table of an energy workload shows.
var energyColumns = []energyColumn{
	joules("W", func(m *energy.Measured) metric.Value { return m.W }),
	joules("J/request", func(m *energy.Measured) metric.Value { return m.JPerRequest }),
	joules("J/output token", func(m *energy.Measured) metric.Value { return m.JPerOutputToken }),
	joules("net J/output token", func(m *energy.Measured) metric.Value { return m.NetJPerOutputToken }),
	{"loaded idle, W", func(o *energy.Of, _ *energy.Measured) number { return valueOf(o.LoadedIdleW) }},
	{"quantisation", func(_ *energy.Of, m *energy.Measured) number { return inUnit(m.QuantisationPct, "%") }},
	{"cost/M output tokens", func(_ *energy.Of, m *energy.Measured) number {
		return inUnit(m.CostPerMOutputTokens, m.CostPerMOutputTokens.Unit)
	}},
}

// unpriced is the reason for a cost that the campaign itself gives.
const unpriced = "no-kwh-price"

func inUnit(v metric.Value, unit string) number {
	n := valueOf(v)
	if n.Reason == "" && unit != "" {
		n.Text += " " + unit
	}
	return n
}

// asiaiColumns are the numbers by the names of asiai's specification.
var asiaiColumns = []struct {
	Head string
	of   func(*energy.Asiai) metric.Value
}{
	{"power_watts (GPU)", func(a *energy.Asiai) metric.Value { return a.PowerWatts }},
	{"tok_per_sec_per_watt (GPU)", func(a *energy.Asiai) metric.Value { return a.TokPerSecPerWatt }},
	{"soc_watts", func(a *energy.Asiai) metric.Value { return a.SoCWatts }},
	{"energy_per_token_j", func(a *energy.Asiai) metric.Value { return a.EnergyPerToken }},
	{"idle_soc_watts", func(a *energy.Asiai) metric.Value { return a.IdleSoCWatts }},
	{"energy_per_token_active_j", func(a *energy.Asiai) metric.Value { return a.ActivePerToken }},
}

// textOf is a number or its reason code, for tables of words.
func textOf(n number) string {
	if n.Reason != "" {
		return cmp.Or(n.Reason, none)
	}
	return n.Text
}
