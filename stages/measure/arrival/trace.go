package arrival

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// Bounds of a trace.
const (
	MaxRows   = 1_000_000
	MaxTokens = 1 << 24 // of one prompt or answer
	MaxSpan   = 366 * 24 * time.Hour

	maxTraceBytes = 256 << 20
	maxLineBytes  = 1 << 20
)

// TraceRow is one recorded request.
type TraceRow struct {
	At     time.Duration // since the trace's first row
	Prompt int           // tokens
	Output int           // tokens

	// Prefix lists the ids of the prompt's blocks, in order and separated by
	// spaces; "" = not recorded. Two prompts begin alike as far as their lists
	// do. Mooncake's blocks are 512 tokens long.
	Prefix string
}

// ReadTrace reads a trace: either a CSV whose header names the columns
// TIMESTAMP, ContextTokens and GeneratedTokens (Azure), or JSON lines with
// timestamp in ms, input_length, output_length and optionally hash_ids
// (Mooncake). The first line tells which. Blank lines are skipped; other
// columns and members are ignored. Rows must be in order of time: sorting them
// here would hide that a file was put together wrongly.
//
// At most MaxRows rows and 256 MiB are read; the error names the line.
func ReadTrace(r io.Reader) ([]TraceRow, error) {
	t := &traceReader{lines: bufio.NewScanner(&bounded{r: r, left: maxTraceBytes})}
	t.lines.Buffer(nil, maxLineBytes)
	for t.lines.Scan() {
		t.line++
		if err := t.read(bytes.TrimSpace(t.lines.Bytes())); err != nil {
			return nil, fmt.Errorf("trace line %d: %w", t.line, err)
		}
	}
	if err := t.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("trace line %d: longer than %d bytes", t.line+1, maxLineBytes)
	} else if err != nil {
		return nil, fmt.Errorf("trace line %d: %w", t.line+1, err)
	}
	if len(t.rows) == 0 {
		return nil, errors.New("trace: has no rows: it needs a CSV header with TIMESTAMP,ContextTokens,GeneratedTokens and rows, or JSON lines")
	}
	return t.rows, nil
}

// parser reads one row; at is in nanoseconds since some instant.
type parser func(line []byte) (row TraceRow, at int64, err error)

type traceReader struct {
	lines       *bufio.Scanner
	line        int
	parse       parser // nil until the first line
	rows        []TraceRow
	first, last int64 // ns
}

func (t *traceReader) read(line []byte) (err error) {
	if t.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	switch {
	case len(line) == 0:
		return nil
	case t.parse != nil:
		return t.row(line)
	case line[0] == '{':
		t.parse = mooncakeRow
		return t.row(line)
	}
	t.parse, err = azureRows(line)
	return err
}

func (t *traceReader) row(line []byte) error {
	if len(t.rows) == MaxRows {
		return fmt.Errorf("more than %d rows: keep the part that is to be replayed", MaxRows)
	}
	row, at, err := t.parse(line)
	if err != nil {
		return err
	}
	if len(t.rows) == 0 {
		t.first, t.last = at, at
	}
	if at < t.last {
		return fmt.Errorf("is %v earlier than the row before it: sort the rows by time", time.Duration(t.last-at))
	}
	row.At = time.Duration(at - t.first)
	if row.At > MaxSpan {
		return fmt.Errorf("is %v after the first row, allowed are %v: check its time", row.At, MaxSpan)
	}
	t.last = at
	t.rows = append(t.rows, row)
	return nil
}

// tokens checks a count; name is the column's.
func tokens(name string, n int64) (int, error) {
	if n < 0 || n > MaxTokens {
		return 0, fmt.Errorf("%s %d: want a whole number from 0 to %d", name, n, MaxTokens)
	}
	return int(n), nil
}

// bounded fails where io.LimitReader would pretend that the input had ended.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the file is larger than %d MiB: keep the part that is to be replayed", maxTraceBytes>>20)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// clip keeps a message short whatever stands in the file.
func clip(b []byte) string {
	if len(b) > 40 {
		return string(b[:40]) + "..."
	}
	return string(b)
}
