package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/stages/items"
)

const (
	blockSize = 256 << 10
	maxLine   = items.MaxRow
)

var errStopped = errors.New("stopped")

// Block is a run of whole lines.
type Block struct {
	First int // number of the first line, from 1
	Text  []byte
}

// Blocks cuts a file into runs of whole lines, about 256 KiB each, so that they
// can be parsed at the same time. A line longer than 64 MiB is an error.
func Blocks(r io.Reader, yield func(Block) error) error {
	line := 1
	var rest []byte
	for {
		buf := make([]byte, len(rest)+max(blockSize, len(rest))) // doubled, so that a long line is not copied for each block
		n := copy(buf, rest)
		got, err := io.ReadFull(r, buf[n:])
		buf = buf[:n+got]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return fmt.Errorf("line %d or later: %w", line, err)
		}
		cut := bytes.LastIndexByte(buf, '\n') + 1
		if last {
			cut = len(buf)
		}
		if len(buf)-cut > maxLine {
			return fmt.Errorf("line %d: the line is longer than %d MiB", line+bytes.Count(buf[:cut], newline), maxLine>>20)
		}
		if cut > 0 {
			if err := yield(Block{line, buf[:cut:cut]}); err != nil {
				return err
			}
			line += bytes.Count(buf[:cut], newline)
		}
		if last {
			return nil
		}
		rest = buf[cut:]
	}
}

var newline = []byte("\n")

// Lines is how many lines there are, or one more.
func (b Block) Lines() int { return bytes.Count(b.Text, newline) + 1 }

// each calls f with the lines of a block that are not empty.
func (b Block) each(f func(n int, line []byte) error) error {
	n, text := b.First, b.Text
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, newline)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := f(n, line); err != nil {
				return err
			}
		}
		n, text = n+1, rest
	}
	return nil
}
