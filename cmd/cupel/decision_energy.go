package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/publish"
)

// printEnergy shows the energies of every workload that measured them, of the whole
// cell, and the codes that occur in words.
func (a *app) printEnergy(rec *evidence.Record) {
	for _, t := range publish.EnergyTables(rec) {
		w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
		fmt.Fprintf(w, "\nenergy of %s\tcandidate\tbase\t%s\tlabel\t\n", t.Workload, strings.Join(t.Heads, "\t"))
		for _, r := range t.Rows {
			fmt.Fprintln(w, strings.Join(r, "\t"))
		}
		w.Flush()
		if len(t.Rows) > 0 {
			a.printf("  of whole cells; there is no interval\n")
		}
		for _, r := range t.Reasons {
			a.printf("  %s\n", r)
		}
		for _, d := range t.Doubts[:min(len(t.Doubts), mostDoubts)] {
			a.printf("  %s\n", d)
		}
		if more := len(t.Doubts) - mostDoubts; more > 0 {
			a.printf("  and %d more in the finding\n", more)
		}
	}
}
