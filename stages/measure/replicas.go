package measure

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/cupel-dev/cupel/engine/step"
)

// replicas measures the same cell at the same time on each replica.
func (c Cell) replicas(ctx context.Context, job step.Job, p *cellParams, need Need) (err error) {
	var all []*station
	defer func() {
		for _, at := range all {
			at.Close()
		}
	}()
	for i := range p.Workload.Replicas.Count {
		need.Replica = i
		at, err := c.station(ctx, job, p, need)
		if err != nil {
			return fmt.Errorf("replica %d: %w", i+1, err)
		}
		all = append(all, at)
	}
	blocks, err := c.together(ctx, job, p, all)
	if err != nil {
		return err
	}
	out, err := newCellFile(job)
	if err != nil {
		return err
	}
	for i, t := range blocks {
		if err := errors.Join(t.hopeless(), out.add(t)); err != nil {
			return fmt.Errorf("replica %d: %w", i+1, err)
		}
	}
	if err := out.close(); err != nil {
		return err
	}
	for i, at := range all {
		if err := at.recheck(ctx); err != nil {
			return fmt.Errorf("replica %d: %w", i+1, err)
		}
	}
	return nil
}

// together runs one block on each replica. All wait for the last one to be
// ready, so that their windows overlap.
func (c Cell) together(ctx context.Context, job step.Job, p *cellParams, all []*station) ([]*timed, error) {
	head, err := p.header(job)
	if err != nil {
		return nil, err
	}
	gate := newGate(len(all))
	out := make([]*timed, len(all))
	first, err := newCapacity(p, head, p.Of)
	if err != nil {
		return nil, err
	}
	if err := first.start(ctx, all[0]); err != nil {
		return nil, err
	}
	if first.head.SelfCheck, err = all[0].selfCheck(ctx, len(all)*p.Concurrency); err != nil {
		return nil, err
	}
	g, ctx := errgroup.WithContext(ctx)
	for i, at := range all {
		one := *first
		b, err := one.next(nil)
		if err != nil {
			return nil, err
		}
		b.head.Replica, b.gate, b.checked = i+1, gate.wait, true
		g.Go(func() (err error) {
			if out[i], err = at.run(ctx, b); err != nil {
				err = fmt.Errorf("replica %d: %w", i+1, err)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		for _, t := range out {
			if t != nil {
				t.close()
			}
		}
		return nil, err
	}
	return out, nil
}

// gate opens when n have come.
type gate struct {
	missing atomic.Int64
	open    chan struct{}
}

func newGate(n int) *gate {
	g := &gate{open: make(chan struct{})}
	g.missing.Store(int64(n))
	return g
}

func (g *gate) wait(ctx context.Context) error {
	if g.missing.Add(-1) == 0 {
		close(g.open)
	}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
