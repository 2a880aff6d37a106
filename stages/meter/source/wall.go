package source

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Stale is the reason code of a look at a meter whose last value is too old, or that
// has not said anything yet.
const Stale = "stale"

// usualStale is how long a value stands that nobody replaced. Meters on the wall
// write one a second, or every two.
const usualStale = 5 * time.Second

// WallOptions say how to read a wall meter. The zero value reads a pipe.
type WallOptions struct {
	// Name of the meter, for the trace; "" = not known.
	Name string
	// Stale is the age beyond which a value is none; 0 = 5 s.
	Stale time.Duration
	// Follow takes the end of the input for a pause: it is a file that another
	// program appends to. Lines that were in it before and carry no moment are
	// passed over: nobody knows how old they are.
	Follow bool
	// Now is the wall clock; nil = time.Now.
	Now func() time.Time
	// Wait is called at the end of a file that is followed, and returns whether to
	// look again; nil = after 100 ms, until the source is closed.
	Wait func(closed <-chan struct{}) bool
}

// Wall reads the lines of a meter at the wall in the background, and hands out the
// latest value at each look. docs/meter-sources.md has their form. A nil r is no
// meter. A reader that is an io.Closer is closed with the source; one that is not
// and never ends keeps a goroutine until the program does.
func Wall(r io.Reader, o WallOptions) (Source, []trace.Missing) {
	if r == nil {
		return nil, []trace.Missing{{Device: wallDevice, Domain: trace.Wall, Reason: hardware.NotApplicable, Detail: "no meter at the wall was named"}}
	}
	if o.Stale == 0 {
		o.Stale = usualStale
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = pause
	}
	w := &wall{o: o, r: r, closed: make(chan struct{})}
	go w.run()
	return w, nil
}

const wallDevice = "wall"

func pause(closed <-chan struct{}) bool {
	t := time.NewTimer(100 * time.Millisecond)
	defer t.Stop()
	select {
	case <-closed:
		return false
	case <-t.C:
		return true
	}
}

type wall struct {
	o      WallOptions
	r      io.Reader
	closed chan struct{}

	mu    sync.Mutex
	last  *value
	bad   int  // lines that could not be read
	ended bool // there is nothing to come
}

func (w *wall) Describe() Description {
	return Description{
		Devices:  []trace.Device{{ID: wallDevice, Kind: trace.Machine, Name: w.o.Name}},
		Channels: []trace.Channel{{Device: wallDevice, Domain: trace.Wall, Quantity: trace.Power, Unit: "mW", Source: "lines of a meter"}},
	}
}

func (w *wall) Read(put Put) {
	now := w.o.Now()
	w.mu.Lock()
	last := w.last
	w.mu.Unlock()
	if last == nil || now.Sub(last.at).Abs() > w.o.Stale { // also one from the future
		put(0, 0, Stale)
		return
	}
	put(0, last.mw, "")
}

// States tells when lines could not be read, and when the meter has stopped.
func (w *wall) States() []trace.State {
	w.mu.Lock()
	defer w.mu.Unlock()
	var unknown []trace.Unread
	if w.bad > 0 {
		unknown = append(unknown, trace.Unread{Field: "lines", Reason: hardware.Implausible})
	}
	if w.ended {
		unknown = append(unknown, trace.Unread{Field: "input", Reason: "input-ended"})
	}
	if unknown == nil {
		return nil
	}
	return []trace.State{{Device: wallDevice, Unknown: unknown}}
}

func (w *wall) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.closed:
		return nil
	default:
		close(w.closed)
	}
	if c, ok := w.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// run reads until the input ends or the source is closed.
func (w *wall) run() {
	in := bufio.NewReaderSize(w.r, maxWallLine)
	var lines wallLines
	var part []byte // a line whose end is still to come
	old := w.o.Follow
	for {
		chunk, err := in.ReadSlice('\n')
		part = append(part, chunk[:min(len(chunk), maxWallLine+1-len(part))]...) // one byte more than allowed tells
		switch {
		case err == nil:
			w.line(&lines, part, old)
			part = part[:0]
		case errors.Is(err, bufio.ErrBufferFull): // it is too long already
		case errors.Is(err, io.EOF) && w.o.Follow && w.o.Wait(w.closed):
			old = false
		default:
			if !w.o.Follow && len(part) > 0 {
				w.line(&lines, part, old)
			}
			w.mu.Lock()
			w.ended = true
			w.mu.Unlock()
			return
		}
	}
}

func (w *wall) line(lines *wallLines, text []byte, old bool) {
	var mw, at int64
	ok, err := false, errWallLine
	if len(text) <= maxWallLine {
		mw, at, ok, err = lines.read(string(text))
	}
	arrived := w.o.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
		w.bad++
	case ok && at > 0:
		w.last = &value{mw, time.Unix(0, at)}
	case ok && !old:
		w.last = &value{mw, arrived}
	}
}
