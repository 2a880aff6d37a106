package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/publish"
)

// printDecision shows a decision as people read it: per candidate the guards
// with the values put in, then what to do.
func (a *app) printDecision(d *evidence.Decision, rec *evidence.Record) {
	p := a.colors()
	a.printf("\n%s  %s\n", p.bold(d.Campaign), rec.Question)
	a.printf("spec %s  evidence %s  baseline %s\n", d.SpecHash.Short(), d.Evidence.Short(), rec.Baseline)
	for _, c := range d.Candidates {
		a.printf("\n%s  %s  %s\n", p.bold(c.Candidate), verdictText(p, c.Verdict), c.Label)
		if len(c.Guards) == 0 {
			a.printf("  %s\n", c.Why)
		}
		a.printGuards(p, c.Guards)
		a.printPriors(p, c.Priors)
	}
	a.printResearch(rec)
	a.printPins(rec)
	a.printScores(rec)
	a.printLoad(rec)
	a.printEnergy(rec)
	a.printNoise(rec)
	a.printf("\nverdict: %s\n", strings.TrimSpace(verdictText(p, d.Verdict)))
	for _, n := range d.Next {
		a.printf("  - %s\n", n)
	}
}

// printGuards prints each rule once, and below it what it came to in each
// stratum or cell.
func (a *app) printGuards(p painter, guards []evidence.GuardResult) {
	rule := ""
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, g := range guards {
		if head := g.Guard + "  " + g.Rule; head != rule {
			rule = head
			w.Flush()
			a.printf("  %s  %s\n", p.bold(g.Guard), g.Rule)
		}
		fmt.Fprintf(w, "    %s\t%s\t%s\n", verdictText(p, g.Verdict), place(g), outcome(g))
	}
	w.Flush()
}

func place(g evidence.GuardResult) string {
	if at := g.Stratum + g.Cell; at != "" {
		return at
	}
	return "overall"
}

// outcome is the values that were put in and, when that is not a pass, why.
func outcome(g evidence.GuardResult) string {
	values := strings.TrimPrefix(g.Explain, g.Rule)
	values = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(values), "("), ")")
	switch {
	case g.Verdict == evidence.Pass || g.Verdict == evidence.Fail:
		return values
	case g.NeedItems > g.Items:
		return fmt.Sprintf("%s; about %d items would decide it, there are %d", values, g.NeedItems, g.Items)
	}
	if strings.Contains(g.Reason, " is absent: ") {
		return g.Reason // it says all that values says
	}
	return strings.TrimPrefix(values+"; "+g.Reason, "; ")
}

// verdictText is padded to one width before it is painted, so that columns
// stay straight with colours on.
func verdictText(p painter, v evidence.Verdict) string {
	text := string(v)
	if v == evidence.Fail {
		text = "FAIL"
	}
	return painted(p, v, fmt.Sprintf("%-12s", text))
}

func painted(p painter, v evidence.Verdict, text string) string {
	switch v {
	case evidence.Pass:
		return p.green(text)
	case evidence.Fail, evidence.Error:
		return p.red(text)
	}
	return p.yellow(text)
}

// printPins says what the pins show that no rule names.
func (a *app) printPins(rec *evidence.Record) {
	for i, d := range publish.PinFindings(rec) {
		if i == 0 {
			a.printf("\n")
		}
		a.printf("pins: %s\n", d.Text)
	}
}

func (a *app) printScores(rec *evidence.Record) {
	if len(rec.Comparisons) == 0 {
		return
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\nquality\tcandidate\titems\tbaseline\tcandidate\tdelta\tinterval\tmethod\tlost/won\tcut off\tsame text")
	for _, c := range rec.Comparisons {
		o := c.Stats.Overall
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d/%d\t%s\t%s\n", c.Workload, c.Candidate, o.N,
			number(o.MeanA, "%.4f"), number(o.MeanB, "%.4f"), number(o.Delta, "%+.4f"), interval(o.Lo, o.Hi), o.Method,
			o.Discordant.B, o.Discordant.C, cutOff(c), share(c.Agreement.Identical, c.Agreement.Compared))
	}
	w.Flush()
	for i := range rec.Comparisons {
		if c := &rec.Comparisons[i]; publish.Imputed(c) != "" {
			a.printf("%s, %s: %s\n", c.Workload, c.Candidate, publish.Imputed(c))
		}
	}
	if level := rec.Comparisons[0].Stats.Overall.Confidence; level > 0 && level != 0.95 {
		a.printf("intervals at %.4g %%\n", 100*level)
	}
	a.printJudged(rec)
	a.printCosts(rec)
	a.printOverrides(rec)
}

