package decide

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

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
	for _, why := range energy.Comparable(r.concerned(a.energy), r.concerned(b.energy), energy.Band{StartC: band}) {
		out = append(out, fmt.Sprintf("%s: %s (%s and %s)", incomparable, why, a.name, b.name))
	}
	return out
}

// concerned is the cell with the bases that the rule names, of the side or by
// asiai's names, which are of the first.
func (r rule) concerned(c *energy.Cell) *energy.Cell {
	out := *c
	named := r.namedBases()
	first := ""
	if len(c.Bases) > 0 && (r.names("candidate.asiai") || r.names("baseline.asiai")) {
		first = c.Bases[0].Base
	}
	out.Bases = slices.DeleteFunc(slices.Clone(c.Bases), func(b energy.Of) bool {
		return b.Base != first && !slices.Contains(named, energy.Spell(b.Base))
	})
	return &out
}

// Energies of whole requests, and of all requests together, grow with how much was
// answered.
var (
	ofRequests = map[string]bool{"j_per_request": true, "net_j_per_request": true}
	ofAll      = map[string]bool{"j": true, "net_j": true}
)

// unequalLoad says why a rule that compares the energies of requests cannot: the
// answers, or how many there were, differ.
func (r rule) unequalLoad(sides []side) (out []string) {
	a, b := sides[0].cell, sides[1].cell
	all := r.bothNameEnergy(ofAll)
	if a == nil || b == nil || !all && !r.bothNameEnergy(ofRequests) {
		return nil
	}
	if x, y := a.OutputTokens.Mean, b.OutputTokens.Mean; x != nil && y != nil && math.Abs(*x-*y) > workTolerance*math.Max(*x, *y) {
		out = append(out, fmt.Sprintf("%s: the answers differ in length, and longer ones take more energy; compare joules per token: %.1f output tokens a request on %s, %.1f on %s", unequalWork, *x, sides[0].name, *y, sides[1].name))
	}
	if all && a.Completed != b.Completed {
		out = append(out, fmt.Sprintf("%s: the cells hold different numbers of requests; compare joules per request or per token: %d on %s, %d on %s", unequalWork, a.Completed, sides[0].name, b.Completed, sides[1].name))
	}
	return out
}

func (r rule) bothNameEnergy(ids map[string]bool) bool {
	has := func(side string) bool {
		return slices.ContainsFunc(r.Paths(), func(p string) bool {
			return strings.HasPrefix(p, side+".energy.") && ids[p[strings.LastIndexByte(p, '.')+1:]]
		})
	}
	return has("candidate") && has("baseline")
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
			parts := strings.Split(p, ".")
			if len(parts) != 5 || parts[0] != s.path || parts[1] != "energy" {
				continue
			}
			if label := labelOf(s.energy, parts[2], parts[3]); label != "" {
				out = append(out, fmt.Sprintf("%s: %s is of less than 600 s", label, p))
			}
		}
	}
	return out
}

func labelOf(c *energy.Cell, base, window string) string {
	for i := range c.Bases {
		if energy.Spell(c.Bases[i].Base) == base {
			return c.Bases[i].Windows[energy.Window(window)].Label
		}
	}
	return ""
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
