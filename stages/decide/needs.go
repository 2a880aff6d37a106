package decide

import (
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/engine/spec"
)

// Need is one bound of a quality guard over one stratum, before anything runs:
// how far from no difference its limit lies, and the items there.
type Need struct {
	Guard    string
	Workload string
	Stratum  string // "" is the overall set
	Rule     string
	Bound    string  // the comparison of the rule that this is about, "" = it has none with a sample size
	Margin   float64 // the limit's distance from 0; at most 0 for a guard that asks for a gain
	Items    int
}

// Needs lists the bounds on quality workloads whose items are counted in
// counts, by workload and stratum. A rule without a bound on a limit of an
// interval is listed once with an empty Bound.
func Needs(c *spec.Campaign, counts map[string]map[string]int) []Need {
	var out []Need
	eachQuality(c, counts, func(name string, p *guard.Program, stratum string, have int) {
		n := Need{Guard: name, Workload: c.Decide.Guards[name].On, Stratum: stratum, Rule: p.Rule(), Items: have}
		out = append(out, n.bounds(p)...)
	})
	return out
}

// eachQuality calls visit for each quality guard, in order, over each stratum
// that it names, with the items there.
func eachQuality(c *spec.Campaign, counts map[string]map[string]int, visit func(name string, p *guard.Program, stratum string, have int)) {
	for _, name := range slices.Sorted(maps.Keys(c.Decide.Guards)) {
		g := c.Decide.Guards[name]
		strata, known := counts[g.On]
		env, err := envFor(c.Measure[g.On].Kind, claimedMetrics(c))
		if err != nil || !known || c.Measure[g.On].Kind != "quality" {
			continue
		}
		p, err := env.Compile(g.Rule)
		if err != nil {
			continue // Check has reported it
		}
		if (rule{p}).readsPrior() {
			continue // it decides nothing, so it needs no number of items
		}
		for _, s := range expand(g.Strata, strata) {
			visit(name, p, s, items(strata, s))
		}
	}
}

func (n Need) bounds(p *guard.Program) []Need {
	var out []Need
	for _, b := range p.Bounds() {
		margin, ok := marginOf(b)
		if !ok {
			continue
		}
		n.Bound, n.Margin = b.Path+" "+b.Op+" "+guard.FormatNumber(b.Value), margin
		out = append(out, n)
	}
	if len(out) == 0 {
		return []Need{n}
	}
	return out
}
