package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/store"
	"github.com/cupel-dev/cupel/stages/decide"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// spread is what is known of the differences in one stratum.
type spread struct {
	Disagreement float64 `json:"disagreement"`
	Variance     float64 `json:"variance"`            // of one difference, clusters included
	Source       string  `json:"source"`              // assumed | given | measured | at-most (Wilson's upper limit: fewer than 10 items differed)
	Candidate    string  `json:"candidate,omitempty"` // whose comparison it is
	atLeast      int     // items without which interval auto is undefined
}

// guardNeed is one guard over one stratum.
type guardNeed struct {
	Stratum   string   `json:"stratum"` // "" is the overall set
	Bound     string   `json:"bound,omitempty"`
	Margin    float64  `json:"margin"`
	Items     int      `json:"items"`
	Spread    *spread  `json:"spread,omitempty"`
	Needed    *int     `json:"items_needed"`
	Method    string   `json:"method,omitempty"`
	MDE       *float64 `json:"mde"`
	Power     *float64 `json:"power"`     // of the gate with the items there, enumerated where that is possible
	Decidable *bool    `json:"decidable"` // nil: the rule has no sample size
	Reason    string   `json:"reason,omitempty"`
}

// guardPower is a guard over all its strata.
type guardPower struct {
	Guard    string      `json:"guard"`
	Workload string      `json:"workload"`
	Rule     string      `json:"rule"`
	Strata   []guardNeed `json:"strata"`
	// JointPower is the product over the strata, without the overall set that
	// they add up to; nil when one is unknown or there are fewer than two.
	JointPower *float64 `json:"joint_power"`
}

type campaignPower struct {
	SpecHash       string       `json:"spec_hash"`
	Power          float64      `json:"power"`
	Confidence     float64      `json:"confidence"`
	TrueDifference float64      `json:"true_difference"`
	Guards         []guardPower `json:"guards"`
	Decidable      bool         `json:"decidable"`
}

func (a *app) campaignPower(path string, o powerOptions) error {
	l, err := spec.Load(path)
	if err != nil {
		return fail(exitUsage, err)
	}
	if err := refuse(l); err != nil {
		return fail(exitUsage, err)
	}
	counts, err := selectedItems(l)
	if err != nil {
		return fail(exitUsage, err)
	}
	if c := l.Campaign.Confidence(); !o.given("confidence") && c > 0 {
		o.confidence = c
	}
	measured := map[string][]evidence.Comparison{}
	if !o.given("disagreement") {
		if measured, err = a.measuredSpreads(l); err != nil {
			return err
		}
	}
	ans := campaignPower{SpecHash: l.Digest.String(), Power: o.power, Confidence: o.confidence, TrueDifference: o.truth, Guards: []guardPower{}, Decidable: true}
	for _, n := range decide.Needs(l.Campaign, counts) {
		if last := len(ans.Guards) - 1; last < 0 || ans.Guards[last].Guard != n.Guard {
			ans.Guards = append(ans.Guards, guardPower{Guard: n.Guard, Workload: n.Workload, Rule: n.Rule})
		}
		g := &ans.Guards[len(ans.Guards)-1]
		need := o.need(n, o.spreadOf(measured[n.Workload], n.Stratum))
		ans.Decidable = ans.Decidable && (need.Decidable == nil || *need.Decidable || need.Reason == needsGain)
		g.Strata = append(g.Strata, need)
	}
	for i := range ans.Guards {
		ans.Guards[i].JointPower = joint(ans.Guards[i].Strata)
	}
	code := exitOK
	if !ans.Decidable {
		code = exitUndetermined
	}
	if a.json {
		if err := a.printJSON(ans); err != nil {
			return err
		}
		return exit(code)
	}
	a.printCampaignPower(ans)
	return exit(code)
}

