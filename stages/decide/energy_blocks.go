package decide

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// energySide is one of the two whose energy a rule may name.
type energySide struct {
	path, name string // candidate or baseline; its name in the campaign
	energy     *energy.Cell
}

// energies are the two sides' energies of one cell, the candidate's first.
func (j *judge) energies(workload, cell, candidate string) [2]energySide {
	base := j.policy.Baseline
	return [2]energySide{
		{"candidate", candidate, energyOf(j.record, candidate, workload, cell)},
		{"baseline", base, energyOf(j.record, base, workload, cell)},
	}
}

// counts refuses a rule that names a base which the workload does not count: it
// would be undetermined for ever.
func (w Workload) counts(r rule) error {
	if w.Kind != energyKind {
		return nil
	}
	var have []string
	for _, b := range w.Bases {
		have = append(have, energy.Spell(b))
	}
	for _, p := range r.Paths() {
		parts := strings.Split(p, ".")
		if len(parts) < 4 || parts[1] != "energy" || slices.Contains(have, parts[2]) {
			continue
		}
		return r.Refuse(strings.Join(parts[:3], "."), fmt.Sprintf("the workload does not count %s", energy.BaseOf(parts[2])), "it counts: "+w.spelled())
	}
	return nil
}

// spelled lists the bases as rules write them, and what they are where that is not
// the same.
func (w Workload) spelled() string {
	var out []string
	for _, b := range w.Bases {
		s := energy.Spell(b)
		if s != b {
			s += " (" + b + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// namesEnergy reports whether the rule names an energy of that side.
func (r rule) namesEnergy(side string) bool {
	return r.names(side+".energy") || r.names(side+".asiai")
}

// unequalEnergy says why the energies of the two sides, both of which the rule
// names, cannot be held against each other.
func (r rule) unequalEnergy(sides [2]energySide, band float64) (out []string) {
	a, b := sides[0], sides[1]
	if a.energy == nil || b.energy == nil || !r.namesEnergy(a.path) || !r.namesEnergy(b.path) {
		return nil
	}
	whys := energy.Comparable(r.concerned(a.energy), r.concerned(b.energy), energy.Band{StartC: band})
	if r.namesAsiai(true) {
		whys = append(whys, energy.PowerComparable(&a.energy.Asiai, &b.energy.Asiai)...)
	}
	if r.namesAsiai(false) {
		whys = append(whys, energy.TurnsComparable(a.energy, b.energy)...)
	}
	for i, why := range whys {
		if !slices.Contains(whys[:i], why) {
			out = append(out, fmt.Sprintf("%s: %s (%s and %s)", incomparable, why, a.name, b.name))
		}
	}
	return out
}

// ofGPUs are asiai's numbers that are of the GPUs alone; the others are of the
// workload's first base.
var ofGPUs = map[string]bool{"power_watts": true, "tok_per_sec_per_watt": true}

// namesAsiai reports whether the rule names one of asiai's numbers, of the GPUs or of
// the first base.
func (r rule) namesAsiai(gpus bool) bool {
	return slices.ContainsFunc(r.Paths(), func(p string) bool {
		_, name, ok := strings.Cut(p, ".asiai.")
		return ok && ofGPUs[name] == gpus
	})
}

// concerned is the cell with the bases that the rule names.
func (r rule) concerned(c *energy.Cell) *energy.Cell {
	out := *c
	named := r.namedBases()
	out.Bases = slices.DeleteFunc(slices.Clone(c.Bases), func(b energy.Of) bool { return !slices.Contains(named, energy.Spell(b.Base)) })
	return &out
}

// energyDoubts is what to note of the energies that the rule names: what is in
// doubt about the cell, and windows too short to speak of more than themselves.
func (r rule) energyDoubts(sides [2]energySide) (out []string) {
	for _, s := range sides {
		if s.energy == nil || !r.namesEnergy(s.path) {
			continue
		}
		for _, d := range s.energy.Doubts {
			out = append(out, s.name+": "+d)
		}
		for _, p := range r.Paths() {
			if label := s.labelOf(p); label != "" {
				out = append(out, fmt.Sprintf("%s: %s is of less than 600 s", label, p))
			}
		}
	}
	return out
}

// labelOf is the label of the window that a number of this side is of. Loaded idle by
// asiai's definition is always 10 s.
func (s energySide) labelOf(path string) string {
	switch parts := strings.Split(path, "."); {
	case parts[0] != s.path:
	case len(parts) == 5 && parts[1] == "energy":
		return labelOf(s.energy, parts[2], parts[3])
	case len(parts) == 3 && parts[1] == "asiai" && ofGPUs[parts[2]]:
		return s.energy.Asiai.PowerLabel
	case len(parts) == 3 && parts[1] == "asiai" && parts[2] == "idle_soc_watts":
		return metric.Indicative
	case len(parts) == 3 && parts[1] == "asiai":
		return labelOf(s.energy, energy.Spell(s.energy.Asiai.Base), string(energy.Request))
	}
	return ""
}

func labelOf(c *energy.Cell, base, window string) string {
	m, _ := measuredIn(c, base, window)
	return m.Label
}

// fillBases gives every energy that the rule names a number: there are far too many
// to fill all.
func (r rule) fillBases(vars reflect.Value, rng *splitMix) {
	for _, p := range r.Paths() {
		parts := strings.Split(p, ".")
		if len(parts) < 4 || !isSide(parts[0]) || parts[1] != "energy" {
			continue
		}
		v := vars
		for _, name := range parts[:3] {
			v = child(v, name)
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
			fillVars(v.Elem(), rng)
		}
	}
}

// child is the field of that name, through a pointer.
func child(v reflect.Value, name string) reflect.Value {
	v = reflect.Indirect(v)
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("cel") == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}
