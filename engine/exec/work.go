package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// AsObserved begins the reason of an observing step that stands on its last
// observation.
const AsObserved = "as observed "

func errNotCached(s step.Step) error {
	return fmt.Errorf("%s is not in the store with these inputs", s.Name)
}

// work runs one step in its own goroutine and reports its end.
func (r *run) work(ctx context.Context, w work) {
	began := r.e.now()
	end := r.execute(ctx, w, began)
	r.messages <- message{w: w, end: end, took: r.e.now().Sub(began)}
}

func (r *run) execute(ctx context.Context, w work, began time.Time) *settled {
	if w.broken != nil && !w.s.Observes {
		return r.unavailable(w, began)
	}
	release, err := r.lease(w.s)
	if err != nil {
		return &settled{state: Failed, key: w.key, err: err}
	}
	defer release()
	unlock, err := r.lockKey(ctx, w)
	if err != nil {
		return &settled{state: Failed, key: w.key, err: err}
	}
	defer unlock()
	// Another process, or a step with equal inputs, may have done it meanwhile.
	if f := r.e.lookup(w.s, w.key); f.record != nil {
		return serve(w.key, f.record, "done meanwhile")
	}
	if len(r.e.quarantine(w.key)) > 0 {
		w.why = "its stored output was damaged"
	}
	if w.broken != nil {
		return r.unavailable(w, began)
	}
	j, err := r.newJob(w)
	if err != nil {
		return &settled{state: Failed, key: w.key, err: err}
	}
	err = j.run(ctx)
	if err == nil && w.s.Observes {
		err = attach(j, w.attached)
	}
	outs := j.finish()
	if err == nil {
		err = j.err()
	}
	if err != nil {
		return r.notDone(w, err, outs)
	}
	return r.record(w, j, carried(w, outs), began)
}

// notDone settles a step whose runner returned an error. A step that only
// observes may stand on its last observation when the world cannot be reached.
func (r *run) notDone(w work, err error, outs []store.Output) *settled {
	if w.session != "" {
		err = r.e.Sessions.Explain(w.session, err)
	}
	if w.session == "" && w.stale != nil && !r.e.refresh(w.s.Name) && errors.Is(err, step.ErrUnreachable) {
		now := fmt.Sprintf("now: %v", err)
		if r.sessions != nil && w.s.Session != "" {
			now = "not started, since nothing new is to be run at it"
		}
		return serve(w.key, w.stale, fmt.Sprintf(AsObserved+"%s; %s", r.e.lastSeen(w, w.stale).Format("2006-01-02 15:04"), now))
	}
	var drift *step.Drift
	if errors.As(err, &drift) {
		r.messages <- message{ev: &Event{Step: w.s.Name, State: "note", Note: "kept as evidence, not as a result", Outputs: outs}}
	}
	return &settled{state: Failed, key: w.key, err: err}
}

// record writes the step's record. An observation that says what the last one
// said is not written again.
func (r *run) record(w work, j *job, outs []store.Output, began time.Time) *settled {
	end := &settled{state: Done, key: w.key, reason: w.why, outputs: outs, notes: j.notes}
	outcome, reason := store.Done, ""
	if j.refused != "" {
		outcome, reason = store.Refused, j.refused
		end.state, end.reason = Refused, j.refused
	}
	if w.s.Observes && w.stale != nil && w.stale.Outcome == outcome && slices.Equal(w.stale.Outputs, outs) {
		if outcome == store.Done {
			end.state, end.reason = Cached, "looked again: unchanged"
		}
		j.discardJournal()
		return r.seen(w, *w.stale, end)
	}
	pre, err := w.pre.Canonical()
	if err != nil {
		return &settled{state: Failed, key: w.key, err: err}
	}
	rec := store.Record{
		Key: w.key, Kind: w.s.Kind, Name: w.s.Name, Outcome: outcome, Reason: reason, Outputs: outs,
		Started: began.UTC(), Finished: r.e.now().UTC(), Host: r.e.Host, Version: r.e.Version,
		RunID: r.log.ID(), Observes: w.s.Observes, Notes: j.notes,
	}
	if err := r.e.Store.PutRecord(w.key, pre, rec); err != nil {
		return &settled{state: Failed, key: w.key, err: fmt.Errorf("record of %s: %w", w.s.Name, err)}
	}
	if of, ok := family(w.s, w.pre); ok {
		if err := r.e.Store.AddToFamily(of, w.key); err != nil {
			return &settled{state: Failed, key: w.key, err: fmt.Errorf("record of %s: %w", w.s.Name, err)}
		}
	}
	j.discardJournal()
	if w.s.Observes {
		return r.seen(w, rec, end)
	}
	return end
}

// seen writes down that an observing step saw just now what rec says. Records
// are written when that changes only; when it was last seen is kept beside them.
func (r *run) seen(w work, rec store.Record, end *settled) *settled {
	rec.Finished = r.e.now().UTC()
	if err := r.e.Store.PutObservation(step.Digest(w.key), rec); err != nil {
		return &settled{state: Failed, key: w.key, err: fmt.Errorf("observation of %s: %w", w.s.Name, err)}
	}
	return end
}

// lastSeen is when an observing step last saw what rec says.
func (e *Engine) lastSeen(w work, rec *store.Record) time.Time {
	if o, err := e.Store.Observation(step.Digest(w.key)); err == nil && o.Finished.After(rec.Finished) && slices.Equal(o.Outputs, rec.Outputs) {
		return o.Finished.UTC()
	}
	return rec.Finished.UTC()
}

// lease takes the resources that no two processes may use at once. A busy one
// is an error at once: waiting for another measurement would be a surprise.
func (r *run) lease(s step.Step) (release func(), err error) {
	var held []func()
	release = func() {
		for _, f := range slices.Backward(held) {
			f()
		}
	}
	for _, res := range s.Resources {
		if res == step.Quiet {
			continue
		}
		f, err := r.e.Store.Lease(res)
		if err != nil {
			release()
			err = fmt.Errorf("%s: %w", s.Name, err)
			if errors.As(err, new(*store.Busy)) {
				err = step.WithHint(err, "wait for the other run to end; two measurements at once would spoil both")
			}
			return nil, err
		}
		held = append(held, f)
	}
	return release, nil
}

func (r *run) lockKey(ctx context.Context, w work) (func(), error) {
	return r.e.Store.LockKey(ctx, w.key, func(o store.Owner) {
		if r.e.OnWait != nil {
			r.e.OnWait(w.s.Name, o.String())
		}
	})
}

// quarantineDamaged takes a damaged measurement out of the store once it has
// been reported, so that no later read can use it.
func (r *run) quarantineDamaged(end *settled) {
	if end.key.IsZero() || !errors.As(end.err, new(*store.Damaged)) {
		return
	}
	for _, d := range r.e.quarantine(end.key) {
		r.emit(Event{State: "note", Note: "quarantined object " + d.String()})
	}
}
