package decide

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// Schema names the version of the decision document.
const Schema = "cupel/decision/v1"

// Policy is what a decision needs from the campaign beside its evidence.
type Policy struct {
	Campaign   string              `json:"campaign"`
	Baseline   string              `json:"baseline"`
	Candidates []string            `json:"candidates"` // all but the baseline, sorted
	Workloads  map[string]Workload `json:"workloads"`
	Decide     spec.Decide         `json:"decide"`
	Priors     []string            `json:"priors,omitempty"` // metrics that sources claim, sorted: what prior.* may name
}

// Workload is what the guards need to know of one.
type Workload struct {
	Kind  string   `json:"kind"`
	Cells []string `json:"cells,omitempty"` // of a serving workload, in order

	// Of an energy workload: the bases that it counts, and by how many °C the starts
	// of two arms may differ.
	Bases     []string `json:"bases,omitempty"`
	StartBand float64  `json:"start_band,omitempty"`
}

func workloadOf(c *spec.Campaign, name string) Workload {
	w := c.Measure[name]
	out := Workload{Kind: w.Kind, Cells: w.Results(c.Measure)}
	if w.Energy != nil {
		out.Bases, out.StartBand = w.Energy.Bases, w.Energy.StartBand
	}
	return out
}

// PolicyOf takes the policy from a campaign.
func PolicyOf(c *spec.Campaign) Policy {
	p := Policy{Campaign: c.Campaign, Baseline: c.Baseline(), Candidates: []string{}, Workloads: map[string]Workload{}, Decide: c.Decide, Priors: claimedMetrics(c)}
	for _, name := range slices.Sorted(maps.Keys(c.Candidates)) {
		if c.Candidates[name].Role != "baseline" {
			p.Candidates = append(p.Candidates, name)
		}
	}
	for name := range c.Measure {
		p.Workloads[name] = workloadOf(c, name)
	}
	if a := c.Decide.Approvals; a != nil {
		p.Decide.Approvals = &spec.Approvals{Required: a.Required} // who may sign is no part of a decision
	}
	return p
}

// Decide evaluates all guards. digest is the digest of the record's bytes.
func Decide(p Policy, r *evidence.Record, digest step.Digest) evidence.Decision {
	d := evidence.Decision{
		Schema: Schema, Campaign: p.Campaign, SpecHash: r.SpecHash, Evidence: digest,
		Candidates: []evidence.CandidateDecision{}, Next: []string{},
	}
	j := judge{policy: p, record: r}
	j.compile()
	var verdicts []evidence.Verdict
	for _, name := range slices.Sorted(slices.Values(p.Candidates)) {
		c := j.candidate(name)
		d.Candidates = append(d.Candidates, c)
		verdicts = append(verdicts, c.Verdict)
		d.Next = append(d.Next, next(p, r, c)...)
	}
	d.Verdict = Worst(verdicts...)
	if len(d.Candidates) == 0 {
		d.Next = append(d.Next, "there is no candidate beside the baseline, so there is nothing to promote")
	}
	return d
}

// judge holds what all candidates share.
type judge struct {
	policy Policy
	record *evidence.Record
	rules  map[string]rule
	broken map[string]string // guard -> why its rule cannot be evaluated
}

func (j *judge) compile() {
	j.rules, j.broken = map[string]rule{}, map[string]string{}
	for name, g := range j.policy.Decide.Guards {
		p, err := compile(j.policy.Workloads[g.On], g, j.policy.Priors)
		if err != nil {
			j.broken[name] = err.Error()
			continue
		}
		j.rules[name] = rule{p}
	}
}

func compile(w Workload, g spec.Guard, priors []string) (*guard.Program, error) {
	if w.Kind == "" {
		return nil, fmt.Errorf("there is no workload %q", g.On)
	}
	env, err := envFor(w.Kind, priors)
	if err != nil {
		return nil, err
	}
	p, err := env.Compile(g.Rule)
	if err != nil {
		return nil, err
	}
	return p, w.counts(rule{p})
}

func (j *judge) candidate(name string) evidence.CandidateDecision {
	d := evidence.CandidateDecision{Candidate: name, Guards: []evidence.GuardResult{}}
	if why := j.refused(name); why != "" {
		d.Verdict, d.Label, d.Why = evidence.Fail, Rejected, why
		return d
	}
	var verdicts []evidence.Verdict
	for _, g := range slices.Sorted(maps.Keys(j.policy.Decide.Guards)) {
		if only := j.policy.Decide.Guards[g].Candidates; len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		if j.warns(g) {
			d.Priors = append(d.Priors, j.guard(name, g)...)
			continue
		}
		for _, r := range j.guard(name, g) {
			d.Guards = append(d.Guards, r)
			verdicts = append(verdicts, r.Verdict)
		}
	}
	d.Verdict = Worst(verdicts...)
	d.Label = LabelFor(d.Verdict)
	d.Why = summary(d)
	d.Worst = j.worstStratum(d)
	return d
}

// refused says why a candidate was not measured, "" when it was.
func (j *judge) refused(name string) string {
	c, ok := j.record.Candidates[name]
	if !ok {
		return ""
	}
	if c.Preflight != nil && !c.Preflight.Passed {
		for _, check := range c.Preflight.Checks {
			if !check.Passed {
				return fmt.Sprintf("refused by the preflight check %s: %s", check.Name, check.Reason)
			}
		}
		return "refused by its preflight"
	}
	if c.Stopped != "" {
		return "stopped: " + c.Stopped
	}
	return ""
}

// guard evaluates one guard: one result per stratum or cell, at least one.
func (j *judge) guard(candidate, name string) []evidence.GuardResult {
	g := j.policy.Decide.Guards[name]
	blank := evidence.GuardResult{Guard: name, On: g.On, Rule: g.Rule, Explain: g.Rule}
	var out []evidence.GuardResult
	switch {
	case j.broken[name] != "":
		blank.Verdict, blank.Reason = evidence.Error, j.broken[name]
		return []evidence.GuardResult{blank}
	case serving(j.policy.Workloads[g.On].Kind):
		out = j.cells(candidate, g, blank)
	default:
		out = j.strata(candidate, g, blank)
	}
	if len(out) == 0 {
		blank.Verdict, blank.Reason = evidence.Undetermined, "there is nothing to evaluate it on"
		return []evidence.GuardResult{blank}
	}
	return out
}
