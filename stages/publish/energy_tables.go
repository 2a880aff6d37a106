package publish

import (
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// EnergyTables are the tables of a record's energy workloads, as the finding shows
// them: cell, candidate, base, a text per head, label and notes. A number that is
// missing is its reason code. There are no intervals.
func EnergyTables(rec *evidence.Record) (out []Table) {
	m := pageMaker{rec: rec, names: candidateNames(rec)}
	for _, v := range m.energies() {
		t := Table{Workload: v.Workload, Heads: v.Heads}
		for _, r := range v.Rows {
			row := []string{r.Cell, r.Candidate, r.Base}
			for _, n := range r.Numbers {
				row = append(row, strings.ReplaceAll(textOf(n), minus, "-"))
			}
			t.Rows = append(t.Rows, append(row, r.Label, strings.Join(r.Notes, "; ")))
		}
		for _, name := range m.names {
			for _, c := range m.rec.Candidates[name].Load[v.Workload].Energy {
				for _, d := range c.Doubts {
					t.Doubts = append(t.Doubts, place(name, c.Name)+": "+d)
				}
			}
		}
		for _, r := range v.Reasons {
			t.Reasons = append(t.Reasons, r.Code+": "+r.Sentence)
		}
		out = append(out, t)
	}
	return out
}
