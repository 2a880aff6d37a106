package measure

import (
	"context"
	"fmt"
	"time"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/trace"
)

// quiet waits until the machine is as it should be when the timed part begins, and
// looks at it while nothing is in flight.
func (r *recorder) quiet(ctx context.Context, t times) error {
	if t.idle == 0 {
		return ctx.Err()
	}
	if err := r.steady(ctx, t.cooling); err != nil {
		return err
	}
	r.at.job.Progress(0, 0, "settling for "+t.settle.String())
	wait(ctx, t.settle)
	if err := r.watch(ctx); err != nil {
		return err
	}
	long := t.rest(r.period())
	r.at.job.Progress(0, 0, "idle for "+long.Round(time.Millisecond).String())
	start := time.Now()
	wait(ctx, long)
	r.run.Idle = &evidence.WallSpan{StartUnixNS: start.UnixNano(), EndUnixNS: start.Add(time.Since(start)).UnixNano()} // whatever is done to the wall clock meanwhile
	return ctx.Err()
}

// A temperature is steady that changes by less than steadyBand °C in steadyFor.
const (
	steadyFor  = 10 * time.Second
	steadyBand = 1.0
)

// steady waits for a steady temperature of every device that has one, at most for
// patience.
func (r *recorder) steady(ctx context.Context, patience time.Duration) error {
	if patience == 0 {
		return ctx.Err()
	}
	since, has := r.thermometers()
	if !has {
		r.run.Unsteady = "no temperature is recorded, so that none was waited for"
		return ctx.Err()
	}
	began := time.Now()
	defer func() { r.run.SteadyNS = int64(time.Since(began)) }()
	for left := patience; left > 0; left = patience - time.Since(began) {
		change, enough := r.change(since)
		if enough && change < steadyBand {
			return nil
		}
		r.at.job.Progress(0, 0, "waiting for a steady temperature")
		if !r.pause(ctx, min(glance, left)) {
			break
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.run.Unsteady = fmt.Sprintf("the temperature was not steady after %s", time.Since(began).Round(time.Second))
	return nil
}

// thermometers reports whether a temperature is recorded, and the moment of the trace.
func (r *recorder) thermometers() (now int64, has bool) {
	if r.rec == nil {
		return 0, false
	}
	r.rec.Look(func(t *trace.Trace) {
		now = t.LastT
		for _, c := range t.Channels {
			has = has || c.Quantity == trace.Temperature
		}
	})
	return now, has
}

// change is by how many °C the temperatures changed in the latest stretch of
// steadyFor, that of the device where it is most; enough = since then so much was
// recorded.
func (r *recorder) change(since int64) (most float64, enough bool) {
	r.rec.Look(func(t *trace.Trace) {
		from := t.LastT - int64(steadyFor)
		readings := 0
		for i, c := range t.Channels {
			if c.Quantity == trace.Temperature {
				wide, n := spread(t.Samples[i], from)
				most, readings = max(most, wide*trace.Units[c.Unit]), readings+n
			}
		}
		enough = from >= since && readings > 1
	})
	return most, enough
}

// spread is the difference between the highest and the lowest of the n readings from a
// moment on.
func spread(of []trace.Sample, from int64) (wide float64, n int) {
	var low, high int64
	for i := len(of) - 1; i >= 0 && of[i].T >= from; i-- {
		if of[i].E != "" {
			continue
		}
		if n++; n == 1 {
			low, high = of[i].V, of[i].V
		}
		low, high = min(low, of[i].V), max(high, of[i].V)
	}
	return float64(high - low), n
}
