package trace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
)

// Writer writes a trace. It belongs to one goroutine. The first error stays, and
// every later call returns it.
type Writer struct {
	w   *bufio.Writer
	buf []byte
	err error
}

// NewWriter writes the header. Schema is filled in.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	h.Schema = Schema
	if h.Devices == nil {
		h.Devices = []Device{}
	}
	if h.Channels == nil {
		h.Channels = []Channel{}
	}
	out := &Writer{w: bufio.NewWriterSize(w, 32<<10)}
	return out, out.json(h)
}

// Sample notes a reading; code is a reason code, "" = v was read.
func (w *Writer) Sample(channel int, t, v int64, code string) error {
	if code != "" {
		return w.json(Line{T: t, Channel: &channel, E: code})
	}
	b := append(w.buf[:0], `{"t":`...)
	b = strconv.AppendInt(b, t, 10)
	b = append(b, `,"c":`...)
	b = strconv.AppendInt(b, int64(channel), 10)
	b = append(b, `,"v":`...)
	b = strconv.AppendInt(b, v, 10)
	w.buf = append(b, '}', '\n')
	return w.put(w.buf)
}

// State notes what a device is like.
func (w *Writer) State(t int64, s State) error { return w.json(Line{T: t, State: &s}) }

// Sync notes the wall clock at t.
func (w *Writer) Sync(t, wallNS int64) error { return w.json(Line{T: t, Sync: &wallNS}) }

// Offset notes an exchange of clocks.
func (w *Writer) Offset(t int64, o Offset) error { return w.json(Line{T: t, Offset: &o}) }

// End writes the last line and flushes.
func (w *Writer) End(t int64, e End) error {
	if err := w.json(Line{T: t, End: &e}); err != nil {
		return err
	}
	return w.Flush()
}

// Flush hands on what was written: who reads along sees whole lines.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

func (w *Writer) json(v any) error {
	b, err := json.Marshal(v)
	if err == nil && len(b) > MaxLine {
		err = fmt.Errorf("a line of %d bytes, and %d are read", len(b), MaxLine)
	}
	if err != nil && w.err == nil {
		w.err = err
	}
	return w.put(append(b, '\n'))
}

func (w *Writer) put(line []byte) error {
	if w.err == nil {
		_, w.err = w.w.Write(line)
	}
	return w.err
}
