package publish

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// pinView holds the candidates' pins side by side.
type pinView struct {
	Names   []string
	Rows    []pinRow
	Missing []string // candidates that were not observed
}

type pinRow struct {
	Name    string
	Differs bool // some candidate differs from the baseline
	Cells   []pinCell
	By      string // the pages that told it, "" = none did
}

type pinCell struct {
	Short, Full string
	State       string // equal | differs | declared-only | observed-only | unknown | ""
	By          string // the page that told it
	Differs     bool   // from the baseline
}

// samplingFields are shown beside the pins: they are declared and sent with
// every request, so no endpoint speaks of them.
func samplingFields(d spec.Candidate) []evidence.PinField {
	s := d.Sampling
	text := fmt.Sprintf("temperature=%v topP=%v seed=%d maxTokens=%d", s.Temperature, s.TopP, s.Seed, s.MaxTokens)
	if len(s.Stop) > 0 {
		text += " stop=" + strconv.Itoa(len(s.Stop)) + " texts"
	}
	prompt := "none"
	if d.SystemPrompt != "" {
		prompt = "sha256 " + step.Sum([]byte(d.SystemPrompt)).String()
	}
	return []evidence.PinField{
		{Name: "sampling", Declared: text, State: "declared-only"},
		{Name: "systemPrompt", Declared: prompt, State: "declared-only"},
	}
}

func (m pageMaker) pins() pinView {
	var v pinView
	var columns []map[string]pinCell
	var order []string
	seen := map[string]bool{}
	for _, name := range m.names {
		pin := m.rec.Candidates[name].Pin
		if pin == nil {
			v.Missing = append(v.Missing, name)
			continue
		}
		v.Names = append(v.Names, name)
		column := map[string]pinCell{}
		for _, f := range append(append([]evidence.PinField(nil), pin.Fields...), append(samplingFields(pin.Declared), deviceFields(m.rec.Candidates[name])...)...) {
			column[f.Name] = pinCellOf(f)
			if !seen[f.Name] {
				seen[f.Name], order = true, append(order, f.Name)
			}
		}
		columns = append(columns, column)
	}
	hasBase := len(v.Names) > 0 && v.Names[0] == m.rec.Baseline
	for _, name := range order {
		row := pinRow{Name: name}
		for i, column := range columns {
			cell, ok := column[name]
			if !ok {
				cell = pinCell{Short: none, Full: none}
			}
			cell.Differs = hasBase && i > 0 && cell.Full != columns[0][name].Full
			row.Differs = row.Differs || cell.Differs
			row.Cells = append(row.Cells, cell)
		}
		row.By = toldBy(row.Cells)
		v.Rows = append(v.Rows, row)
	}
	return v
}

// toldBy lists the pages that told a pin, which differ where engines do.
func toldBy(cells []pinCell) string {
	var by []string
	for _, c := range cells {
		if c.By != "" && !slices.Contains(by, c.By) {
			by = append(by, c.By)
		}
	}
	return strings.Join(by, "; ")
}

// pinCellOf prefers what was observed. Where the two were written differently
// and taken for the same, the declaration is shown as well.
func pinCellOf(f evidence.PinField) pinCell {
	value := f.Observed
	switch {
	case f.State == "unknown" && f.Declared != "" && f.Observed != "":
		value = "declared " + f.Declared + ", observed " + f.Observed + " (not comparable)"
	case f.State == "unknown" || f.Declared == "" && f.Observed == "":
		value = "unknown"
	case f.Observed == "":
		value = f.Declared
	case f.Declared != "" && f.State == "differs":
		value = "declared " + f.Declared + ", observed " + f.Observed
	}
	return pinCell{Short: shorten(value), Full: value, State: f.State, By: f.By}
}

// shorten cuts digests to 12 digits wherever they stand in a text.
func shorten(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return !isHex(r) })
	for _, w := range words {
		if len(w) == 40 || len(w) == 64 {
			s = strings.ReplaceAll(s, w, w[:12]+"…")
		}
	}
	return s
}

func isHex(r rune) bool { return '0' <= r && r <= '9' || 'a' <= r && r <= 'f' }
