package remote

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/stages/trace"
)

// Record records on the other machine until stop is closed, and writes the trace to
// to, in whole lines, with the exchanges of clocks among them. An error means that
// the recording did not end as it should; what came until then was written, and is a
// trace that was cut. Closing stop ends it with a last line; ctx ends it without.
func (c *Client) Record(ctx context.Context, want Want, stop <-chan struct{}, to io.Writer) error {
	s, err := c.session()
	if err != nil {
		return err
	}
	defer s.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before, err := s.exchangeSome(ctx)
	if err != nil {
		return err
	}
	resp, id, err := s.begin(ctx, want)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	f := &fetch{session: s, id: id, to: to, offsets: before, lines: make(chan received), clocks: make(chan trace.Offset), stopped: make(chan error, 1)}
	go f.read(ctx, resp.Body)
	go f.keepExchanging(ctx)
	return f.run(ctx, stop)
}

// begin starts the recording and checks what the answer says of itself.
func (s *session) begin(ctx context.Context, want Want) (*http.Response, string, error) {
	resp, err := s.ask(ctx, http.MethodPost, recordingsPath, request{want.GPUs, want.Hz}, http.StatusOK)
	if err != nil {
		return nil, "", err
	}
	id := resp.Header.Get(idHeader)
	_, hexErr := hex.DecodeString(id)
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if len(id) != idLength || hexErr != nil || kind != traceType {
		resp.Body.Close()
		return nil, "", fmt.Errorf("%s%s: the answer is not that of a cupel-meter", s.at, recordingsPath)
	}
	return resp, id, nil
}

// fetch takes one recording. run owns what is written; read and keepExchanging feed
// it and end with the context.
type fetch struct {
	*session
	id string
	to io.Writer

	lines   chan received
	clocks  chan trace.Offset
	stopped chan error // the answer to asking for the end

	header  *trace.Header  // nil until it came
	offsets []trace.Offset // that wait for it
	lastT   int64
	n       int // lines
}

// received is one line with its end, or why there are no more.
type received struct {
	line []byte
	err  error
}

var (
	errSilent = errors.New("nothing came any more")
	errLong   = fmt.Errorf("a line of more than %d bytes", trace.MaxLine)
)

// read hands lines on, one after another.
func (f *fetch) read(ctx context.Context, body io.Reader) {
	in := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := wholeLine(in)
		select {
		case f.lines <- received{line, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// wholeLine reads up to a line's end, of which it returns a copy.
func wholeLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > trace.MaxLine {
			return nil, errLong
		}
		line = append(line, part...)
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err // half a line is none
		}
	}
}

// keepExchanging exchanges clocks now and then. One that fails is left out: whether
// the other side is there, the recording shows.
func (f *fetch) keepExchanging(ctx context.Context) {
	ticks := f.ticks
	if ticks == nil {
		t := time.NewTicker(f.Every)
		defer t.Stop()
		ticks = t.C
	}
	for {
		select {
		case <-ticks:
		case <-ctx.Done():
			return
		}
		o, err := f.exchange(ctx)
		if err != nil {
			continue
		}
		select {
		case f.clocks <- o:
		case <-ctx.Done():
			return
		}
	}
}

// run writes until the last line, or until something goes wrong.
func (f *fetch) run(ctx context.Context, stop <-chan struct{}) error {
	silence := time.NewTimer(f.Patience)
	defer silence.Stop()
	var late <-chan time.Time // after it, a recording that was to end has not ended
	for {
		select {
		case got := <-f.lines:
			if got.err != nil {
				return f.ended(ctx, got.err)
			}
			silence.Reset(f.Patience)
			if done, err := f.line(ctx, got.line); done || err != nil {
				return err
			}
		case o := <-f.clocks:
			if err := f.offset(o); err != nil {
				return err
			}
		case <-stop:
			stop = nil
			late = time.After(f.Patience)
			go f.askToEnd(ctx)
		case err := <-f.stopped:
			if err != nil {
				return f.cut(fmt.Errorf("it could not be ended: %w", err))
			}
		case <-late:
			return f.cut(fmt.Errorf("it did not end within %s of being asked to", f.Patience))
		case <-silence.C:
			return f.cut(fmt.Errorf("%w for %s", errSilent, f.Patience))
		case <-ctx.Done():
			return f.cut(context.Cause(ctx))
		}
	}
}

