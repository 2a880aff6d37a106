package measure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/meter"
	"github.com/cupel-dev/cupel/stages/metric/energy"
	"github.com/cupel-dev/cupel/stages/trace"
)

const (
	// beginPatience is how long a meter may take until it has said what it reads: it
	// gives up on a driver that hangs before that.
	beginPatience = 20 * time.Second
	// endGrace is how long it may take to end.
	endGrace = 15 * time.Second
	// glance is how often the recording is looked at while something is waited for.
	glance = 500 * time.Millisecond
)

// recorder is a recording beside a cell, with what the cell's header will say of it.
type recorder struct {
	at  *station
	run evidence.MeterRun
	rec *meter.Recording // nil = there is none
	out *kept

	watched bool // see watch
}

// kept is an output that remembers why it could not be written.
type kept struct {
	io.WriteCloser
	err error
}

func (k *kept) Write(p []byte) (int, error) {
	n, err := k.WriteCloser.Write(p)
	if err != nil {
		k.err = err
	}
	return n, err
}

// record starts the recording of a cell. A meter that is not there, or does not
// begin, is no reason not to measure, and the trace says why it is empty; but one that
// was seen to read something, which is in the cell's key, has to be there.
func (c Cell) record(ctx context.Context, at *station) (*recorder, error) {
	m := Meter{Reason: hardware.NoMeter}
	var err error
	if c.Meter != nil {
		if m, err = c.Meter(at.job.Step().Where); err != nil {
			return nil, err
		}
	}
	r := &recorder{at: at, run: evidence.MeterRun{Meter: evidence.MeterNone}}
	if r.run.GPUs, err = gpusOf(ctx, at); err != nil {
		return nil, err
	}
	w, err := at.job.Create(evidence.OutTrace, "application/jsonl")
	if err != nil {
		return nil, err
	}
	r.out = &kept{WriteCloser: w}
	seen, err := readsSomething(at.job)
	switch {
	case err != nil:
		return nil, err
	case m.Record == nil && seen:
		return nil, meterGone(errors.New(m.Reason))
	case m.Record == nil:
		return r, meter.None(r.out, m.Reason, m.Detail)
	}
	return r, r.begin(ctx, m, seen)
}

// readsSomething reports whether the meter that is in the cell's key was seen to read
// anything.
func readsSomething(job step.Job) (bool, error) {
	in, err := job.Open(meterInput)
	if err != nil {
		return false, err
	}
	defer in.Close()
	var doc evidence.MeterDoc
	if err := json.NewDecoder(in).Decode(&doc); err != nil {
		return false, fmt.Errorf("%s: %w", evidence.OutMeter, err)
	}
	return len(doc.Reads) > 0, nil
}

// meterGone is a meter that was seen and does not begin: a failure of the outside.
func meterGone(err error) error {
	return step.WithHint(step.Mark(step.ErrOutside, fmt.Errorf("the meter that was seen beside the candidate does not record: %w", err)), "nothing was sent; look at it with cupel-meter probe and run again")
}

func (r *recorder) begin(ctx context.Context, m Meter, seen bool) error {
	r.run.Meter = evidence.MeterLocal
	if m.Remote {
		r.run.Meter = evidence.MeterRemote
	}
	r.at.job.Progress(0, 0, "waiting for the meter")
	want := meter.Want{GPUs: r.run.GPUs}
	if len(want.GPUs) == 0 {
		want.GPUs = m.GPUs // the meter knows them, and whether they are there
	}
	rec := meter.Start(ctx, m.Record, want, r.out)
	if rec.Begun(ctx, beginPatience) {
		r.rec = rec
		if why := nothing(rec); why != "" && seen {
			return meterGone(errors.New(why))
		}
		return nil
	}
	if ctx.Err() != nil {
		_ = rec.Stop(0) // it is given up with everything else
		return ctx.Err()
	}
	err := rec.Stop(endGrace)
	if r.out.err != nil {
		return r.out.err
	}
	if err == nil {
		err = errors.New("it said nothing")
	}
	if seen {
		return meterGone(err)
	}
	r.fail(err)
	return meter.None(r.out, hardware.MeterFailed, r.run.Failure)
}

// nothing says why a meter that has begun records nothing, "" = it does.
func nothing(rec *meter.Recording) (why string) {
	rec.Look(func(t *trace.Trace) {
		if t.None != nil {
			why = cmp.Or(t.None.Reason, "it does not say why")
		}
	})
	return why
}

// fail notes why the recording is not whole, and tells it.
func (r *recorder) fail(err error) {
	r.run.Failure = fmt.Sprintf("%.300s", err.Error())
	r.at.job.Note("the meter: %s", r.run.Failure)
}

// abandon ends the recording of a cell that is given up.
func (r *recorder) abandon() {
	if r.rec != nil {
		_ = r.rec.Stop(0) // its trace is given up too
	}
}

// finish ends the recording after the last request, once every counter had the time
// to change twice more: a window is known only between two changes.
func (r *recorder) finish(ctx context.Context) error {
	if r.rec != nil {
		if !r.pause(ctx, min(max(2*r.period(), glance), mostTail)) && ctx.Err() != nil {
			return ctx.Err()
		}
		err := r.rec.Stop(endGrace)
		r.rec = nil
		if err != nil && r.out.err == nil {
			r.fail(err)
		}
	}
	if r.out.err != nil {
		return step.WithHint(fmt.Errorf("the recording: %w", r.out.err), "make room and run again")
	}
	return r.out.Close()
}

// mostTail bounds what is waited for after the last request.
const mostTail = time.Minute

// pause waits for d, and not longer than the recording lasts. It reports whether it
// waited.
func (r *recorder) pause(ctx context.Context, d time.Duration) bool {
	if r.rec == nil {
		return wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-r.rec.Ended():
	case <-ctx.Done():
	}
	return false
}

// period is that of the slowest energy counter so far, 0 = not known. A counter that
// did not move has none.
func (r *recorder) period() time.Duration {
	slowest, _ := r.periods()
	return slowest
}

// periods is period, and whether every energy counter has one.
func (r *recorder) periods() (slowest time.Duration, all bool) {
	slowest, _, all = r.paces()
	return slowest, all
}

// ends is what the ends of a window may be off by, of the worst counter; 0 = not known.
func (r *recorder) ends() time.Duration {
	_, worst, _ := r.paces()
	return worst
}

func (r *recorder) paces() (slowest, ends time.Duration, all bool) {
	if r.rec == nil {
		return 0, 0, true
	}
	all = true
	r.rec.Look(func(t *trace.Trace) {
		for i, c := range t.Channels {
			if c.Quantity == trace.Energy {
				p := t.Period(i, 0, t.LastT)
				slowest, all = max(slowest, time.Duration(p.Mean)), all && p.Mean > 0
				if p.Mean > 0 {
					ends = max(ends, time.Duration(energy.Ends(p.Mean, p.Look)))
				}
			}
		}
	})
	return slowest, ends, all
}

// mostWatch bounds what is waited for to learn how often the counters change: one that
// is published every 30 s has changed twice by then.
const mostWatch = 95 * time.Second

// watch waits until every energy counter was seen to change twice: how long the
// window has to be is not known otherwise. It waits once.
func (r *recorder) watch(ctx context.Context) error {
	began := time.Now()
	for !r.watched && time.Since(began) < mostWatch {
		if _, all := r.periods(); all {
			break
		}
		r.at.job.Progress(0, 0, "waiting for the counters to change")
		if !r.pause(ctx, glance) {
			break
		}
	}
	r.watched = true
	return ctx.Err()
}
