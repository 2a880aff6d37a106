package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// Close stops what Open started, and leaves what it found.
func (h *Hooks) Close(name string, log Log) error {
	in := h.take(name)
	if in == nil {
		return nil
	}
	defer h.drop(name)
	defer in.release()
	if in.stays {
		log.Note("%s: left running", name)
		return nil
	}
	return h.stop(in, log)
}

// stop ends what was started, once, whoever asks for it.
func (h *Hooks) stop(in *instance, log Log) error {
	in.once.Do(func() {
		log.Note("%s: stopping", in.server.Candidate)
		in.stopErr = h.halt(in.server, h.processOf(in), log)
		if in.stopErr == nil && !in.stays {
			in.stopErr = h.Ledger.Remove(in.server.Candidate)
		}
	})
	return in.stopErr
}

// halt stops a server and makes sure that it is down: its GPUs are to be free.
// p is its start command, nil when that is not known.
func (h *Hooks) halt(s Server, p *process, log Log) error {
	var err error
	if len(s.Stop) > 0 {
		err = h.command(s, "stop", s.Stop, log)
	}
	if p != nil && (len(s.Stop) == 0 || err != nil || !p.leaves(h.grace())) {
		p.end(h.grace())
	}
	if err == nil {
		err = h.silence(s)
	}
	if err != nil {
		return step.WithHint(outside(fmt.Errorf("%s could not be stopped: %w", s.Candidate, err)), byHand(h, s, s.Stop))
	}
	return nil
}

// silence waits until the endpoint no longer serves the candidate.
func (h *Hooks) silence(s Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), h.grace())
	defer cancel()
	pause := firstPause
	for s.Look(ctx) == nil {
		again := time.NewTimer(pause)
		pause = min(2*pause, longestPause)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return fmt.Errorf("it still answers at %s", s.Address)
		}
	}
	return nil
}

// byHand says which command a person has to give.
func byHand(h *Hooks, s Server, argv []string) string {
	if len(argv) == 0 {
		return "look for its processes and end them"
	}
	return fmt.Sprintf("run it by hand, in %s: %s", h.Dir, words(argv))
}

// Finish starts again what was found running and had to be stopped. It stays up
// when this process ends.
func (h *Hooks) Finish(log Log) error {
	h.mu.Lock()
	gone := slices.Sorted(maps.Keys(h.displaced))
	h.mu.Unlock()
	var errs []error
	for _, name := range gone {
		if err := h.restore(h.Servers[name], log); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (h *Hooks) restore(s Server, log Log) error {
	ctx := context.Background() // what was stopped is put back, also after Ctrl-C
	fail := func(err error) error {
		return step.WithHint(outside(fmt.Errorf("%s was running before this run and could not be started again: %w", s.Candidate, err)), byHand(h, s, s.Start))
	}
	if s.Look(ctx) != nil {
		log.Note("%s: starting it again, as it was found running", s.Candidate)
		in := &instance{server: s, stays: true}
		took, err := h.start(ctx, in, log)
		if err != nil {
			return fail(err)
		}
		log.Note("%s: ready after %s; left running", s.Candidate, took.Round(time.Millisecond))
	}
	h.displace(s.Candidate, false)
	return h.Ledger.Remove(s.Candidate)
}

// Abort stops what is up, and what is coming up, when there is no time to wait
// for anything else. It returns after most at the latest, with what a person has
// to do.
func (h *Hooks) Abort(most time.Duration) (todo []string) {
	h.mu.Lock()
	h.aborted = true
	var up []*instance // that were started and do not stay
	for _, in := range h.up {
		if !in.stays && in.process != nil {
			up = append(up, in)
		}
	}
	gone := slices.Sorted(maps.Keys(h.displaced))
	h.mu.Unlock()
	ended := make(chan struct{})
	var all sync.WaitGroup
	for _, in := range up {
		all.Go(func() { _ = h.stop(in, silent{}) })
	}
	go func() { all.Wait(); close(ended) }()
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
		todo = append(todo, fmt.Sprintf("servers may still run: their stop commands did not end within %s", most))
	}
	for _, name := range gone {
		todo = append(todo, fmt.Sprintf("%s was running before this run and may be down now; %s", name, byHand(h, h.Servers[name], h.Servers[name].Start)))
	}
	return todo
}

// Explain adds what is known of a candidate's server to the error of a step that
// used it: that its process has ended by itself, how, and its last words.
func (h *Hooks) Explain(name string, err error) error {
	in := h.take(name)
	if in == nil || errors.Is(err, context.Canceled) {
		return err
	}
	p := h.processOf(in)
	if p == nil {
		return err
	}
	if !p.gone(errors.Is(err, step.ErrUnreachable) || errors.Is(err, step.ErrOutside)) {
		return err
	}
	said := h.redact(p.last(3))
	if said != "" {
		said = "; its last words: " + said
	}
	return step.WithHint(step.Mark(step.ErrUnreachable, fmt.Errorf("%w (the server of %s has ended with %s%s)", err, name, p.how(), said)),
		fmt.Sprintf("its log is kept with the run as %s", logName(name)))
}
