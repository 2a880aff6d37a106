package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// Open makes a candidate's endpoint usable. One that is up already is left as it
// is, now and at the end. What is in its way is stopped, and started again by
// Finish. A server that does not come up is a *step.Unavailable; a command that
// cannot be run, or an address that something else answers at, is no result.
func (h *Hooks) Open(ctx context.Context, name string, log Log) ([]step.Attachment, error) {
	s, ok := h.Servers[name]
	if !ok {
		return nil, fmt.Errorf("candidate %s has no commands", name)
	}
	release, err := h.lease(s)
	if err != nil {
		return nil, err
	}
	in := &instance{server: s, release: release}
	h.put(name, in)
	doc, err := h.open(ctx, in, log)
	if err != nil {
		h.drop(name)
		release()
		return nil, err
	}
	return attachment(doc), nil
}

func (h *Hooks) open(ctx context.Context, in *instance, log Log) (evidence.StartDoc, error) {
	name := in.server.Candidate
	if err := h.clear(ctx, name, log); err != nil {
		return evidence.StartDoc{}, err
	}
	err := in.server.Look(ctx)
	switch {
	case err == nil:
		h.keep(in, true)
		log.Note("%s: found running; it will be left running", name)
		return evidence.StartDoc{Reason: "found running"}, nil
	case ctx.Err() != nil:
		return evidence.StartDoc{}, ctx.Err()
	case !errors.Is(err, step.ErrOutside) && !down(err):
		return evidence.StartDoc{}, err // it cannot even be asked
	}
	occupied := !down(err)
	h.keep(in, h.isDisplaced(name))
	took, err := h.start(ctx, in, log)
	if err == nil {
		log.Note("%s: ready after %s", name, took.Round(time.Millisecond))
		if in.stays { // it is as it was found
			h.displace(name, false)
			err = h.Ledger.Remove(name)
		}
		seconds := math.Round(took.Seconds()*1e3) / 1e3
		return evidence.StartDoc{LoadS: &seconds}, err
	}
	if u := new(step.Unavailable); errors.As(err, &u) && occupied { // no longer a result: it is not wrapped
		err = step.WithHint(outside(fmt.Errorf("%v, while something else answers at %s", err, in.server.Address)), "stop that, or give the candidate another address")
	}
	return evidence.StartDoc{}, err
}

// clear stops what was found running and cannot be up beside name.
func (h *Hooks) clear(ctx context.Context, name string, log Log) error {
	for _, other := range slices.Sorted(maps.Keys(h.Servers)) {
		if !h.Excludes(name, other) || h.take(other) != nil {
			continue
		}
		s := h.Servers[other]
		if s.Look(ctx) != nil {
			continue
		}
		if err := h.clearOne(s, name, log); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (h *Hooks) clearOne(s Server, name string, log Log) error {
	if len(s.Stop) == 0 {
		return step.WithHint(outside(fmt.Errorf("%s was found running, cannot be up beside %s, and has no stop command", s.Candidate, name)),
			"stop it yourself, or give candidates."+s.Candidate+".serve.stop")
	}
	release, err := h.lease(s)
	if err != nil {
		return err
	}
	defer release()
	if err := h.write(entryOf(h, s, nil, true)); err != nil {
		return err
	}
	h.displace(s.Candidate, true)
	log.Note("%s: found running, and cannot be up beside %s: stopping it; it is started again at the end", s.Candidate, name)
	return h.halt(s, nil, log)
}

// start runs the start command and waits until the server is ready. When that
// does not come about, nothing is left running.
func (h *Hooks) start(ctx context.Context, in *instance, log Log) (time.Duration, error) {
	s := in.server
	if !in.stays { // an entry that says "start it again" says enough
		if err := h.write(entryOf(h, s, nil, false)); err != nil {
			return 0, err
		}
	}
	began := time.Now() // monotonic
	p, err := h.spawn(in, log)
	if err != nil {
		return 0, h.settled(s.Candidate, in.stays, err)
	}
	if !in.stays {
		if err := h.write(entryOf(h, s, p, false)); err != nil {
			return 0, errors.Join(err, h.stop(in, log))
		}
	}
	log.Note("%s: started: %s", s.Candidate, words(s.Start))
	if err = h.await(ctx, s, p); err == nil {
		return time.Since(began), nil
	}
	return 0, h.afterFailure(in, err, log)
}

// afterFailure stops what a failed start may have left: it would spoil what
// comes next. A stop command that finds nothing to stop is right to fail.
func (h *Hooks) afterFailure(in *instance, err error, log Log) error {
	stopErr := h.stop(in, log)
	switch {
	case stopErr == nil:
		return err
	case !in.process.over():
		return outside(fmt.Errorf("%v; and then %w", err, stopErr))
	}
	log.Note("%s: nothing of it was left to be stopped", in.server.Candidate)
	return h.settled(in.server.Candidate, in.stays, err)
}

// settled removes the entry of a server that was not started.
func (h *Hooks) settled(name string, stays bool, err error) error {
	if stays {
		return err
	}
	return errors.Join(err, h.Ledger.Remove(name))
}

// await polls until the server is ready, its process has failed, or it is too
// late.
func (h *Hooks) await(ctx context.Context, s Server, p *process) error {
	ask, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	deadline := time.NewTimer(s.Timeout)
	defer deadline.Stop()
	ended := p.ended
	pause := firstPause
	var last error
	for {
		if last = s.Look(ask); last == nil {
			return nil
		}
		again := time.NewTimer(pause)
		pause = min(2*pause, longestPause)
		select {
		case <-again.C:
		case <-ended:
			if err := h.failed(s, p); err != nil {
				return err
			}
			ended = nil // it has put itself into the background
		case <-deadline.C:
			return h.unavailable(p, fmt.Sprintf("%s was not ready within %s of its start: %v", s.Candidate, s.Timeout, last))
		case <-ctx.Done():
			return ctx.Err()
		}
		again.Stop()
	}
}

// Pauses between two looks.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// failed says why a start command that has ended is a failure, nil when it is
// none.
func (h *Hooks) failed(s Server, p *process) error {
	switch code := p.code(); {
	case code == 0:
		return nil
	case code == 126 || code == 127: // what a shell says of a command that it cannot run
		p.settle()
		return step.WithHint(outside(fmt.Errorf("the start command of %s ended with status %d: %s", s.Candidate, code, h.redact(p.last(3)))),
			"a script of candidates."+s.Candidate+".serve.start could not run a command")
	}
	p.settle()
	return h.unavailable(p, fmt.Sprintf("%s did not load: its start command ended with %s before it was ready", s.Candidate, p.how()))
}

// unavailable is a server that did not come up, with the end of what it said.
func (h *Hooks) unavailable(p *process, reason string) error {
	doc := evidence.StartDoc{Reason: "it did not come up", Failure: h.redact(reason), Log: h.tail(p)}
	return &step.Unavailable{Reason: doc.Failure, Attached: attachment(doc)}
}

// attachment makes what is kept of a start. It has the same bytes for the same
// document.
func attachment(doc evidence.StartDoc) []step.Attachment {
	b, err := json.Marshal(doc)
	if err == nil {
		b, err = step.Canonical(b)
	}
	if err != nil {
		panic("serve: a start document is plain data: " + err.Error())
	}
	return []step.Attachment{{Output: evidence.OutStart, MediaType: "application/json", Content: b}}
}
