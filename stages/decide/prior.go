package decide

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/prior"
)

// Priors are what sources claim, by metric. A rule that names one can only warn.
type Priors struct {
	Candidate guard.Named `cel:"candidate" doc:"what sources claim of the candidate; a rule that names it only warns"`
	Baseline  guard.Named `cel:"baseline" doc:"what sources claim of the baseline; a rule that names it only warns"`
}

const priorGroup = "prior"

var priorSides = []string{"candidate", "baseline"}

// claimedMetrics are the names that prior.* may take, nil without any.
func claimedMetrics(c *spec.Campaign) []string {
	if c.Research == nil {
		return nil
	}
	var out []string
	for _, s := range c.Research.Sources {
		for _, cl := range s.Claims {
			out = append(out, cl.Metric)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func priorNames(metrics []string) (out []guard.Names) {
	for _, side := range priorSides {
		out = append(out, guard.Names{Group: priorGroup + "." + side, Names: metrics})
	}
	return out
}

// readsPrior reports whether the rule names a claimed value.
func (r rule) readsPrior() bool { return r.names(priorGroup) }

// measuredPaths are the paths of the rule that name what was measured.
func (r rule) measuredPaths() []string {
	return slices.DeleteFunc(r.Paths(), func(p string) bool { return strings.HasPrefix(p, priorGroup+".") })
}

// warns reports whether a guard only warns. A rule that does not compile is no
// such guard: it stays an error among those that decide.
func (j *judge) warns(name string) bool {
	r, ok := j.rules[name]
	return ok && r.readsPrior()
}

// putPriors adds what sources claim to the facts, and who says so to the
// warnings.
func (j *judge) putPriors(r rule, f *facts, res *evidence.GuardResult, candidate string) {
	if !r.readsPrior() {
		return
	}
	var p Priors
	for _, side := range []struct {
		name, candidate string
		values          *guard.Named
	}{{"candidate", candidate, &p.Candidate}, {"baseline", j.policy.Baseline, &p.Baseline}} {
		*side.values = guard.Named{}
		for metric, v := range j.claims(side.candidate, res) {
			path := priorPath(side.name, metric)
			if v.Reason == "" {
				(*side.values)[metric] = v.Value
			}
			f.why[path] = v.Reason
			if slices.Contains(r.Paths(), path) && v.From != "" {
				res.Warnings = append(res.Warnings, fmt.Sprintf("prior: %s is %s", path, v.From))
			}
		}
	}
	slices.Sort(res.Warnings)
	f.vars = withPriors(f.vars, p)
}

// claims are the values for one candidate where the guard looks; a record
// without research has none.
func (j *judge) claims(candidate string, res *evidence.GuardResult) map[string]prior.Value {
	if j.record.Research != nil {
		return prior.Values(j.record.Research, candidate, res.On, res.Cell)
	}
	out := map[string]prior.Value{}
	for _, m := range j.policy.Priors {
		out[m] = prior.Value{Reason: prior.NoPrior}
	}
	return out
}

func priorPath(side, metric string) string {
	return fmt.Sprintf("%s.%s[%q]", priorGroup, side, metric)
}

func withPriors(vars any, p Priors) any {
	switch v := vars.(type) {
	case Quality:
		v.Prior = p
		return v
	case Capacity:
		v.Prior = p
		return v
	case Energy:
		v.Prior = p
		return v
	}
	return vars
}

// fillPriors gives every claimed value that the rule names a number.
func (r rule) fillPriors(vars reflect.Value, rng *splitMix) {
	p := Priors{guard.Named{}, guard.Named{}}
	for _, path := range r.Paths() {
		for i, m := range []guard.Named{p.Candidate, p.Baseline} {
			if name, ok := claimedIn(path, priorSides[i]); ok {
				m[name] = measurable("", rng)
			}
		}
	}
	vars.FieldByName("Prior").Set(reflect.ValueOf(p))
}

func claimedIn(path, side string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(path, priorGroup+"."+side+"[")
	if !ok {
		return "", false
	}
	_, err := fmt.Sscanf(strings.TrimSuffix(rest, "]"), "%q", &name)
	return name, err == nil
}

// mixed warns of guards of which a part names no prior: a reader may think that
// this part still decides.
func mixed(c *spec.Campaign) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Decide.Guards)) {
		g := c.Decide.Guards[name]
		p, err := compile(workloadOf(c, g.On), g, claimedMetrics(c))
		if err != nil || !(rule{p}).readsPrior() {
			continue
		}
		for _, part := range p.Clauses() {
			if len(part.Vars) > 0 && !slices.Contains(part.Vars, priorGroup) {
				out = append(out, fmt.Sprintf("guard %s: it names a prior, so all of it only warns, and `%s` passes and blocks nothing; put that into a guard of its own", name, part.Text))
			}
		}
	}
	return out
}

// priors refuses a guard on priors that it can never read, of any candidate that
// it looks at: it would say nothing for ever.
func (k *checker) priors(r rule) {
	for _, path := range r.Paths() {
		for _, side := range priorSides {
			if metric, ok := claimedIn(path, side); ok {
				k.unread(path, metric, k.of(side))
			}
		}
	}
}

// unread says why a prior is never read: what is claimed is of another workload,
// or was not kept, or is of nobody here.
func (k *checker) unread(path, metric string, of []string) {
	who, unkept, elsewhere := strings.Join(of, ", "), false, []string{}
	for _, s := range k.campaign.Research.Sources {
		for _, c := range s.Claims {
			switch {
			case c.Metric != metric || !slices.Contains(of, c.Candidate):
			case c.Workload != "" && c.Workload != k.guard.On:
				elsewhere = append(elsewhere, c.Workload)
			case s.Snapshot == nil:
				unkept = true
			default:
				return
			}
		}
	}
	slices.Sort(elsewhere)
	switch {
	case unkept:
		k.add("rule", "%s: no source with a snapshot claims it of %s; save what the source said and name it as snapshot", path, who)
	case len(elsewhere) > 0:
		k.add("rule", "%s: it is claimed of %s for workload %s only, and the guard looks at %s; put the guard on that workload, or claim it for %s where the source says so",
			path, who, strings.Join(slices.Compact(elsewhere), " and "), k.guard.On, k.guard.On)
	default:
		k.add("rule", "%s: no source claims it of %s; name a candidate of which one does, or add the claim", path, who)
	}
}

// of are the candidates that a side of the guard can be.
func (k *checker) of(side string) []string {
	switch {
	case side == "baseline":
		return []string{k.campaign.Baseline()}
	case len(k.guard.Candidates) > 0:
		return k.guard.Candidates
	}
	return PolicyOf(k.campaign).Candidates
}
