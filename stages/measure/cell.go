package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure/dispatch"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Cell measures one cell of a serving workload. It is not resumable: a cell
// that was stopped says nothing about load and is measured again.
type Cell struct {
	Dial Dial
	CPU  func() int64 // CPU time of this process in ns, -1 = not known; nil = the operating system's answer
	// SelfCheck looks at what this client can do at a concurrency, right before
	// a block is measured at it; nil = it is not looked at.
	SelfCheck func(ctx context.Context, concurrency int) (*metric.SelfCheck, error)

	// Attempt names a measurement: prompts that are to be new depend on it, so
	// that an engine that was asked before has not seen them. It is the same for
	// all cells of a run, so that the candidates get the same prompts. nil = drawn.
	Attempt func() string

	// Beside lists the candidates that are up on the same GPUs as one; nil = it is
	// not known that there are any.
	Beside func(candidate string) []string

	// Meter returns what records the energy of a candidate's machine, a Meter whose
	// Record is nil where there is none; nil = there is none anywhere.
	Meter func(candidate string) (Meter, error)
	// Clock is what the system says of its wall clock; nil = it is not asked.
	Clock func() trace.Clock

	open opener // nil = dispatch.Open
}

// opener is dispatch.Open. It keeps to the machine's own clock, so a test by
// another clock needs another one.
type opener func(ctx context.Context, offsets []time.Duration, window time.Duration, cancelAtEnd bool, send dispatch.Send, take func(dispatch.Result)) dispatch.Outcome

// Run writes the cell file and the engine's metrics beside it. Failures of the
// outside are rows of it, unless nothing at all succeeded: then it is the
// endpoint that is not there.
func (c Cell) Run(ctx context.Context, job step.Job) error {
	if err := c.run(ctx, job); err != nil {
		return fmt.Errorf("%s: %w", job.Step().Name, err)
	}
	return nil
}

func (c Cell) run(ctx context.Context, job step.Job) error {
	var p cellParams
	if err := job.Params(&p); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	if !p.shared() {
		p.attempt = c.attempt()
	}
	limit, err := timeout(p.common().timeout)
	if err != nil {
		return err
	}
	if p.Workload.Replicas != nil {
		return c.replicas(ctx, job, &p, Need{Timeout: limit, Conns: p.Concurrency})
	}
	lay, err := p.layout(job)
	if err != nil {
		return err
	}
	at, err := c.station(ctx, job, &p, Need{Timeout: limit, Conns: lay.conns()})
	if err != nil {
		return err
	}
	defer at.Close()
	out, err := newCellFile(job)
	if err != nil {
		return err
	}
	if p.Energy != nil {
		err = c.metered(ctx, at, &p, lay, out)
	} else {
		err = c.blocks(ctx, at, lay, out)
	}
	if err != nil {
		return err
	}
	if err := out.hopeless(); err != nil {
		return err
	}
	if err := out.close(); err != nil {
		return err
	}
	return at.recheck(ctx)
}

func (c Cell) attempt() string {
	if c.Attempt != nil {
		return c.Attempt()
	}
	return fmt.Sprintf("%016x", rand.Uint64())
}

// layout is what a kind makes of a cell's parameters.
type layout interface {
	// conns is how many requests may be in flight together.
	conns() int
	// start looks at the endpoint before anything is measured: calibration.
	start(ctx context.Context, at *station) error
	// next returns the next block, nil when there is none left. last is what
	// the one before it left, nil at first.
	next(last *timed) (*block, error)
}

// blocks measures what lay asks for, block by block.
func (c Cell) blocks(ctx context.Context, at *station, lay layout, out *cellFile) error {
	if err := lay.start(ctx, at); err != nil {
		return err
	}
	var last *timed
	for {
		b, err := lay.next(last)
		if err != nil || b == nil {
			return err
		}
		if last, err = at.run(ctx, b); err != nil {
			return err
		}
		if err := out.add(last); err != nil {
			return err
		}
	}
}

// header is what every block of a cell says of itself.
func (p *cellParams) header(job step.Job) (evidence.CellHeader, error) {
	var h cellHints
	if hints := job.Step().Hints; len(hints) > 0 {
		if err := json.Unmarshal(hints, &h); err != nil {
			return evidence.CellHeader{}, fmt.Errorf("hints: %w", err)
		}
	}
	return evidence.CellHeader{
		Kind: p.kind(), Cell: p.Cell, Loop: "closed", Concurrency: p.Concurrency, Trial: job.Step().Trial, Order: h.Order,
		Apart: h.Apart,
	}, nil
}