// printJudged says of each judged comparison what the judge is worth.
func (a *app) printJudged(rec *evidence.Record) {
	for i := range rec.Comparisons {
		c := &rec.Comparisons[i]
		for k, line := range publish.Judged(c) {
			if k == 0 {
				line = c.Workload + ", " + c.Candidate + ": " + line
			}
			a.printf("%s%s\n", strings.Repeat("  ", min(k, 1)), line)
		}
	}
}

// printCosts shows what answers cost, where the campaign states a price.
func (a *app) printCosts(rec *evidence.Record) {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	head := "\ncost\tcandidate\tGPUs\tbusy, s\tper 1,000 items\tper 1,000 correct\n"
	for _, name := range slices.Sorted(maps.Keys(rec.Candidates)) {
		costs := rec.Candidates[name].Costs
		for _, workload := range slices.Sorted(maps.Keys(costs)) {
			c := costs[workload]
			if c.Price == nil {
				continue
			}
			fmt.Fprint(w, head)
			head = ""
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", workload, name, c.GPUs, money(c.BusyS, ""), money(c.Per1kItems, c.Price.Currency), money(c.Per1kCorrect, c.Price.Currency))
		}
	}
	w.Flush()
}

func money(v metric.Value, unit string) string {
	if v.Value == nil {
		return v.Reason
	}
	return strings.TrimSpace(fmt.Sprintf("%.4g %s", *v.Value, unit))
}

// cutOff is the share of answers that the token limit cut, baseline/candidate.
func cutOff(c evidence.Comparison) string {
	percent := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", 100**v), "0"), ".")
	}
	return percent(c.BaselineScores.Overall.TruncationRate.Value) + "/" + percent(c.CandidateScores.Overall.TruncationRate.Value) + " %"
}

// mostDoubts bounds the sentences below a table; the finding has all of them.
const mostDoubts = 8

// printLoad shows the cells of every serving workload, and what is in doubt
// about them.
func (a *app) printLoad(rec *evidence.Record) {
	for _, t := range publish.LoadTables(rec) {
		w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
		fmt.Fprintf(w, "\n%s\tcandidate\trequests\t%s\t\n", t.Workload, strings.Join(t.Heads, "\t"))
		for _, r := range t.Rows {
			fmt.Fprintln(w, strings.Join(r, "\t"))
		}
		w.Flush()
		for _, d := range t.Doubts[:min(len(t.Doubts), mostDoubts)] {
			a.printf("  %s\n", d)
		}
		if more := len(t.Doubts) - mostDoubts; more > 0 {
			a.printf("  and %d more in the finding\n", more)
		}
	}
}

// printOverrides shows the scorer parameters that the campaign sets over the
// items' own: a wide tolerance makes any two candidates equal.
func (a *app) printOverrides(rec *evidence.Record) {
	seen := map[string]bool{}
	for _, c := range rec.Comparisons {
		if len(c.CandidateScores.Params) == 0 || seen[c.Workload] {
			continue
		}
		seen[c.Workload] = true
		if b, err := json.Marshal(c.CandidateScores.Params); err == nil {
			a.printf("scorers of %s, set by the campaign: %s\n", c.Workload, b)
		}
	}
}

func (a *app) printNoise(rec *evidence.Record) {
	for _, n := range rec.Noise {
		o := n.Stats.Overall
		a.printf("noise floor of %s on %s: %d of %d items differ, delta %s %s, same text %s\n", n.Candidate, n.Workload,
			o.Discordant.B+o.Discordant.C, o.N, number(o.Delta, "%+.4f"), interval(o.Lo, o.Hi), share(n.Agreement.Identical, n.Agreement.Compared))
	}
}

func interval(lo, hi *float64) string {
	if lo == nil || hi == nil {
		return "undefined"
	}
	return fmt.Sprintf("[%+.4f, %+.4f]", *lo, *hi)
}

func number(v *float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

func share(k, n int) string {
	if n == 0 {
		return "-"
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", 100*float64(k)/float64(n)), "0"), ".") + " %"
}

// printJSONLine writes one JSON document on one line, as events are.
func (a *app) printJSONLine(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", b)
	return err
}
