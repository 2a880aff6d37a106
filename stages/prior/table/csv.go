package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// CSV reads a table with a header line, separated by commas, semicolons or tabs:
// whichever the first line has most of.
func CSV(src []byte) ([]Table, []Problem, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	r := csv.NewReader(bytes.NewReader(src))
	r.Comma = separator(src)
	if n := widest(src, r.Comma); n > 0 {
		return nil, nil, fmt.Errorf("line %d: more than %d columns, allowed %d", n, maxSeparators, maxColumns)
	}
	r.FieldsPerRecord = -1 // counted here, so that one bad row is one problem
	r.TrimLeadingSpace = r.Comma != '\t'
	head, err := r.Read()
	if err == io.EOF {
		return nil, nil, errors.New("it is empty")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("line 1: %w", bareCSV(err))
	}
	line, _ := r.FieldPos(0)
	t := Table{Line: line, Header: head}
	var problems []Problem
	for {
		cells, err := r.Read()
		if err == io.EOF {
			return []Table{t}, problems, nil
		}
		if pe, ok := errors.AsType[*csv.ParseError](err); ok {
			problems = append(problems, Problem{pe.StartLine, bareCSV(err).Error()})
			continue
		}
		if err != nil {
			return nil, problems, err
		}
		if len(t.Rows)+len(problems) > maxRows {
			return nil, nil, errRows
		}
		n, _ := r.FieldPos(0)
		if len(cells) != len(head) {
			problems = append(problems, Problem{n, fmt.Sprintf("%d fields, and the header has %d", len(cells), len(head))})
			continue
		}
		t.Rows = append(t.Rows, Line{n, cells})
	}
}

// maxSeparators is more than a line of text in quotes holds; each would cost
// memory before a field is counted.
const maxSeparators = 10_000

// widest returns the first line with more separators than that, 0 for none.
func widest(src []byte, sep rune) int {
	n := 0
	for line := range bytes.Lines(src) {
		if n++; bytes.Count(line, []byte(string(sep))) > maxSeparators {
			return n
		}
	}
	return 0
}

func bareCSV(err error) error {
	if pe, ok := errors.AsType[*csv.ParseError](err); ok {
		return pe.Err
	}
	return err
}

func separator(src []byte) rune {
	first, _, _ := strings.Cut(string(src[:min(len(src), 64<<10)]), "\n")
	best, most := ',', strings.Count(first, ",")
	for _, sep := range []rune{';', '\t'} {
		if n := strings.Count(first, string(sep)); n > most {
			best, most = sep, n
		}
	}
	return best
}
