// Package record looks at sources again and again and writes what they say.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// UsualHz is how many looks a second are made where nobody asks for another number. It
// divides no period that is a whole number of tens of ms: looks in step with a counter
// of 100 ms see every change equally late, and learn less about when it was.
const UsualHz = 23

// UsualLook is the time between two of them, ns.
const UsualLook = int64(time.Second) / UsualHz

// Options say how to record.
type Options struct {
	Meter string          // name and version of what records, for the header
	Hz    float64         // looks a second, above 0
	For   time.Duration   // 0 = until one of the others
	Stop  <-chan struct{} // closed: end the recording as asked
	Input <-chan struct{} // closed: the input whose end was to end the recording has ended
	Made  string          // of the header; "" = sample
	Extra []trace.Missing // what could not even be opened

	clock clock // nil = the system's
	most  int   // samples; 0 = trace.MaxSamples
}

// ErrFull ends a recording that is as long as a reader of traces reads. It has its
// last line.
var ErrFull = fmt.Errorf("the recording has %d samples, and a longer one could not be read", trace.MaxSamples)

// note is how often states and the wall clock are noted, and all is handed on.
const note = int64(time.Second)

// Record writes a trace of the sources until ctx is done, the time is over, or one
// of the channels is closed; each of them is a proper end. The sources stay open.
// Where none of them has energy or power, the trace is one line that says so.
//
// Looks have absolute deadlines. One that could not be made in time is made late
// and counted, one whose successor is due is left out and counted, and neither moves
// the others. An error is that of the writer, a source that broke its contract, or
// ErrFull; what was written then is a trace that was cut, but for ErrFull.
func Record(ctx context.Context, w io.Writer, sources []source.Source, o Options) error {
	if !(o.Hz > 0) {
		return fmt.Errorf("%v looks a second, want more than none", o.Hz)
	}
	if o.clock == nil {
		o.clock = newSystem()
	}
	h := Header(sources, o)
	if err := h.Check(); err != nil {
		return err
	}
	r := newRecorder(ctx, sources, o)
	if r.zero, h.WallNS = r.clock.now(); h.WallNS < 0 {
		return errors.New("the wall clock is before 1970")
	}
	var err error
	if r.out, err = trace.NewWriter(w, h); err != nil {
		return writing(err)
	}
	if err := r.out.Flush(); err != nil || h.None != nil {
		return writing(err)
	}
	return r.all()
}

// Header is what a recording of the sources begins with, but for the moment.
func Header(sources []source.Source, o Options) trace.Header {
	if o.clock == nil {
		o.clock = newSystem()
	}
	h := trace.Header{
		Schema: trace.Schema, Meter: o.Meter, Made: cmp.Or(o.Made, "sample"), Hz: o.Hz,
		Clock: o.clock.quality(), System: runtime.GOOS + "/" + runtime.GOARCH, Missing: slices.Clone(o.Extra),
	}
	for _, s := range sources {
		d := s.Describe()
		h.Devices = append(h.Devices, d.Devices...)
		h.Channels = append(h.Channels, d.Channels...)
		h.Missing = append(h.Missing, d.Missing...)
		h.Driver = cmp.Or(h.Driver, d.Driver)
	}
	if h.None = none(h); h.None != nil {
		h.Devices, h.Channels = nil, nil
	}
	return h
}

// none says why there is nothing to record, nil = there is.
func none(h trace.Header) *trace.Missing {
	for _, c := range h.Channels {
		if c.Counts() {
			return nil
		}
	}
	for _, m := range h.Missing {
		if m.Device == "" && m.Domain == trace.NVGPU {
			return &m // why there are no GPUs
		}
	}
	if len(h.Missing) > 0 {
		return &h.Missing[0]
	}
	return &trace.Missing{Reason: hardware.NotReadable, Detail: "no counter of energy or power was found"}
}

// writing says what an error of the writer is about.
func writing(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing the trace: %w", err)
}
