package publish

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// energyView is the energy of one workload.
type energyView struct {
	Workload string
	Trials   string
	Heads    []string // of the numbers of a row
	Rows     []energyRow
	Asiai    *extraTable // nil = no number of it has a value
	Reasons  []reasonRow
	Bases    []baseNote
	Wall     string // the declared calibration of a wall meter, "" = none is
	Plots    []energyPlots
}

type energyRow struct {
	Cell, Candidate, Base string
	Numbers               []number
	Label                 string
	Notes                 []string
}

// Remarks are the label and the notes, which have one column on a page.
func (r energyRow) Remarks() []string {
	if r.Label == "" {
		return r.Notes
	}
	return append([]string{r.Label}, r.Notes...)
}

// baseNote says what a base covers and what was read of it.
type baseNote struct{ Base, Covers, Read string }

// energyPlots are the recordings of one cell, one per candidate.
type energyPlots struct {
	Cell  string
	Plots []powerPlot
}

// energies are the workloads that measured energy.
func (m pageMaker) energies() (out []energyView) {
	seen := map[string]bool{}
	for _, c := range m.rec.Candidates {
		for wl, l := range c.Load {
			if l.Kind == energyKind || len(l.Energy) > 0 {
				seen[wl] = true
			}
		}
	}
	for _, wl := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, m.energyOf(wl))
	}
	return out
}

func (m pageMaker) energyOf(wl string) energyView {
	v := energyView{Workload: wl}
	for _, c := range energyColumns {
		v.Heads = append(v.Heads, c.Head)
	}
	for _, cell := range m.energyCells(wl) {
		for _, name := range m.names {
			if e := m.energyCell(name, wl, cell); e != nil {
				v.Rows = append(v.Rows, energyRows(name, e)...)
			}
		}
	}
	v.dropUnpriced()
	v.Trials = m.energyTrials(wl)
	v.Asiai = m.asiai(wl)
	v.Reasons = v.reasons()
	v.Bases = m.baseNotes(wl)
	v.Wall = m.wall(wl)
	v.Plots = m.powerPlots(wl)
	return v
}

// energyCells are the names of the cells, in the order of the campaign.
func (m pageMaker) energyCells(wl string) (cells []string) {
	for _, name := range m.names {
		for _, c := range m.rec.Candidates[name].Load[wl].Energy {
			if !slices.Contains(cells, c.Name) {
				cells = append(cells, c.Name)
			}
		}
	}
	return cells
}

func (m pageMaker) energyCell(name, wl, cell string) *energy.Cell {
	cells := m.rec.Candidates[name].Load[wl].Energy
	for i := range cells {
		if cells[i].Name == cell {
			return &cells[i]
		}
	}
	return nil
}

// energyRows is one row for each base.
func energyRows(name string, c *energy.Cell) (out []energyRow) {
	for i := range c.Bases {
		of := &c.Bases[i]
		whole := of.Windows[energy.Whole]
		r := energyRow{Cell: c.Name, Candidate: name, Base: of.Base, Label: whole.Label}
		for _, col := range energyColumns {
			r.Numbers = append(r.Numbers, col.of(of, &whole))
		}
		if s := c.PowerCapShare.Value; s != nil && *s > 0 {
			r.Notes = append(r.Notes, "power cap "+percent(*s))
		}
		if s := c.ThermalShare.Value; s != nil && *s > 0 {
			r.Notes = append(r.Notes, "thermal "+percent(*s))
		}
		out = append(out, r)
	}
	return out
}

// dropUnpriced takes the cost away where the campaign states no price.
func (v *energyView) dropUnpriced() {
	last := len(v.Heads) - 1
	for _, r := range v.Rows {
		if c := r.Numbers[last]; c.Reason != unpriced && c.Reason != "absent" {
			return
		}
	}
	v.Heads = v.Heads[:last]
	for i := range v.Rows {
		v.Rows[i].Numbers = v.Rows[i].Numbers[:last]
	}
}

// energyTrials says how many runs a row is of.
func (m pageMaker) energyTrials(wl string) string {
	most := 0
	for _, name := range m.names {
		for _, c := range m.rec.Candidates[name].Load[wl].Energy {
			most = max(most, c.Trials)
		}
	}
	if most == 1 {
		return "Each row is of one run."
	}
	return fmt.Sprintf("Each row is of at most %s, pooled.", plural(most, "run", "runs"))
}

