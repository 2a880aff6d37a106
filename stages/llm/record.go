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
	maxQuoted = 4 << 10  // bytes quoted of an answer without an event
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

// recording takes down an answer: every event with its bytes and the time of
// its read. Nothing is decoded before the answer has ended, so that a time
// stamp never waits for a parser, and nothing is allocated per event.
//
// win holds the bytes that are not framed yet; framed events move to log.
type recording struct {
	frame framing
	win   []byte
	log   packed
	reads int32
	raw   int    // bytes read
	said  []byte // the beginning of an answer without an event
	done  bool   // the protocol's end was seen; what follows is ignored
	err   error  // a bound was exceeded

	pos       int // everything before has been searched for line ends
	line      int // start of the current line
	lf, cr    int // next LF and CR at or after pos, when they are known to be there
	searchedL int // lf is known up to here
	searchedC int // cr is known up to here
	afterCR   bool
	started   bool // past the place of a byte order mark
	pending   pending
}

// pending is an event whose end has not come yet, as a range of win.
type pending struct {
	start, end int
	any        bool // there is one
	event
}

// recordings keeps buffers for the next request, except very large ones.
var recordings = sync.Pool{New: func() any { return new(recording) }}

const maxKeptBuffers = 1 << 20

func newRecording(f framing) *recording {
	r := recordings.Get().(*recording)
	r.reset(f)
	return r
}

func (r *recording) reset(f framing) {
	*r = recording{frame: f, win: r.win[:0], log: r.log.emptied(), said: r.said[:0]}
}

// release gives the buffers back. No payload of r may be used afterwards.
func (r *recording) release() {
	if cap(r.win)+r.log.size() <= maxKeptBuffers {
		recordings.Put(r)
	}
}

// window is how much a read can bring: no less than what net/http buffers, so
// that all that arrived together is taken, and stamped, in one read.
const window = readBuffer

// readAll reads body until its end, the protocol's end or a bound. since gives
// the nanoseconds since dispatch and is called once after each read, before
// anything else. The returned time is that of the last read.
func (r *recording) readAll(body io.Reader, since func() int64) (last int64, err error) {
	const maxEmpty = 100
	for empty := 0; ; {
		r.win = slices.Grow(r.win, window)
		n, err := body.Read(r.win[len(r.win):cap(r.win)])
		last = since()
		if n > 0 {
			empty = 0
			r.win = r.win[:len(r.win)+n]
			r.raw += n
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
	if r.raw > maxAnswer {
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

// add takes an event into the log.
func (r *recording) add(payload []byte, e event) {
	switch {
	case len(payload) > maxEvent:
		r.err = errLongEvent
	case len(r.log.events) == maxEvents:
		r.err = errManyEvents
	default:
		r.log.add(payload, e)
	}
}

// forget drops what win holds before first, which has been framed and all of
// which has been searched for line ends.
func (r *recording) forget(first int) {
	if len(r.log.events) == 0 {
		r.said = append(r.said, r.win[:min(first, maxQuoted-len(r.said))]...)
	}
	if first > 0 {
		r.win = r.win[:copy(r.win, r.win[first:])]
		r.line -= first
		r.pending.start -= first
		r.pending.end -= first
	}
	end := len(r.win)
	r.pos, r.lf, r.cr, r.searchedL, r.searchedC = end, end, end, end, end
}

// beginning quotes an answer without an event.
func (r *recording) beginning() []byte {
	return append(r.said, r.win[:min(len(r.win), maxQuoted-len(r.said))]...)
}

// finish takes what is left when the answer ends without a closing line end.
func (r *recording) finish(at int64, clean bool) {
	switch r.frame {
	case frameSSE:
		r.finishSSE(at)
	case frameNDJSON:
		r.finishNDJSON(at)
	case frameWhole:
		if len(r.win) > 0 {
			r.log.adopt(&r.win, event{at: at, read: r.reads, open: !clean})
		}
	}
}
