package decide

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// reading is one stretch of one base on one side, and the numbers of the rule that come
// of it: all of them are off together.
type reading struct {
	of      string // what was read: candidate.energy.nv_gpu.cell
	side    string
	numbers []offNumber
}

// offNumber is a number and by how much it may be off, either way. off is negative where
// the number falls when the energy rises.
type offNumber struct {
	path       string
	value, off float64
}

// withinQuantisation says that the rule passes or fails by less than its energies may be
// off: they have no interval, and this stands for one. Every energy that the rule names
// is moved by its quantisation, which has the error of the clocks in it.
func (r rule) withinQuantisation(f facts, sides [2]energySide) []string {
	rs := r.readings(sides)
	if len(rs) == 0 {
		return nil
	}
	outcome, _ := r.Classify(f.vars, f.why)
	if outcome != guard.Pass && outcome != guard.Fail {
		return nil
	}
	for _, shifts := range shiftsOf(rs) {
		if r.with(f, rs, shifts) != outcome {
			return []string{withinQuant + ": " + sentences[withinQuant] + ": " + spread(rs)}
		}
	}
	return nil
}

// with is the outcome if each reading were off by its share of what it may be off by.
func (r rule) with(f facts, rs []reading, shares []float64) guard.Outcome {
	numbers := map[string]float64{}
	for i := range rs {
		for _, n := range rs[i].numbers {
			numbers[n.path] = n.value + shares[i]*n.off
		}
	}
	vars, err := r.Put(f.vars, numbers)
	if err != nil {
		return guard.Error
	}
	outcome, _ := r.Classify(vars, f.why)
	return outcome
}

// Up to how many readings are moved independently: 125 and 256 evaluations.
const (
	fewReadings  = 3
	manyReadings = 8
)

// shiftsOf are the errors to try, from -1 to 1 of what each reading may be off by: a
// grid for a few, so that a rule with two limits is met between them, the corners for
// more, and beyond that the sides against each other and each reading for itself.
func shiftsOf(rs []reading) [][]float64 {
	switch n := len(rs); {
	case n == 0:
		return nil
	case n <= fewReadings:
		return grid(n, -1, -0.5, 0, 0.5, 1)
	case n <= manyReadings:
		return grid(n, -1, 1)
	}
	var out [][]float64
	for _, of := range grid(2, -1, 1) {
		all := make([]float64, len(rs))
		for i := range rs {
			all[i] = of[0]
			if rs[i].side == "baseline" {
				all[i] = of[1]
			}
		}
		out = append(out, all)
	}
	for i := range rs {
		for _, x := range []float64{-1, 1} {
			one := make([]float64, len(rs))
			one[i] = x
			out = append(out, one)
		}
	}
	return out
}

// grid is every choice of n of the levels.
func grid(n int, levels ...float64) (out [][]float64) {
	for i := range int(math.Pow(float64(len(levels)), float64(n))) {
		one := make([]float64, n)
		for k := range one {
			one[k] = levels[i%len(levels)]
			i /= len(levels)
		}
		out = append(out, one)
	}
	return out
}

// spread writes the numbers with what they may be off by.
func spread(rs []reading) string {
	var out []string
	for _, r := range rs {
		for _, n := range r.numbers {
			out = append(out, fmt.Sprintf("%s = %s ± %s", n.path, guard.FormatNumber(n.value), guard.FormatNumber(math.Abs(n.off))))
		}
	}
	return strings.Join(out, ", ")
}

// readings are the energies that the rule names and that are there. The power of the
// idle machine is a median of samples, and no window has a quantisation for it; neither
// have temperatures and shares of time.
func (r rule) readings(sides [2]energySide) (out []reading) {
	for _, s := range sides {
		for _, p := range r.Paths() {
			of, n := s.offBy(p)
			if of == "" {
				continue
			}
			k := slices.IndexFunc(out, func(r reading) bool { return r.of == of })
			if k < 0 {
				k, out = len(out), append(out, reading{of: of, side: s.path})
			}
			out[k].numbers = append(out[k].numbers, n)
		}
	}
	return out
}

// offBy is what a number was read from and by how much it may be off; "" = it is none of
// this side's energies.
func (s energySide) offBy(path string) (of string, n offNumber) {
	parts := strings.Split(path, ".")
	switch {
	case s.energy == nil || parts[0] != s.path:
	case len(parts) == 5 && parts[1] == "energy":
		m, there := measuredIn(s.energy, parts[2], parts[3])
		v := numberOf(m, parts[4]).Value
		if there && v != nil && parts[4] != "duration_s" && parts[4] != "quantisation_pct" {
			return strings.Join(parts[:4], "."), offNumber{path, *v, offBy(m, parts[4], *v)}
		}
	case len(parts) == 3 && parts[1] == "asiai":
		return s.offByAsiai(path, parts[2])
	}
	return "", offNumber{}
}

// offBy is the quantisation of a window's number. What is left of the joules after the
// idle machine's is off by as many joules as they are, which is a larger share of it.
func offBy(m energy.Measured, id string, v float64) float64 {
	q := share(m.QuantisationPct)
	if net := m.NetJ.Value; strings.HasPrefix(id, "net_") && m.J.Value != nil && net != nil && *net != 0 {
		q *= *m.J.Value / *net
	}
	return q * v
}

func (s energySide) offByAsiai(path, name string) (of string, n offNumber) {
	a := s.energy.Asiai
	v, gross := numberOf(a, name).Value, a.EnergyPerToken.Value
	if v == nil || name == "idle_soc_watts" {
		return "", n
	}
	n = offNumber{path: path, value: *v}
	power, turn := share(a.PowerQuantisationPct), share(a.TurnQuantisationPct)
	switch {
	case name == "tok_per_sec_per_watt":
		n.off = -*v * power / (1 - power)
	case ofGPUs[name]:
		n.off = *v * power
	case name == "energy_per_token_active_j" && gross != nil:
		n.off = *gross * turn
	default:
		n.off = *v * turn
	}
	if ofGPUs[name] {
		return s.path + ".asiai.power", n
	}
	return s.path + ".asiai.turn", n
}

// share is a quantisation as a share. One that is not known may be as large as any that
// is let through.
func share(pct metric.Value) float64 {
	if pct.Value == nil {
		return energy.DefaultCoarsest / 100
	}
	return min(*pct.Value/100, 0.99)
}

// measuredIn is the window of a base, both as rules write them.
func measuredIn(c *energy.Cell, base, window string) (energy.Measured, bool) {
	for i := range c.Bases {
		if energy.Spell(c.Bases[i].Base) == base {
			m, there := c.Bases[i].Windows[energy.Window(window)]
			return m, there
		}
	}
	return energy.Measured{}, false
}

// numberOf is the value of a struct by its metric id.
func numberOf(of any, id string) metric.Value {
	field, there := byID(reflect.ValueOf(of))[id]
	if !there {
		return metric.Value{}
	}
	v, _ := field.Interface().(metric.Value)
	return v
}
