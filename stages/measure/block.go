package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/dispatch"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
	"github.com/cupel-dev/cupel/stages/metric"
)

// block is one timed run: what is sent, and when.
type block struct {
	head     evidence.CellHeader // what is known before it
	prompts  prompts.Builder
	requests int                                                        // timed ones, with the indices from 0
	request  func(i int, p prompts.Prompt) llm.Request                  // of a timed index
	judge    func(row *evidence.LoadRow, text string, p prompts.Prompt) // of an answer that came, nil = nothing is checked

	workers int             // closed loop; of an open one, of the warm-up
	offsets []time.Duration // open loop, nil = closed
	window  time.Duration
	cancel  bool // at the end of the window

	pause   time.Duration                    // before everything
	checked bool                             // head.SelfCheck is there already, or is not to be
	untimed int                              // requests before the timed ones
	before  func(i int) (llm.Request, error) // of these
	gate    func(context.Context) error      // waited for before the first timed request, nil = none
	keep    bool                             // in memory, for a look at the block's metrics
}

// timed is what a block left behind.
type timed struct {
	head    evidence.CellHeader
	rows    *spool
	scrapes *scraper
	ok      int // requests that succeeded
	outside tally
	kept    []metric.Request // with block.keep
}

func (t *timed) close() {
	t.rows.close()
	if t.scrapes.rows != nil {
		t.scrapes.rows.close()
	}
}

// run measures one block. Everything that takes time on its own account comes
// first: the building of prompts, the pause, the warm-up. Connections are
// opened last, as an idle one is dropped after a few seconds.
func (s *station) run(ctx context.Context, b *block) (_ *timed, err error) {
	t := &timed{head: b.head, rows: newSpool(), scrapes: &scraper{ep: s, log: s.job.Logf}}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if err := s.describe(b, &t.head); err != nil { // before anything is built: both need memory
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	feed, built := newFeeder(s, b.prompts, b.requests, b.request), make(chan struct{})
	go func() { defer close(built); feed.run(ctx) }()
	defer func() { stop(); <-built }()
	if err := feed.ready(); err != nil {
		return nil, err
	}
	if err := s.settle(ctx, b, t); err != nil {
		return nil, err
	}
	s.dispatch(ctx, b, feed, t)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	t.head.Stalls, err = feed.stalls()
	return t, err
}

// settle brings the client, the endpoint and the connections between them into
// the state that the block is to begin in.
func (s *station) settle(ctx context.Context, b *block, t *timed) (err error) {
	if b.pause > 0 {
		s.job.Progress(0, b.requests, "cooling down for "+b.pause.String())
		wait(ctx, b.pause)
	}
	took, err := s.warmUp(ctx, b)
	if err != nil {
		return err
	}
	streams := min(b.connections(took), s.conns)
	if !b.checked {
		if t.head.SelfCheck, err = s.selfCheck(ctx, streams); err != nil {
			return err
		}
	}
	if b.gate != nil {
		if err := b.gate(ctx); err != nil {
			return err
		}
	}
	t.scrapes.before(ctx)
	return s.Warm(ctx, streams)
}

// describe fills in what the header says of prompts.
func (s *station) describe(b *block, head *evidence.CellHeader) (err error) {
	head.Model = s.pin.Observed.Served
	if s.cell.Beside != nil {
		head.Beside = s.cell.Beside(s.job.Step().Where)
	}
	head.Prompts.Builder, head.Prompts.Attempt = b.prompts.ID(), s.attempt
	head.Prompts.SHA256, head.Prompts.Distinct, err = prompts.Digest(b.prompts, b.requests)
	return err
}

// warmUp sends the untimed requests and returns how long one took on average,
// 0 = not known. What fails in it will fail again in what is timed.
func (s *station) warmUp(ctx context.Context, b *block) (time.Duration, error) {
	if b.untimed == 0 {
		return 0, ctx.Err()
	}
	s.job.Progress(0, b.requests, "warm-up")
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	send := func(ctx context.Context, i int) llm.Response {
		r, err := b.before(i)
		if err == nil {
			var req *llm.Prepared
			if req, err = s.Prepare(r); err == nil {
				return s.Do(ctx, req)
			}
		}
		fail(fmt.Errorf("warm-up: %w", err))
		return llm.Response{Failure: &llm.Failure{Class: llm.ClassCanceled}}
	}
	var sum time.Duration
	n := 0
	dispatch.Closed(ctx, min(b.workers, b.untimed), b.untimed, send, func(r dispatch.Result) {
		if r.Response.Failure == nil {
			sum += time.Duration(r.Response.Times.End)
			n++
		}
	})
	return sum / time.Duration(max(n, 1)), context.Cause(ctx)
}

// Of an open loop it is not known how many requests will be in flight. Little's
// law says how many to expect, from the time that one took in the warm-up.
const (
	guessedLatency  = 5 * time.Second
	mostConnections = 512 // opened beforehand; further ones are opened when needed, and marked so
)

func (b *block) connections(took time.Duration) int {
	if b.offsets == nil {
		return min(b.workers, b.requests)
	}
	if took == 0 {
		took = guessedLatency
	}
	rate := float64(len(b.offsets)) / max(b.window.Seconds(), 1e-3)
	return max(1, min(int(2*rate*took.Seconds())+1, b.requests, mostConnections))
}

// dispatch sends what is timed and keeps a row of each request as it ends.
func (s *station) dispatch(ctx context.Context, b *block, feed *feeder, t *timed) {
	send := func(ctx context.Context, i int) llm.Response {
		req := feed.take(i)
		if req == nil {
			return llm.Response{Failure: &llm.Failure{Class: llm.ClassCanceled}}
		}
		return s.Do(ctx, req)
	}
	progress := newTicker(s.job, b.requests)
	take := func(r dispatch.Result) {
		ask, waited := feed.back(r.Index)
		r.Dispatched += int64(waited) // only then was it written
		t.take(ctx, b, r, ask)
		progress.one()
	}
	cpu := s.cpu()
	start := time.Now()
	t.scrapes.start(ctx, start)
	pulse := dispatch.StartPulse()
	out := s.loop(ctx, b, send, take)
	t.head.Pulse = new(pulse.Stop())
	t.head.CPUSelfNS = used(cpu, s.cpu())
	t.scrapes.after(ctx, start)
	t.head.ServerScrape = t.scrapes.why()
	t.head.StartUnixNS, t.head.WallNS = out.Start.UnixNano(), out.WallNS
	t.head.MaxInFlight, t.head.InFlightNS = out.MaxInFlight, out.InFlightNS
	t.head.Requests, t.head.Unsent, t.head.StalledNS = out.Sent, out.Unsent, int64(out.Stalled)
	if errors.Is(out.Err, dispatch.ErrBacklog) {
		s.job.Logf("%s: %v", t.head.Cell, out.Err) // what was cut and not sent says so in the result
	}
	progress.end(time.Duration(out.WallNS))
}

func (s *station) loop(ctx context.Context, b *block, send dispatch.Send, take func(dispatch.Result)) dispatch.Outcome {
	open := s.cell.open
	switch {
	case b.offsets == nil:
		return dispatch.Closed(ctx, b.workers, b.requests, send, take)
	case open == nil:
		open = dispatch.Open
	}
	return open(ctx, b.offsets, b.window, b.cancel, send, take)
}

func used(before, after int64) int64 {
	if before < 0 || after < 0 {
		return -1
	}
	return after - before
}
