// Package table reads benchmark tables that other people publish (JSON, CSV,
// Markdown, saved HTML) into typed rows. What it cannot read it lists with line
// and reason; nothing is dropped in silence.
//
// Reading has two halves: a reader turns a file into tables of texts, whatever
// its format, and [Rows] maps headers to fields and texts to values.
package table

import (
	"bytes"
	"fmt"
)

// Limits of a file, its tables and their cells.
const (
	MaxBytes   = 16 << 20
	MaxDepth   = 32 // nesting of JSON
	maxTables  = 1000
	maxColumns = 200
	maxRows    = 200_000
	maxLines   = 1_000_000
	maxCell    = 4096 // bytes
	maxSpan    = 100  // columns or rows that one HTML cell covers
)

// Table is one table of texts.
type Table struct {
	Line    int    // of its header
	Caption string // the nearest heading or caption before it
	Header  []string
	Rows    []Line
}

// Line is one row of a table.
type Line struct {
	N     int // line of the file
	Cells []string
}

// Problem is something that was not read.
type Problem struct {
	Line   int    `json:"line"` // of the file, 0 = the whole of it
	Reason string `json:"reason"`
}

// Reader turns a file into tables. Its error means that nothing of the file can
// be used; single rows that cannot are problems.
type Reader func(src []byte) ([]Table, []Problem, error)

// Formats are the readers by name.
var Formats = map[string]Reader{"json": JSON, "jsonl": JSONL, "csv": CSV, "markdown": Markdown, "html": HTML}

// FormatOf tells the format by a file name's ending, "" when it does not.
func FormatOf(ext string) string {
	switch ext {
	case ".json":
		return "json"
	case ".jsonl", ".ndjson":
		return "jsonl"
	case ".csv", ".tsv":
		return "csv"
	case ".md", ".markdown":
		return "markdown"
	case ".html", ".htm", ".xhtml":
		return "html"
	}
	return ""
}

// Read reads a file of a format within the limits: UTF-8, or UTF-16 with a byte
// order mark.
func Read(format string, src []byte) ([]Table, []Problem, error) {
	read, ok := Formats[format]
	switch {
	case !ok:
		return nil, nil, fmt.Errorf("there is no reader for %q", format)
	case len(src) > MaxBytes:
		return nil, nil, fmt.Errorf("%d bytes, allowed %d", len(src), MaxBytes)
	}
	text, err := decoded(src)
	if err != nil {
		return nil, nil, err
	}
	if bytes.Count(text, []byte("\n")) > maxLines {
		return nil, nil, fmt.Errorf("more than %d lines", maxLines)
	}
	tables, problems, err := read(text)
	if err != nil {
		return nil, problems, err
	}
	return bounded(tables, problems)
}

var errRows = fmt.Errorf("more than %d rows", maxRows)

// bounded refuses files that are far larger than what people publish.
func bounded(tables []Table, problems []Problem) ([]Table, []Problem, error) {
	rows := 0
	if len(tables) > maxTables {
		return nil, problems, fmt.Errorf("%d tables, allowed %d", len(tables), maxTables)
	}
	for _, t := range tables {
		if rows += len(t.Rows); rows > maxRows {
			return nil, problems, errRows
		}
		if len(t.Header) > maxColumns {
			return nil, problems, fmt.Errorf("line %d: %d columns, allowed %d", t.Line, len(t.Header), maxColumns)
		}
	}
	return tables, problems, nil
}
