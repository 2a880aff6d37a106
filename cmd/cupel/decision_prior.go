package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/publish"
)

// printPriors prints the guards that read a prior. They are in no verdict, so
// they stand apart and say so.
func (a *app) printPriors(p painter, guards []evidence.GuardResult) {
	for _, g := range guards {
		a.printf("  %s %s, %s: %s: %s\n", p.yellow("warning prior"), g.Guard, place(g), publish.Outcome(g), priorOutcome(g))
		for _, w := range g.Warnings {
			if said, ok := strings.CutPrefix(w, "prior: "); ok {
				a.printf("    %s\n", printable(said))
			}
		}
	}
}

func priorOutcome(g evidence.GuardResult) string {
	s := outcome(g)
	if !strings.Contains(s, g.Rule) {
		s = g.Rule + "; " + s
	}
	return s
}

// printResearch shows claims beside what was measured of them.
func (a *app) printResearch(rec *evidence.Record) {
	if rec.Research == nil || len(rec.Research.Sources) == 0 {
		return
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\nresearch\tkind\tpublished\tage\trole")
	for _, s := range rec.Research.Sources {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", printable(s.ID), printable(s.Kind), orDash(s.PublishedOn), ageOf(s.AgeDays, s.Age), s.Role)
	}
	w.Flush()
	a.printClaims(rec.Research)
}

func (a *app) printClaims(r *evidence.Research) {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	head := "\nclaim\tcandidate\tsource\tclaimed\tat\tmeasured\tdelta\tnote\n"
	for _, s := range r.Sources {
		for _, c := range s.Claims {
			for _, m := range c.Measured {
				fmt.Fprint(w, head)
				for _, cell := range []string{m.Metric, c.Candidate, s.ID, withUnit(&c.Value, c.Unit), claimPlace(m), withUnit(m.Value, m.Unit), percentOf(m.DeltaPct)} {
					fmt.Fprint(w, printable(cell), "\t")
				}
				fmt.Fprintln(w, printable(strings.Trim(m.Reason+", "+m.Doubt, ", ")))
				head = ""
			}
		}
	}
	w.Flush()
}

func claimPlace(m evidence.ClaimMeasured) string {
	switch {
	case m.Declared:
		return "pin, declared"
	case m.Workload == "":
		return "pin"
	}
	return strings.TrimSpace(m.Workload + " " + m.Cell)
}

// withUnit is a dash for a value that is not known: there is no unit of it.
func withUnit(v *float64, unit string) string {
	if v == nil {
		return "-"
	}
	return strings.TrimSpace(number(v, "%.6g") + " " + unit)
}

func percentOf(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", *v)
}

func ageOf(days *int, class string) string {
	if days == nil {
		return class
	}
	return fmt.Sprintf("%s, %d d", class, *days)
}
