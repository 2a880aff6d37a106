package measure

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Generate asks a candidate every item of a suite.
type Generate struct {
	Dial    Dial
	Backoff func(attempt int) time.Duration // before attempt+1; nil = DefaultBackoff
	// Kill ends the requests in flight when it is closed. A cancelled context
	// alone stops sending and lets them finish, so that their answers are kept.
	Kill <-chan struct{}
}

// Run writes one answer per item, sample and repeat. Answers are journaled as
// they come; an interrupted run asks only for what the journal lacks. What an
// earlier set of the same family has the answer to is not asked for again.
func (g Generate) Run(ctx context.Context, job step.Job) error {
	return named(ctx, job, g.run(ctx, job))
}

func named(ctx context.Context, job step.Job, err error) error {
	if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%s: %w", job.Step().Name, err)
}

func (g Generate) run(ctx context.Context, job step.Job) error {
	var p generateParams
	if err := job.Params(&p); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	return g.answer(ctx, job, p, passing{p.Concurrency, p.Failures == recordFailures, runAgain + orRecordThem})
}

// questions are what a step asks, in the order of its outputs.
type questions interface {
	// count returns the number of rows, and finds what is wrong with the inputs
	// before anything is sent.
	count(job step.Known) (rows int, err error)
	// asks builds every request and hands it to f.
	asks(ctx context.Context, job step.Known, prepare prepare, f func(ask) error) error
}

// passing says how questions are sent.
type passing struct {
	concurrency int
	record      bool   // failures of the outside become failed answers
	todo        string // hint beside such failures
}

// answer asks all questions that the journal has no answer to.
func (g Generate) answer(ctx context.Context, job step.Job, q questions, how passing) error {
	h, err := hints(job)
	if err != nil {
		return err
	}
	total, err := q.count(job)
	if err != nil {
		return err
	}
	kept, err := readJournal(job)
	if err != nil {
		return err
	}
	limit, err := timeout(h.Timeout)
	if err != nil {
		return err
	}
	ep, err := g.Dial.open(ctx, job, Need{Timeout: limit, Conns: how.concurrency})
	if err != nil {
		return err
	}
	defer ep.Close()
	earlier, err := takeOver(ctx, job, q, ep.Prepare, kept)
	if err != nil {
		return err
	}
	maps.Copy(kept, earlier.rows)
	c, err := newCollector(job, total, how.concurrency)
	if err != nil {
		return err
	}
	c.earlier = earlier
	c.record, c.todo = how.record, how.todo
	if err := g.pass(ctx, job, q, how.concurrency, h, ep, kept, c); err != nil {
		return err
	}
	return c.finish(ep.recheck(ctx))
}

// result is an answer, or a row that is there already.
type result struct {
	ask      ask
	resp     llm.Response
	attempts int
	kept     *row
}

// pass sends what is missing. One goroutine builds requests in file order,
// concurrency of them send, and this one collects; it returns when all of
// them have ended.
func (g Generate) pass(ctx context.Context, job step.Job, q questions, concurrency int, h generateHints, ep Endpoint, kept journal, c *collector) error {
	dispatch, stop := context.WithCancel(ctx)
	defer stop()
	flight, kill := g.flight(ctx)
	defer kill()
	work, results := make(chan ask), make(chan result)
	var built error
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(work)
		built = q.asks(dispatch, job, ep.Prepare, func(a ask) error { return route(dispatch, a, kept, work, results) })
	})
	s := sender{ep, h.Retries, g.Backoff}
	for range concurrency {
		wg.Go(func() {
			for a := range work {
				r, n := s.send(dispatch, flight, a.req)
				results <- result{ask: a, resp: r, attempts: n}
			}
		})
	}
	go func() { wg.Wait(); close(results) }()
	for r := range results {
		if !c.take(r) {
			stop()
		}
	}
	if built != nil && !errors.Is(built, context.Canceled) {
		return built
	}
	return c.verdict(ctx)
}

// route hands an ask to a worker, or its kept answer to the collector.
func route(ctx context.Context, a ask, kept journal, work chan<- ask, results chan<- result) error {
	if r, ok := kept.find(a); ok {
		results <- result{ask: a, kept: &r}
		return nil
	}
	select {
	case work <- a:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// flight is the context of requests: it outlives ctx and ends with Kill.
func (g Generate) flight(ctx context.Context) (context.Context, context.CancelFunc) {
	flight, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if g.Kill != nil {
		go func() {
			select {
			case <-g.Kill:
				cancel()
			case <-flight.Done():
			}
		}()
	}
	return flight, cancel
}