// askToEnd asks for the last line. A recording that has just ended by itself is not
// there any more, which is as good.
func (f *fetch) askToEnd(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, f.Patience)
	defer cancel()
	resp, err := f.ask(ctx, http.MethodPost, recordingsPath+"/"+f.id+stopSuffix, nil, http.StatusNoContent)
	if err == nil {
		resp.Body.Close()
	}
	if r, ok := errors.AsType[*Refused](err); ok && r.Status == http.StatusNotFound {
		err = nil
	}
	f.stopped <- err
}

// ended is what it means that no more lines come.
func (f *fetch) ended(ctx context.Context, err error) error {
	switch {
	case f.header != nil && f.header.None != nil && err == io.EOF:
		return nil // there is nothing to read on that machine, and it has said so
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the other side ended it without a last line")
	}
	return f.cut(bare(err))
}

// cut is an error after which the trace ends as it is.
func (f *fetch) cut(err error) error {
	return fmt.Errorf("recording of %s, after %d lines: %w", f.at, f.n, err)
}

// line takes one line. done = it was the last.
func (f *fetch) line(ctx context.Context, line []byte) (done bool, err error) {
	f.n++
	if f.header == nil {
		return false, f.first(line)
	}
	if f.header.None != nil {
		return false, f.cut(errors.New("a line after it has said that there is nothing"))
	}
	var l trace.Line
	if err := json.Unmarshal(line, &l); err != nil {
		return false, f.cut(errors.New("a line that is none of a trace"))
	}
	if why := f.wrong(&l); why != "" {
		return false, f.cut(errors.New(why))
	}
	f.lastT = max(f.lastT, l.T)
	if l.End == nil {
		return false, f.write(line)
	}
	return true, f.last(ctx, line)
}

// wrong checks what the place of further lines depends on. The reader of traces
// checks the rest.
func (f *fetch) wrong(l *trace.Line) string {
	switch {
	case l.T < 0:
		return "a line of a time before the beginning"
	case l.Channel != nil && (*l.Channel < 0 || *l.Channel >= len(f.header.Channels)):
		return "a reading of a channel that is not there"
	case l.Channel == nil && l.State == nil && l.Sync == nil && l.End == nil && l.Offset == nil:
		return "a line that says nothing"
	case l.Offset != nil:
		return "an exchange of clocks that is not ours"
	case f.n > maxLines:
		return "more lines than are read"
	}
	return ""
}

const maxLines = trace.MaxSamples + trace.MaxNotes

// first takes the header, and puts behind it the exchanges that were made before.
func (f *fetch) first(line []byte) error {
	h := &trace.Header{}
	if err := json.Unmarshal(line, h); err != nil || h.Schema != trace.Schema {
		return f.cut(fmt.Errorf("the first line is no header of %s", trace.Schema))
	}
	f.header = h
	if err := f.write(line); err != nil || h.None != nil {
		return err
	}
	for _, o := range f.offsets {
		if err := f.offset(o); err != nil {
			return err
		}
	}
	f.offsets = nil
	return nil
}

// last exchanges clocks once more, and writes the last line behind that. Exchanges
// that fail are missed by nobody but the offset's error.
func (f *fetch) last(ctx context.Context, line []byte) error {
	after, _ := f.exchangeSome(ctx)
	for _, o := range after {
		if err := f.offset(o); err != nil {
			return err
		}
	}
	return f.write(line)
}

// offset writes an exchange, or keeps it until the header has come.
func (f *fetch) offset(o trace.Offset) error {
	if f.header == nil {
		f.offsets = append(f.offsets, o)
		return nil
	}
	if f.header.None != nil {
		return nil
	}
	b, err := json.Marshal(trace.Line{T: f.lastT, Offset: &o})
	if err != nil {
		return err
	}
	return f.write(append(b, '\n'))
}

func (f *fetch) write(line []byte) error {
	if _, err := f.to.Write(line); err != nil {
		return fmt.Errorf("writing the trace: %w", err)
	}
	return nil
}
