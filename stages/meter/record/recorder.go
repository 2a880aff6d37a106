package record

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/cupel-dev/cupel/stages/meter/source"
	"github.com/cupel-dev/cupel/stages/trace"
)

// recorder is one recording. All its times are ns of its clock; those that are
// written start at zero.
type recorder struct {
	clock  clock
	stops  stops
	out    *trace.Writer
	zero   int64
	period int64
	length int64 // 0 = no limit
	most   int   // samples

	parts   []*part
	samples int
	last    map[string]trace.State // by device
	noted   int64                  // when notes were last taken, since zero
	looked  int64                  // when the last look began, since zero; -1 = never
	end     trace.End
	broken  error // of a source
}

// newRecorder numbers the channels of the sources.
func newRecorder(ctx context.Context, sources []source.Source, o Options) *recorder {
	r := &recorder{
		clock: o.clock, stops: stops{ctx.Done(), o.Stop, o.Input}, last: map[string]trace.State{}, looked: -1,
		period: max(1, int64(float64(time.Second)/o.Hz)), length: int64(o.For), most: cmp.Or(o.most, trace.MaxSamples),
	}
	first := 0
	for _, s := range sources {
		n := len(s.Describe().Channels)
		r.parts = append(r.parts, r.part(s, first, n))
		first += n
	}
	return r
}

// part is a source and where its channels begin.
type part struct {
	source.Source
	put source.Put
}

// part wraps a source: its readings are stamped as they are handed over.
func (r *recorder) part(s source.Source, first, n int) *part {
	return &part{s, func(c int, v int64, code string) {
		t, _ := r.now()
		if c < 0 || c >= n {
			r.broken = fmt.Errorf("a source has %d channels and read channel %d", n, c)
			return
		}
		r.samples++
		_ = r.out.Sample(first+c, t, v, code) // the writer keeps its error
	}}
}

// now is the time since zero, and the wall clock.
func (r *recorder) now() (t, wall int64) {
	t, wall = r.clock.now()
	return t - r.zero, wall
}

// all makes the recording after its header.
func (r *recorder) all() error {
	if err := r.note(true); err != nil {
		return err
	}
	why, err := r.looks()
	if err != nil {
		return err
	}
	if err := r.look(); err != nil { // so that what ended the recording lies between two looks
		return err
	}
	if err := r.note(true); err != nil {
		return err
	}
	t, _ := r.now()
	r.end.Why = why
	if err := r.out.End(t, r.end); err != nil {
		return writing(err)
	}
	if why == trace.Full {
		return ErrFull
	}
	return nil
}

// looks looks until something ends it, and says what.
func (r *recorder) looks() (why string, err error) {
	for k := int64(0); ; {
		due := k * r.period
		over := r.length > 0 && due >= r.length
		if over {
			due = r.length
		}
		r.clock.wait(r.zero+due, r.stops)
		if why := r.stops.why(); why != "" {
			return why, nil
		}
		if over {
			return trace.Duration, nil
		}
		if r.samples >= r.most {
			return trace.Full, nil
		}
		began, _ := r.now()
		if began-due > r.period/2 {
			r.end.Late++
		}
		if err := r.look(); err != nil {
			return "", err
		}
		if now, _ := r.now(); now-r.noted >= note {
			if err := r.note(false); err != nil {
				return "", err
			}
		}
		k = r.next(k)
	}
}

// next is the look after k. Looks whose time has passed up to that of their
// successor are left out.
func (r *recorder) next(k int64) int64 {
	now, _ := r.now()
	next := max(k+1, now/r.period)
	if r.length > 0 { // none is missed behind the end
		next = max(k+1, min(next, (r.length+r.period-1)/r.period))
	}
	r.end.Late += int(next - k - 1)
	return next
}

// look reads every source once.
func (r *recorder) look() error {
	began, _ := r.now()
	if r.looked >= 0 {
		r.end.MaxGap = max(r.end.MaxGap, began-r.looked)
	}
	r.looked = began
	for _, p := range r.parts {
		p.Read(p.put)
	}
	return r.broken
}

// note writes what changes seldom, and hands on all that was written. Without all,
// only states that changed are written.
func (r *recorder) note(all bool) error {
	for _, p := range r.parts {
		for _, s := range p.States() {
			if before, seen := r.last[s.Device]; !all && seen && reflect.DeepEqual(before, s) {
				continue
			}
			r.last[s.Device] = s
			t, _ := r.now()
			_ = r.out.State(t, s)
		}
	}
	t, wall := r.now()
	r.noted = t
	_ = r.out.Sync(t, wall)
	return writing(r.out.Flush())
}
