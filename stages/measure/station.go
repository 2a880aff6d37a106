package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm/loopback"
	"github.com/cupel-dev/cupel/stages/metric"
)

// station is one endpoint that a cell is measured at.
type station struct {
	*session
	job     step.Job
	cell    Cell
	control string // of reasoning, for requests that are not a kind's own
	system  string // prompt of the candidate, likewise
	conns   int    // that are kept
	attempt string // see Cell.Attempt
}

func (c Cell) station(ctx context.Context, job step.Job, p *cellParams, n Need) (*station, error) {
	s := &station{job: job, cell: c, control: control(p.Reasoning), system: p.System, conns: n.Conns, attempt: p.attempt}
	var err error
	s.session, err = c.Dial.open(ctx, job, n)
	return s, err
}

func (s *station) cpu() int64 {
	if s.cell.CPU != nil {
		return s.cell.CPU()
	}
	return loopback.CPUTime()
}

// selfCheck looks at what this client can do at a concurrency.
func (s *station) selfCheck(ctx context.Context, concurrency int) (*metric.SelfCheck, error) {
	if s.cell.SelfCheck == nil {
		return nil, ctx.Err()
	}
	got, err := s.cell.SelfCheck(ctx, concurrency)
	if err != nil && ctx.Err() == nil {
		err = step.WithHint(fmt.Errorf("self-check: %w", err), "without it nobody knows whether the client is fast enough for what it is to measure")
	}
	return got, err
}

// cellFile writes the blocks of a step, one after the other.
type cellFile struct {
	cell, scrapes *lines
	ok, n         int
	outside       tally
}

func newCellFile(job step.Job) (*cellFile, error) {
	f := &cellFile{}
	var err error
	if f.cell, err = createLines(job, evidence.OutCell); err != nil {
		return nil, err
	}
	f.scrapes, err = createLines(job, evidence.OutScrapes)
	return f, err
}

// add writes a block: its header, its rows, and beside them what the engine
// said of itself.
func (f *cellFile) add(t *timed) error {
	defer t.close()
	f.n += t.head.Requests
	f.ok += t.ok
	f.outside.join(&t.outside)
	line, err := encode(t.head)
	if err != nil {
		return err
	}
	f.cell.put(line)
	if f.cell.err == nil {
		f.cell.err = t.rows.copy(f.cell.w)
	}
	if f.scrapes.err == nil && t.head.ServerScrape == "" {
		f.scrapes.err = t.scrapes.rows.copy(f.scrapes.w)
	}
	return errors.Join(f.cell.err, f.scrapes.err)
}

// hopeless returns an error when nothing succeeded and the outside is why.
func (f *cellFile) hopeless() error { return hopeless(f.ok, f.n, &f.outside) }

func (t *timed) hopeless() error { return hopeless(t.ok, t.head.Requests, &t.outside) }

func hopeless(ok, n int, outside *tally) error {
	if ok > 0 || outside.n == 0 {
		return nil
	}
	return step.WithHint(outside.err(0, n-outside.n, n), "nothing was kept; run again when the endpoint is well")
}

func (f *cellFile) close() error { return errors.Join(f.cell.close(), f.scrapes.close()) }

// ticker tells how far a block is, twice a second at most.
type ticker struct {
	job         step.Job
	done, total int
	last        time.Time
}

func newTicker(job step.Job, total int) *ticker {
	job.Progress(0, total, "measuring")
	return &ticker{job: job, total: total, last: time.Now()}
}

func (t *ticker) one() {
	t.done++
	if now := time.Now(); now.Sub(t.last) >= time.Second/2 {
		t.last = now
		t.job.Progress(t.done, t.total, "measuring")
	}
}

func (t *ticker) end(wall time.Duration) {
	t.job.Progress(t.done, t.total, fmt.Sprintf("%.1f s", wall.Seconds()))
}