// measuredSpreads reads the newest comparison of each candidate and quality
// workload; none when there is no store yet.
func (a *app) measuredSpreads(l *spec.Loaded) (map[string][]evidence.Comparison, error) {
	out := map[string][]evidence.Comparison{}
	if _, err := os.Stat(cmp.Or(a.storeDir, filepath.Join(l.Dir, ".cupel"))); err != nil {
		return out, nil
	}
	s, err := a.store(&campaign{loaded: l}, store.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for _, workload := range slices.Sorted(maps.Keys(l.Campaign.Measure)) {
		for _, cand := range slices.Sorted(maps.Keys(l.Campaign.Candidates)) {
			rec, ok := newest(s, evidence.CompareStep(cand, workload))
			if !ok {
				continue
			}
			file, ok := rec.Output(evidence.OutComparison)
			if !ok {
				continue
			}
			var c evidence.Comparison
			if err := readDoc(s, file.Digest, &c); err != nil {
				return nil, fail(exitOutside, err)
			}
			if c.Baseline == l.Campaign.Baseline() {
				out[workload] = append(out[workload], c)
			}
		}
	}
	return out, nil
}

// spreadOf takes the candidate that differs most, which needs most items.
func (o powerOptions) spreadOf(measured []evidence.Comparison, stratum string) spread {
	assumed := spread{Disagreement: o.disagreement, Variance: o.disagreement, Source: "assumed"}
	if o.given("disagreement") {
		assumed.Source = "given"
	}
	found := spread{}
	for _, c := range measured {
		s, ok := c.Stats.Overall, true
		if stratum != "" {
			s, ok = c.Stats.Strata[stratum]
		}
		if ok {
			if m, ok := spreadFrom(s, c.Candidate); ok && m.Variance > found.Variance {
				found = m
			}
		}
	}
	if found.Source == "" {
		return assumed
	}
	return found
}

// spreadFrom reads a summary. Few differences are weak evidence for few
// differences, so below 10 Wilson's upper limit stands in.
func spreadFrom(s stats.Summary, candidate string) (spread, bool) {
	moved := s.Discordant.B + s.Discordant.C
	plain := s.Binary && s.Clusters == nil
	switch {
	case s.N == 0 || s.Disagreement.Rate == nil || s.Disagreement.Hi == nil:
		return spread{}, false
	case plain && moved < stats.MinDifferences:
		return spread{Disagreement: *s.Disagreement.Hi, Variance: *s.Disagreement.Hi, Source: "at-most", Candidate: candidate}, true
	case plain:
		return spread{Disagreement: *s.Disagreement.Rate, Variance: *s.Disagreement.Rate, Source: "measured", Candidate: candidate}, true
	case s.SE == nil || moved < stats.MinDifferences:
		return spread{}, false
	}
	m := spread{Disagreement: *s.Disagreement.Rate, Variance: float64(s.N) * *s.SE * *s.SE, Source: "measured", Candidate: candidate}
	if !s.Binary {
		m.atLeast = max(stats.MinItems, int(float64(stats.MinDifferences)/m.Disagreement)+1)
	}
	return m, m.Variance > 0
}

// Reasons of a need.
const (
	needsGain    = "needs-a-true-gain" // the limit is at or above the true difference
	noSampleSize = "no-sample-size"    // the rule compares no limit of an interval with a number
	noItems      = "no-items"
	lowPower     = "power-below-asked" // enough items by the method, but the gate itself passes less often
)

func (o powerOptions) need(n decide.Need, s spread) guardNeed {
	out := guardNeed{Stratum: n.Stratum, Bound: n.Bound, Margin: n.Margin, Items: n.Items}
	if n.Bound == "" {
		out.Reason = noSampleSize
		return out
	}
	out.Spread = &s
	d := powerDesign{n.Margin, o.truth, s.Disagreement, s.Variance, o.confidence, o.power}
	out.Method = o.method
	items, why := d.size(out.Method)
	if why == "not-independent-binary" || why == "more-than-disagreement" {
		out.Method = methodNormal
		items, why = d.size(out.Method)
	}
	decidable := why == "" && n.Items >= max(items, s.atLeast)
	out.Decidable, out.Reason = &decidable, why
	if n.Items > 0 {
		mde := d.mde(n.Items)
		out.MDE, out.Power = &mde, d.at(methodGate, n.Items)
		if out.Power == nil {
			out.Power = d.at(methodNormal, n.Items)
		}
	}
	if decidable && out.Power != nil && *out.Power < o.power*(1-1e-9) {
		decidable, out.Reason = false, lowPower
	}
	switch {
	case !(n.Margin+o.truth > 0):
		out.Reason = needsGain
	case why == "":
		items = max(items, s.atLeast)
		out.Needed = &items
		if n.Items == 0 {
			out.Reason = noItems
		}
	}
	return out
}

func joint(needs []guardNeed) *float64 {
	p, n := 1.0, 0
	for _, s := range needs {
		if s.Stratum == "" {
			continue
		}
		if s.Power == nil {
			return nil
		}
		p *= *s.Power
		n++
	}
	if n < 2 {
		return nil
	}
	return &p
}

func (a *app) printCampaignPower(ans campaignPower) {
	p := a.colors()
	a.printf("power %.4g %%, confidence %.4g %%, true difference %v\n", 100*ans.Power, 100*ans.Confidence, ans.TrueDifference)
	for _, g := range ans.Guards {
		a.printf("\n%s  %s  on %s\n", p.bold(g.Guard), g.Rule, g.Workload)
		w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
		fmt.Fprintln(w, "  stratum\titems\tdiffer\tneeded\tMDE\tpower\tverdict")
		for _, s := range g.Strata {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", cmp.Or(s.Stratum, "overall"), metric.Thousands(s.Items), s.differ(), s.needed(), s.points(), chanceOf(s.Power), s.verdict(p))
		}
		w.Flush()
		if g.JointPower != nil {
			a.printf("  all strata together: %s\n", chanceOf(g.JointPower))
		}
	}
	if len(ans.Guards) == 0 {
		a.printf("no guard on a quality workload\n")
	}
}

func (n guardNeed) differ() string {
	if n.Spread == nil {
		return "-"
	}
	text := fmt.Sprintf("%.3g %% %s", 100*n.Spread.Disagreement, n.Spread.Source)
	if n.Spread.Candidate != "" {
		text += " (" + n.Spread.Candidate + ")"
	}
	return text
}

func (n guardNeed) needed() string {
	if n.Needed == nil {
		return "-"
	}
	return metric.Thousands(*n.Needed)
}

func (n guardNeed) points() string {
	if n.MDE == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f points", 100**n.MDE)
}

func (n guardNeed) verdict(p painter) string {
	switch {
	case n.Decidable == nil:
		return "no sample size: it names no limit of an interval"
	case n.Reason == needsGain:
		return p.yellow("passes only a candidate that is truly better than the limit")
	case *n.Decidable:
		return p.green("can be decided")
	case n.Reason == lowPower:
		return p.yellow("enough items by " + n.Method + ", but the power is below what was asked for")
	case n.Reason != "" && n.Reason != noItems:
		return p.yellow("cannot be decided: " + n.Reason)
	}
	return p.yellow("too few items: probably undetermined")
}
