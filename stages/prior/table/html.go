package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// HTML reads every table of a saved page from its tokens; no tree is built, so
// nesting costs nothing. Cells that span rows or columns stand in each of them. A
// header of several rows is joined by column. A table inside of a cell is not
// read.
func HTML(src []byte) ([]Table, []Problem, error) {
	r := &htmlReader{z: html.NewTokenizer(bytes.NewReader(src)), line: 1}
	for {
		at := r.line
		kind := r.z.Next()
		r.line += bytes.Count(r.z.Raw(), []byte("\n"))
		if kind == html.ErrorToken {
			break
		}
		if r.token(kind, at); len(r.grid.rows) > maxRows {
			return nil, nil, errRows
		}
	}
	if err := r.z.Err(); !errors.Is(err, io.EOF) {
		return nil, r.problems, err
	}
	if r.depth > 0 {
		r.problems = append(r.problems, Problem{r.grid.line, "the table is not closed"})
		r.close()
	}
	return r.tables, r.problems, nil
}

type htmlReader struct {
	z        *html.Tokenizer
	line     int
	tables   []Table
	problems []Problem
	caption  string
	capture  *strings.Builder // of a heading or caption; nil = none is open
	skip     atom.Atom        // script or style that is open
	depth    int              // tables that are open
	grid     grid
}

func (r *htmlReader) token(kind html.TokenType, line int) {
	switch kind {
	case html.TextToken:
		r.text(string(r.z.Text()))
	case html.StartTagToken, html.SelfClosingTagToken:
		name, more := r.z.TagName()
		r.start(atom.Lookup(name), more, line)
	case html.EndTagToken:
		name, _ := r.z.TagName()
		r.end(atom.Lookup(name))
	}
}

func (r *htmlReader) text(s string) {
	switch {
	case r.skip != 0 || r.depth > 1:
	case r.capture != nil && r.capture.Len() < maxCell:
		r.capture.WriteString(s)
	case r.capture != nil:
	case r.depth == 1:
		r.grid.text(s)
	}
}

var headings = map[atom.Atom]bool{atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Caption: true}

func (r *htmlReader) start(tag atom.Atom, attrs bool, line int) {
	switch {
	case tag == atom.Script || tag == atom.Style:
		r.skip = tag
	case tag == atom.Table:
		r.open(line)
	case r.depth > 1:
	case headings[tag] && !(r.depth == 1 && r.grid.inCell()):
		r.capture = new(strings.Builder)
	case r.depth == 0:
	case tag == atom.Tr:
		r.capture = nil // a caption that nobody closed ends here
		r.grid.row(line)
	case tag == atom.Td || tag == atom.Th:
		r.capture = nil
		cols, rows := r.spans(attrs)
		if cols > maxSpan || rows > maxSpan {
			r.problems = append(r.problems, Problem{line, fmt.Sprintf("a cell covers %d columns and %d rows, and %d is the most that is read", cols, rows, maxSpan)})
		}
		r.grid.cell(tag == atom.Th, min(cols, maxSpan), min(rows, maxSpan), line)
	case tag == atom.Sup:
		r.grid.text("^") // 10^3, and a footnote's mark is not a digit of the number
	case tag == atom.Br || tag == atom.P || tag == atom.Div || tag == atom.Li:
		r.grid.text(" ")
	}
}

func (r *htmlReader) end(tag atom.Atom) {
	switch {
	case tag == r.skip && tag != 0:
		r.skip = 0
	case tag == atom.Table && r.depth > 0:
		if r.depth--; r.depth == 0 {
			r.close()
		}
	case headings[tag] && r.capture != nil:
		r.caption, r.capture = clean(r.capture.String()), nil
		if r.depth == 1 {
			r.grid.caption = r.caption
		}
	case r.depth == 1 && (tag == atom.Td || tag == atom.Th):
		r.grid.endCell()
	case r.depth == 1 && tag == atom.Tr:
		r.grid.endRow()
	}
}

func (r *htmlReader) open(line int) {
	if r.depth++; r.depth == 1 {
		r.capture = nil
		r.grid = grid{line: line, caption: r.caption}
		return
	}
	if r.depth == 2 {
		r.problems = append(r.problems, Problem{line, "a table inside of a cell is not read"})
	}
}

func (r *htmlReader) close() {
	r.depth, r.capture = 0, nil
	if t, ok := r.grid.table(); ok {
		r.tables = append(r.tables, t)
	}
	if r.grid.cut > 0 {
		r.problems = append(r.problems, Problem{r.grid.line, fmt.Sprintf("%d cell(s) stand beyond column %d and are not read", r.grid.cut, maxColumns)})
	}
}

// spans reads colspan and rowspan, at least 1.
func (r *htmlReader) spans(more bool) (cols, rows int) {
	cols, rows = 1, 1
	for more {
		var key, val []byte
		key, val, more = r.z.TagAttr()
		n, err := strconv.Atoi(strings.TrimSpace(string(val)))
		if err != nil || n < 1 {
			continue
		}
		switch string(key) {
		case "colspan":
			cols = n
		case "rowspan":
			rows = n
		}
	}
	return cols, rows
}

// clean collapses white space, which HTML does not keep, and drops what is not
// valid UTF-8.
func clean(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.ToValidUTF8(s[:min(len(s), maxCell)], "\ufffd")
}
