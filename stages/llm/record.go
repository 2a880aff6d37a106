package llm

import (
	"errors"
	"io"
	"slices"
	"sync"
)

// Bounds on what an endpoint may send for one request.
const (
	maxAnswer = 64 << 20 // bytes of one answer
	maxEvent  = 8 << 20  // bytes of one event
	maxEvents = 1 << 20  // events of one answer: each costs memory beyond its bytes
)

var (
	errLongAnswer = errors.New("the answer is longer than 64 MiB")
	errManyEvents = errors.New("the answer has more than 1,048,576 events")
	errLongEvent  = errors.New("one event is longer than 8 MiB")
)

// framing says how an answer is cut into events.
type framing uint8

const (
	frameWhole  framing = iota // one JSON document
	frameSSE                   // server-sent events
	frameNDJSON                // one JSON document per line
)

// event is one framed payload. It is a range of the recording's arena, so that
// recording an event allocates nothing.
type event struct {
	start, end int
	at         int64 // ns since dispatch at which the read returned that brought its last byte
	read       int32 // number of that read
	failed     bool  // its field or event name is "error"
	open       bool  // the stream ended before the event was closed
}

// recording takes down an answer: every byte into one arena, every event with
// the time of its read. Nothing is decoded before the answer has ended, so
// that a time stamp never waits for a parser.
type recording struct {
	frame  framing
	buf    []byte
	events []event
	reads  int32
	done   bool  // the protocol's end was seen; what follows is ignored
	err    error // a bound was exceeded

	pos       int // everything before has been searched for line ends
	line      int // start of the current line
	lf, cr    int // next LF and CR at or after pos, when they are known to be there
	afterCR   bool
	started   bool // past the place of a byte order mark
	hasData   bool
	pending   event
	searchedL int // lf is known up to here
	searchedC int // cr is known up to here
}

// recordings keeps arenas for the next request, except very large ones.
var recordings = sync.Pool{New: func() any { return new(recording) }}

const maxKeptArena = 1 << 20

func newRecording(f framing) *recording {
	r := recordings.Get().(*recording)
	*r = recording{frame: f, buf: r.buf[:0], events: r.events[:0]}
	return r
}

// release gives the arena back. No event of r may be used afterwards.
func (r *recording) release() {
	if cap(r.buf) <= maxKeptArena {
		recordings.Put(r)
	}
}

func (r *recording) payload(e event) []byte { return r.buf[e.start:e.end] }

// readAll reads body until its end, the protocol's end or a bound. since gives
// the nanoseconds since dispatch and is called once after each read. The
// returned time is that of the last read.
func (r *recording) readAll(body io.Reader, since func() int64) (last int64, err error) {
	const room, maxEmpty = 4 << 10, 100
	for empty := 0; ; {
		r.buf = slices.Grow(r.buf, room)
		n, err := body.Read(r.buf[len(r.buf):cap(r.buf)])
		last = since()
		if n > 0 {
			empty = 0
			r.buf = r.buf[:len(r.buf)+n]
			r.reads++
			r.feed(last)
		} else if empty++; err == nil && empty > maxEmpty {
			err = io.ErrNoProgress
		}
		if r.done || r.err != nil {
			return last, r.err
		}
		if err != nil {
			r.finish(last, err == io.EOF)
			return last, err
		}
	}
}

// feed frames the bytes that the last read added.
func (r *recording) feed(at int64) {
	if len(r.buf) > maxAnswer {
		r.err = errLongAnswer
		return
	}
	switch r.frame {
	case frameSSE:
		r.feedSSE(at)
	case frameNDJSON:
		r.feedNDJSON(at)
	}
}

// add records a framed event.
func (r *recording) add(e event) {
	switch {
	case e.end-e.start > maxEvent:
		r.err = errLongEvent
	case len(r.events) == maxEvents:
		r.err = errManyEvents
	default:
		r.events = append(r.events, e)
	}
}

// finish takes what is left when the answer ends without a closing line end.
func (r *recording) finish(at int64, clean bool) {
	switch r.frame {
	case frameSSE:
		r.finishSSE(at)
	case frameNDJSON:
		r.finishNDJSON(at)
	case frameWhole:
		if len(r.buf) > 0 {
			r.events = append(r.events, event{end: len(r.buf), at: at, read: r.reads, open: !clean})
		}
	}
}