func (v *energyView) reasons() (out []reasonRow) {
	codes := map[string]bool{}
	for _, r := range v.Rows {
		codes[r.Label] = true
		for _, n := range r.Numbers {
			codes[n.Reason] = true
		}
	}
	if v.Asiai != nil {
		for _, r := range v.Asiai.Rows {
			for _, text := range r[3:] { // a code, or a number, which is none
				codes[text] = true
			}
		}
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if s := sentences[code]; s != "" {
			out = append(out, reasonRow{code, s})
		}
	}
	return out
}

// asiai is the table of asiai's numbers, nil when not one of them has a value.
func (m pageMaker) asiai(wl string) *extraTable {
	t := &extraTable{Title: "By the names of asiai's specification 0.5.0, " + wl, Heads: []string{"cell", "candidate", "base"}}
	for _, c := range asiaiColumns {
		t.Heads = append(t.Heads, c.Head)
	}
	any := false
	for _, cell := range m.energyCells(wl) {
		for _, name := range m.names {
			e := m.energyCell(name, wl, cell)
			if e == nil {
				continue
			}
			row := []string{cell, name, e.Asiai.Base}
			for _, c := range asiaiColumns {
				x := c.of(&e.Asiai)
				any = any || x.Value != nil
				row = append(row, textOf(valueOf(x)))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if !any {
		return nil
	}
	return t
}

// baseNotes says of each base once what it covers, and which domains were read, by
// candidate where they differ.
func (m pageMaker) baseNotes(wl string) (out []baseNote) {
	read := map[string][]string{}
	at := map[string]int{}
	for _, cell := range m.energyCells(wl) {
		for _, name := range m.names {
			e := m.energyCell(name, wl, cell)
			if e == nil {
				continue
			}
			for _, of := range e.Bases {
				if _, ok := at[of.Base]; !ok {
					at[of.Base] = len(out)
					out = append(out, baseNote{Base: of.Base, Covers: covers[of.Base]})
				}
				if text := readOf(of); text != "" && !slices.Contains(read[of.Base], text) {
					read[of.Base] = append(read[of.Base], text)
				}
			}
		}
	}
	for base, i := range at {
		out[i].Read = strings.Join(read[base], " or ")
	}
	return out
}

func readOf(of energy.Of) string {
	if len(of.Domains) == 0 {
		return ""
	}
	s := strings.Join(of.Domains, ", ")
	if of.Digest != "" {
		s += " (set " + of.Digest[:min(12, len(of.Digest))] + ")"
	}
	return s
}

// wall says what the campaign declares of a meter at the wall.
func (m pageMaker) wall(wl string) string {
	for _, name := range m.names {
		if c := m.rec.Candidates[name].Load[wl].Calibration; c != nil {
			s := fmt.Sprintf("Declared for %s: a meter at the wall reads %s W %s %s x W (R² %s, %s, %s", c.Base, quantity(c.A), sign(c.B), quantity(max(c.B, -c.B)),
				fixed(c.R2, 4), plural(c.N, "pair", "pairs"), c.Meter)
			if c.SHA256 != "" {
				s += ", pairs " + c.SHA256[:min(12, len(c.SHA256))]
			}
			return s + "). No number here is changed by it."
		}
	}
	return ""
}

func sign(x float64) string {
	if x < 0 {
		return minus
	}
	return "+"
}

// energyCaveats are what a reader should know of the energies of a candidate.
func energyCaveats(name, wl string, cells []energy.Cell) (out []caveat) {
	var short []string
	for i := range cells {
		c := &cells[i]
		for _, d := range c.Doubts {
			out = append(out, caveat{place(name, wl, c.Name), d})
		}
		for _, of := range c.Bases {
			if of.Windows[energy.Whole].Label != "" && !slices.Contains(short, c.Name) {
				short = append(short, c.Name)
			}
		}
	}
	if len(short) > 0 {
		out = append(out, caveat{place(name, wl, strings.Join(short, " ")), "indicative: the energy is of less than 600 s"})
	}
	return out
}
