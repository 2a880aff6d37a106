package prior

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// Value is a claimed value that a guard reads, or the reason why it reads none.
type Value struct {
	Value  float64
	Reason string // reason code, "" = there is a value
	From   string // who says so, for people
}

// Metrics lists the metrics that are claimed, sorted: the names that a guard may
// read.
func Metrics(r *evidence.Research) []string {
	var out []string
	for _, s := range r.Sources {
		for _, c := range s.Claims {
			out = append(out, c.Metric)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Values picks for each metric that is claimed of anybody the value for one
// candidate at one place: the claim that names the place most closely, of these
// the one of the best role. Values are in the metric's own unit where it has one.
func Values(r *evidence.Research, candidate, workload, cell string) map[string]Value {
	out := map[string]Value{}
	for _, m := range Metrics(r) {
		out[m] = pick(matching(r, candidate, m, workload, cell))
	}
	return out
}

// match is a claim with its source and how closely it names the place.
type match struct {
	src   *evidence.ResearchSource
	claim evidence.Prior
	close int
}

func matching(r *evidence.Research, candidate, name, workload, cell string) (out []match) {
	for i := range r.Sources {
		for _, c := range r.Sources[i].Claims {
			if c.Candidate != candidate || c.Metric != name || c.Workload != "" && c.Workload != workload || c.Cell != "" && c.Cell != cell {
				continue
			}
			m := match{src: &r.Sources[i], claim: c}
			if c.Workload != "" {
				m.close++
			}
			if c.Cell != "" {
				m.close++
			}
			out = append(out, m)
		}
	}
	return out
}

var rank = map[string]int{evidence.Primary: 0, evidence.Lead: 1, evidence.HistoricalLead: 2}

func pick(all []match) Value {
	if len(all) == 0 {
		return Value{Reason: NoPrior}
	}
	usable := slices.DeleteFunc(slices.Clone(all), func(m match) bool { return m.claim.Unusable != "" })
	if len(usable) == 0 {
		return Value{Reason: all[0].claim.Unusable, From: from(all[0])}
	}
	order := func(a, b match) int {
		return cmp.Or(-cmp.Compare(a.close, b.close), cmp.Compare(rank[a.claim.Role], rank[b.claim.Role]))
	}
	slices.SortStableFunc(usable, order)
	v := usable[0].value()
	for _, m := range usable[1:] {
		if order(m, usable[0]) != 0 {
			break
		}
		if other := m.value(); v.Reason == "" && (other.Reason != "" || other.Value != v.Value) {
			return Value{Reason: Conflicting, From: from(usable[0]) + "; " + from(m)}
		}
	}
	return v
}

func (m match) value() Value {
	x, ok := m.claim.Value, true
	if u, known := unitOf(m.claim.Metric); known {
		x, ok = In(m.claim.Value, m.claim.Unit, u)
	}
	if !ok {
		return Value{Reason: OtherUnit, From: from(m)}
	}
	return Value{Value: x, From: from(m)}
}

// from says whose value it is: 32768 by model-card (primary, current, 49 days old).
func from(m match) string {
	return fmt.Sprintf("%s by %s (%s, %s, %s)", short(m.claim.Value), m.src.ID, m.claim.Role, m.src.Age, ageText(m.src))
}
