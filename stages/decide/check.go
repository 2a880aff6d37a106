package decide

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/engine/spec"
)

// CheckError is one thing that is wrong with a guard, found before anything
// runs. Offset, Line and Col count inside the rule and are set when Field is
// "rule"; Line is 0 otherwise.
type CheckError struct {
	Guard  string // "" when it concerns all guards
	Field  string // of the guard: on, strata, concurrency, candidates, rule
	Msg    string
	Offset int    // byte, from 0
	Line   int    // from 1
	Col    int    // character, from 1
	Caret  string // the line of the rule and a mark below the place
}

// Error is one sentence.
func (e CheckError) Error() string {
	switch {
	case e.Guard == "":
		return "decide.guards: " + e.Msg
	case e.Line > 0:
		return fmt.Sprintf("guard %s: rule:%d:%d: %s", e.Guard, e.Line, e.Col, e.Msg)
	}
	return fmt.Sprintf("guard %s: %s: %s", e.Guard, e.Field, e.Msg)
}

// Check type-checks all guards of a campaign, in the order of their names.
func Check(c *spec.Campaign) []CheckError {
	if len(c.Decide.Guards) == 0 {
		return []CheckError{{Msg: "there are none, and nothing passes without a guard; add one, such as {on: " + anyQuality(c) + `, rule: "lo > -0.02"}`}}
	}
	var out []CheckError
	for _, name := range slices.Sorted(maps.Keys(c.Decide.Guards)) {
		k := checker{campaign: c, name: name, guard: c.Decide.Guards[name]}
		k.check()
		out = append(out, k.errors...)
	}
	if len(out) == 0 {
		out = unguarded(c)
	}
	return out
}

// unguarded finds candidates of which no guard says anything: sanity guards on
// the baseline or the sample alone would promote whatever is served.
func unguarded(c *spec.Campaign) (out []CheckError) {
	for _, name := range PolicyOf(c).Candidates {
		looked, warned := false, ""
		for _, g := range c.Decide.Guards {
			if len(g.Candidates) > 0 && !slices.Contains(g.Candidates, name) {
				continue
			}
			p, err := compile(workloadOf(c, g.On), g, claimedMetrics(c))
			looked = looked || err == nil && (rule{p}).about()
			if err == nil && (rule{p}).readsPrior() {
				warned = " (one that reads a prior only warns)"
			}
		}
		if !looked {
			out = append(out, CheckError{Msg: fmt.Sprintf("no guard looks at candidate %s%s; name lo, candidate.mean or another of its numbers in one", name, warned)})
		}
	}
	return out
}

func anyQuality(c *spec.Campaign) string {
	for _, name := range slices.Sorted(maps.Keys(c.Measure)) {
		if c.Measure[name].Kind == "quality" {
			return name
		}
	}
	return "WORKLOAD"
}

type checker struct {
	campaign *spec.Campaign
	name     string
	guard    spec.Guard
	errors   []CheckError
}

func (k *checker) add(field, format string, args ...any) {
	k.errors = append(k.errors, CheckError{Guard: k.name, Field: field, Msg: fmt.Sprintf(format, args...)})
}

func (k *checker) check() {
	k.candidates()
	if k.guard.On == "" {
		k.add("on", "it is missing: name the workload that the guard looks at (%s); cost is that of a quality workload", k.workloads())
		return
	}
	w, ok := k.campaign.Measure[k.guard.On]
	if !ok {
		k.add("on", "there is no workload %s; there are: %s", k.guard.On, k.workloads())
		return
	}
	if _, err := envFor(w.Kind, claimedMetrics(k.campaign)); err != nil {
		k.add("on", "%s is a workload of kind %s: %v", k.guard.On, w.Kind, err)
		return
	}
	k.scope(w)
	k.rule()
}

func (k *checker) workloads() string {
	return strings.Join(slices.Sorted(maps.Keys(k.campaign.Measure)), ", ")
}

func (k *checker) candidates() {
	for _, name := range k.guard.Candidates {
		c, ok := k.campaign.Candidates[name]
		if !ok {
			k.add("candidates", "there is no candidate %s", name)
		} else if c.Role == "baseline" {
			k.add("candidates", "%s is the baseline; guards compare the others with it", name)
		}
	}
}

// scope refuses strata on cells and cells on strata.
func (k *checker) scope(w spec.Workload) {
	if w.Kind == "quality" {
		if len(k.guard.Concurrency) > 0 {
			k.add("concurrency", "%s is a quality workload and has no cells; leave it out", k.guard.On)
		}
		if len(k.guard.Cells) > 0 {
			k.add("cells", "%s is a quality workload and has no cells; leave it out", k.guard.On)
		}
		return
	}
	if k.guard.Strata != "" {
		k.add("strata", "%s is a %s workload and has no strata; leave it out, or choose cells by concurrency or by name", k.guard.On, w.Kind)
	}
	have := w.Results(k.campaign.Measure)
	for _, n := range k.guard.Concurrency {
		if !slices.Contains(have, spec.ConcurrencyCell(n)) {
			k.add("concurrency", "%s does not measure concurrency %d", k.guard.On, n)
		}
	}
	for _, c := range k.guard.Cells {
		if !slices.Contains(have, c) {
			k.add("cells", "%s has no cell %q; it has %s", k.guard.On, c, strings.Join(have, ", "))
		}
	}
}

func (k *checker) rule() {
	p, err := compile(workloadOf(k.campaign, k.guard.On), k.guard, claimedMetrics(k.campaign))
	var ce *guard.CompileError
	if errors.As(err, &ce) {
		for _, p := range ce.Problems {
			k.errors = append(k.errors, CheckError{
				Guard: k.name, Field: "rule", Msg: p.Sentence(),
				Offset: p.Offset, Line: p.Line, Col: p.Col, Caret: ce.Caret(p),
			})
		}
		return
	}
	if err != nil {
		k.add("rule", "%v", err)
		return
	}
	if (rule{p}).constant(k.campaign.Measure[k.guard.On].Kind) {
		k.add("rule", "it holds whatever is measured, so it guards nothing")
	}
	k.never(rule{p})
	k.priors(rule{p})
	if (rule{p}).names("noise") && !k.hasFloor() {
		k.add("rule", "it names noise, and no workload measures the noise floor of %s; add one: {kind: noise-floor, candidate: %s, suite: %s}",
			k.guard.On, k.campaign.Baseline(), k.guard.On)
	}
}

func (k *checker) hasFloor() bool {
	for _, w := range k.campaign.Measure {
		if f := w.NoiseFloor; f != nil && f.Suite == k.guard.On && f.Candidate == k.campaign.Baseline() {
			return true
		}
	}
	return false
}
