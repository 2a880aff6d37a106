package table

import "strings"

// grid lays out the cells of one HTML table.
type grid struct {
	line    int
	caption string
	rows    []gridRow
	open    *gridCell
	buf     strings.Builder
	inRow   bool
	carry   []gridCell // by column: cells of earlier rows that reach down
	cut     int        // cells beyond the last column that is read
	cells   int
}

type gridRow struct {
	line   int
	cells  []string
	header bool // th only
	filled bool
}

type gridCell struct {
	text       string
	header     bool
	cols, down int
}

// maxCells bounds what spans can make of a small page.
const maxCells = 2_000_000

func (g *grid) inCell() bool { return g.open != nil }

func (g *grid) text(s string) {
	if g.open != nil && g.buf.Len() < maxCell {
		g.buf.WriteString(s[:min(len(s), maxCell)])
	}
}

func (g *grid) row(line int) {
	g.endRow()
	g.inRow = true
	g.rows = append(g.rows, gridRow{line: line, header: true})
}

func (g *grid) cell(header bool, cols, rows, line int) {
	g.endCell()
	if !g.inRow {
		g.row(line) // a cell without a row opens one
	}
	g.open = &gridCell{header: header, cols: cols, down: rows - 1}
}

func (g *grid) endCell() {
	if g.open == nil {
		return
	}
	c := *g.open
	c.text = clean(g.buf.String())
	g.open = nil
	g.buf.Reset()
	g.reachDown()
	r := &g.rows[len(g.rows)-1]
	r.header = r.header && c.header
	r.filled = true
	for range c.cols {
		g.put(r, c)
	}
}

// reachDown fills the columns that cells of earlier rows cover.
func (g *grid) reachDown() {
	r := &g.rows[len(g.rows)-1]
	for at := len(r.cells); at < len(g.carry) && g.carry[at].down > 0; at = len(r.cells) {
		c := g.carry[at]
		c.down--
		g.put(r, c)
	}
}

func (g *grid) put(r *gridRow, c gridCell) {
	at := len(r.cells)
	if at >= maxColumns || g.cells >= maxCells {
		g.cut++
		return
	}
	g.cells++
	for len(g.carry) <= at {
		g.carry = append(g.carry, gridCell{})
	}
	g.carry[at] = c
	r.cells = append(r.cells, c.text)
}

func (g *grid) endRow() {
	g.endCell()
	if !g.inRow {
		return
	}
	g.reachDown()
	for at := len(g.rows[len(g.rows)-1].cells); at < len(g.carry); at++ {
		g.carry[at].down = 0
	}
	g.inRow = false
}

// table takes the leading rows of th as the header; without any, the first row.
func (g *grid) table() (Table, bool) {
	g.endRow()
	t := Table{Line: g.line, Caption: g.caption}
	heads := 0
	for heads < len(g.rows) && g.rows[heads].header && g.rows[heads].filled {
		heads++
	}
	if heads == len(g.rows) && heads > 1 {
		heads = 1 // a table of th only
	}
	heads = max(heads, 1)
	for i, r := range g.rows {
		switch {
		case !r.filled && len(r.cells) == 0:
		case i < heads:
			t.Header = stack(t.Header, r.cells)
		default:
			t.Rows = append(t.Rows, Line{r.line, r.cells})
		}
	}
	return t, len(t.Header) > 0
}

// stack joins a header's rows by column; what spans both stands once.
func stack(header, row []string) []string {
	for i, c := range row {
		switch {
		case i >= len(header):
			header = append(header, c)
		case header[i] != c:
			header[i] = strings.TrimSpace(header[i] + " " + c)
		}
	}
	return header
}
