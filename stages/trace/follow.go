package trace

import (
	"bytes"
	"io"
	"slices"
)

// keptSamples is how many readings of a channel a Follower keeps at most: seven
// minutes at 20 looks a second at least.
const keptSamples = 1 << 14

// Follower reads a trace while it is made, and hands its lines on. Each line is held
// against what Read demands before it goes to the next writer, so that what came out
// of a Follower can always be read. It belongs to one goroutine.
type Follower struct {
	r    reader
	to   io.Writer
	rest []byte // of a line that has not ended yet
	err  error
}

// Follow returns a Follower that hands lines on to w.
func Follow(w io.Writer) *Follower { return &Follower{to: w} }

// Write takes the next bytes of a trace. Its error is that of the first line that is
// not as it should be, an *Error, or of the writer behind it; every later call
// returns it again.
func (f *Follower) Write(p []byte) (int, error) {
	for rest := p; f.err == nil && len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		rest = after
		f.rest = append(f.rest, line...)
		switch {
		case len(f.rest) > MaxLine:
			f.r.n++
			f.err = f.r.fail("longer than %d bytes", MaxLine)
		case ended:
			f.err = f.line()
			f.rest = f.rest[:0]
		}
	}
	if f.err != nil {
		return 0, f.err
	}
	return len(p), nil
}

func (f *Follower) line() error {
	f.r.n++
	if err := f.check(f.rest); err != nil {
		return err
	}
	f.prune()
	_, err := f.to.Write(append(f.rest, '\n'))
	return err
}

func (f *Follower) check(line []byte) error {
	switch {
	case f.r.n == 1:
		return f.r.head(line)
	case f.r.End != nil:
		return f.r.fail("there is something after the end")
	}
	return f.r.line(line)
}

// prune forgets the older half of a channel that has become long. Read keeps all.
func (f *Follower) prune() {
	for c, of := range f.r.Samples {
		if len(of) >= keptSamples {
			f.r.Samples[c] = slices.Clone(of[len(of)/2:])
		}
	}
}

// Trace is what was read so far: nil before the header. Of the readings only the
// latest are there. It is valid until the next Write.
func (f *Follower) Trace() *Trace {
	if f.r.Samples == nil {
		return nil
	}
	return &f.r.Trace
}
