package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// tolerated is how many false passes the gate may let through for each nominal
// one: 2.9 % where 2.5 % is nominal.
const tolerated = 1.16

func (a *app) simulate(o powerOptions) error {
	s := stats.SimulateOptions{Margin: o.margin, Confidence: o.confidence, Items: o.items, Runs: o.runs, Seed: o.seed}
	if o.given("disagreement") {
		s.Disagree = []float64{o.disagreement}
	}
	if o.quick {
		if s.Items == nil {
			s.Items = []int{20, 50, 100, 200}
		}
		s.Runs = min(s.Runs, 1000)
	}
	sim, err := stats.Simulate(s)
	if err != nil {
		return fail(exitUsage, err)
	}
	worst, limit := sim.Worst(), tolerated*(1-o.confidence)/2
	code := exitOK
	if worst.P > limit+3*worst.SE {
		code = exitFailed
	}
	if a.json {
		err := a.printJSON(struct {
			stats.Simulation
			Worst stats.Share `json:"worst_false_pass"`
			Limit float64     `json:"limit"`
		}{sim, worst, limit})
		if err != nil {
			return err
		}
		return exit(code)
	}
	a.printSimulation(sim)
	verdict := "within"
	if code != exitOK {
		verdict = "above"
	}
	a.printf("\nlargest share of false passes with interval auto: %.2f %%, %s the %.2f %% allowed (nominal %.2f %%)\n", 100*worst.P, verdict, 100*limit, 50*(1-o.confidence))
	return exit(code)
}

func (a *app) printSimulation(sim stats.Simulation) {
	p := a.colors()
	a.printf("%s\n", p.bold(fmt.Sprintf("How often, in %%, `lo > -%v` passes a candidate that is truly", sim.Margin)))
	a.printf("on the limit (false passes), equal, or better by %v; confidence %.4g %%\n\n", sim.Better, 100*sim.Confidence)
	a.printf("independent 0/1 scores, exact\n")
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "items\tdiffer\tauto: limit\tequal\tbetter\tbootstrap: limit\tequal\tbetter\twith warnings: limit\tequal\tbetter\t")
	for _, c := range sim.Binary {
		fmt.Fprintf(w, "%s\t%.4g %%", metric.Thousands(c.Items), 100*c.Disagree)
		for _, o := range []stats.Opens{c.Auto, c.Bootstrap, c.Warned} {
			fmt.Fprintf(w, "\t%s\t%s\t%s", chance(o.OnLimit), chance(o.Equal), chance(o.Better))
		}
		fmt.Fprintln(w, "\t")
	}
	w.Flush()
	a.printf("\nother scores, %s drawn comparisons a cell (a fifth for equal and better), seed %d\n", metric.Thousands(sim.Runs), sim.Seed)
	for _, m := range stats.Models {
		a.printf("  %s: %s\n", m.Name, m.Means)
	}
	fmt.Fprintln(w, "scores\titems\tdiffer\tauto: limit\t(SE)\tequal\tbetter\tplain t: limit\tequal\tbetter\t")
	for _, c := range sim.Other {
		fmt.Fprintf(w, "%s\t%s\t%.4g %%\t%s\t%s", c.Scores, metric.Thousands(c.Items), 100*c.Disagree, chance(c.Auto.OnLimit), uncertainty(c.Auto.OnLimit))
		for _, s := range []*stats.Share{c.Auto.Equal, c.Auto.Better, c.T.OnLimit, c.T.Equal, c.T.Better} {
			fmt.Fprintf(w, "\t%s", chance(s))
		}
		fmt.Fprintln(w, "\t")
	}
	w.Flush()
}

// chance is a dash where no such candidate can exist.
func chance(s *stats.Share) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*s.P)
}

func uncertainty(s *stats.Share) string {
	if s == nil || s.SE == 0 {
		return ""
	}
	return fmt.Sprintf("(%.2f)", 100*s.SE)
}
