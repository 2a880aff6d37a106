package publish

import (
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// Table is one serving workload's cells as text. A row begins with the cell,
// the candidate and its requests, has a text per head, and ends with notes.
type Table struct {
	Workload string
	Heads    []string
	Rows     [][]string
	Doubts   []string // what a reader should know of the cells, by candidate and cell
	Reasons  []string // codes of the table in words; of energy alone
}

// LoadTables are the tables of a record's serving workloads, as the finding
// shows them. A number that is missing is its reason code.
func LoadTables(rec *evidence.Record) (out []Table) {
	m := pageMaker{rec: rec, names: candidateNames(rec)}
	for _, v := range m.load() {
		t := Table{Workload: v.Workload, Heads: v.Heads}
		for _, g := range v.Groups {
			for _, r := range g.Rows {
				row := []string{g.Cell, r.Candidate, r.Requests}
				for _, n := range r.Numbers {
					text := n.Text
					if n.Reason != "" {
						text = n.Reason
					}
					row = append(row, strings.ReplaceAll(text, minus, "-"))
				}
				notes := slices.DeleteFunc(slices.Clone(r.Notes), func(s string) bool { return s == "descriptive-only" })
				t.Rows = append(t.Rows, append(row, strings.Join(notes, "; ")))
				for _, d := range r.cell.Doubts {
					t.Doubts = append(t.Doubts, place(r.Candidate, g.Cell)+": "+d)
				}
			}
		}
		out = append(out, t)
	}
	return out
}
