package items

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
)

// MaxRow is the longest line that ReadRows takes, in bytes.
const MaxRow = 64 << 20

// errRead marks errors after which there is no next line.
var errRead = errors.New("the file cannot be read on")

// Error is a problem of one line.
type Error struct {
	Name string // file, as the user wrote it
	Line int    // from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// ReadRows reads a JSONL file of rows of type T as strictly as items are read
// (unknown fields, duplicate names, invalid UTF-8 and empty lines are errors)
// and calls f with each. An error of the file or of f comes back as an *Error
// with the line.
func ReadRows[T any](name string, r io.Reader, f func(T) error) error {
	lines := newLines(r, MaxRow)
	for {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		var row T
		if err == nil {
			err = unmarshal(line, &row)
		}
		if err == nil {
			err = f(row)
		}
		if err != nil {
			return &Error{name, lines.n, err}
		}
	}
}

func unmarshal(line []byte, v any) error {
	if err := jsonv2.Unmarshal(line, v, strict); err != nil {
		return explain(err)
	}
	return nil
}

// lines reads lines of bounded length.
type lines struct {
	r    *bufio.Reader
	most int
	buf  []byte
	n    int // number of the last line, from 1
}

func newLines(r io.Reader, most int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), most: most}
}

// next returns the next line without its end, valid until the next call, and
// io.EOF after the last. Empty lines and a byte order mark are errors.
func (l *lines) next() ([]byte, error) {
	line, err := l.read()
	switch {
	case err != nil:
		return nil, err
	case len(line) >= 3 && string(line[:3]) == "\xef\xbb\xbf":
		return nil, step.WithHint(errors.New("the line begins with a byte order mark"), "save the file as UTF-8 without one")
	case blank(line):
		return nil, step.WithHint(errors.New("the line is empty"), "delete it")
	}
	return line, nil
}

func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

func (l *lines) read() ([]byte, error) {
	l.buf = l.buf[:0]
	l.n++
	for {
		part, err := l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		switch {
		case len(l.buf) > l.most && (len(l.buf) > l.most+1 || err != nil):
			return nil, fmt.Errorf("the line is longer than %d MiB: %w", l.most>>20, errRead)
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(l.buf) > 0:
			return l.buf, nil
		case err == io.EOF:
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%w: %w", errRead, err)
		}
		return l.buf[:len(l.buf)-1], nil
	}
}
