package history

import (
	"encoding/json"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// energyMetric begins the names of energies: energy.nv_gpu.cell.j_per_output_token,
// energy.wall.loaded_idle_w, energy.start_c, energy.asiai.power_watts.
const energyMetric = "energy."

// takeEnergy finds an energy of a cell. What it is of, the exact counters, goes into
// the controls: two sets are two series.
func (p *placed) takeEnergy(l *evidence.LoadMetrics, cell, name string) bool {
	name, ok := strings.CutPrefix(name, energyMetric)
	if !ok {
		return false
	}
	for i := range l.Energy {
		if l.Energy[i].Name == cell {
			return p.ofEnergy(&l.Energy[i], name)
		}
	}
	return false
}

func (p *placed) ofEnergy(c *energy.Cell, name string) bool {
	first, rest, _ := strings.Cut(name, ".")
	base := energy.BaseOf(first)
	if base == "" {
		switch {
		case first == "asiai" && (rest == "power_watts" || rest == "tok_per_sec_per_watt"): // of the GPUs, whatever the bases
			p.Counters = c.Asiai.PowerDigest
		case first == "asiai" && len(c.Bases) > 0:
			p.Counters = c.Bases[0].Digest
		}
		return p.take(c, name)
	}
	for i := range c.Bases {
		if of := &c.Bases[i]; of.Base == base {
			p.Counters = of.Digest
			window, _, _ := strings.Cut(rest, ".")
			if _, ok := of.Windows[energy.Window(window)]; ok {
				return p.take(of.Windows, rest)
			}
			return p.take(of, rest)
		}
	}
	return false
}

// sent is what a workload asks for. Of energy that is the workload whose requests
// are sent too, and neither its recordings nor what is declared of a wall meter:
// those differ from run to run.
func sent(measure map[string]json.RawMessage, workload string) json.RawMessage {
	var e map[string]json.RawMessage
	var of string
	if json.Unmarshal(measure[workload], &e) != nil || string(e["kind"]) != `"energy"` || json.Unmarshal(e["of"], &of) != nil {
		return measure[workload]
	}
	delete(e, "traces")
	delete(e, "wallCalibration")
	e["of"] = measure[of]
	b, err := json.Marshal(e)
	if err != nil {
		return measure[workload]
	}
	return b
}

// betterEnergy is the direction of an energy: less, but for work per watt. Of what
// describes the measurement, such as a temperature, neither is better.
func betterEnergy(name string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case last == "tok_per_sec_per_watt":
		return "higher"
	case last == "j", last == "w", last == "net_j", last == "loaded_idle_w", strings.HasPrefix(last, "cost_per_"), strings.Contains(last, "j_per_"),
		strings.HasSuffix(last, "_watts"), strings.HasPrefix(last, "energy_per_token"):
		return "lower"
	}
	return ""
}
