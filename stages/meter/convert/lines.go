package convert

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/meter/parse"
)

// maxLine bounds a line of any of the formats.
const maxLine = 64 << 10

// lines reads text line by line.
type lines struct {
	in  *bufio.Reader
	buf []byte
	n   int  // lines read
	cut bool // the last one has no end, as if its writer had been stopped in it
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 32<<10)} }

// next returns a line without its end, or io.EOF.
func (l *lines) next() (string, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		switch {
		case len(l.buf) > maxLine:
			return "", fail(l.n+1, "longer than %d bytes", maxLine)
		case err == nil:
			l.n++
			return l.text(l.buf[:len(l.buf)-1]), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(l.buf) > 0:
			l.n++
			l.cut = true
			return l.text(l.buf), nil
		default:
			return "", err
		}
	}
}

func (l *lines) text(b []byte) string {
	s := strings.TrimSuffix(string(b), "\r")
	if l.n == 1 {
		s = strings.TrimPrefix(s, "\ufeff")
	}
	return s
}

// table reads CSV with a header.
type table struct {
	*lines
	comma  rune
	header []string
	raw    []string // the header as it is written
	ends   bool     // its lines are always ended: one that is not was cut, and half a number is none
}

// newTable reads the header: the first line that is neither empty nor a comment.
func newTable(r io.Reader) (*table, error) {
	t := &table{lines: newLines(r)}
	for {
		line, err := t.next()
		if err == io.EOF {
			return nil, fail(0, "there is no header")
		}
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		t.comma = parse.Delimiter(line)
		cells, ok := parse.Cells(line, t.comma)
		if !ok {
			return nil, fail(t.n, "its quotes do not match")
		}
		t.header, t.raw = cells, slices.Clone(cells)
		return t, nil
	}
}

// row returns the next row that is not empty, or io.EOF.
func (t *table) row() ([]string, error) {
	for {
		line, err := t.next()
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells, ok := parse.Cells(line, t.comma)
		if !ok {
			return nil, fail(t.n, "its quotes do not match")
		}
		return cells, nil
	}
}

// each hands the rows behind the header to take, which must all have its cells.
func (t *table) each(take func(row []string) error) error {
	for {
		row, err := t.row()
		switch {
		case err == io.EOF, err == nil && t.ends && t.cut:
			return nil
		case err != nil:
			return err
		case slices.Equal(row, t.raw): // what wrote it was started again
			continue
		case len(row) != len(t.header):
			return fail(t.n, "%d cells, and the header has %d", len(row), len(t.header))
		}
		if err := take(row); err != nil {
			return err
		}
	}
}

// column finds one by any of its names, -1 = it is not there.
func (t *table) column(names ...string) int {
	for i, cell := range t.header {
		for _, name := range names {
			if strings.EqualFold(cell, name) {
				return i
			}
		}
	}
	return -1
}

// moment reads a time and words what is wrong with it.
func moment(s string, o Options, line int) (int64, error) {
	at, err := parse.Stamp(s, o.Zone)
	switch {
	case errors.Is(err, parse.ErrNoZone):
		return 0, fail(line, "the time %q has no zone: say which with --utc-offset", clip(s))
	case err != nil:
		return 0, fail(line, "%q is no time", clip(s))
	}
	return at, nil
}
