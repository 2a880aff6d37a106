package build

import (
	"context"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// maxWorkers bounds how many batches are in memory at once.
const maxWorkers = 4

func workers() int { return min(runtime.GOMAXPROCS(0), maxWorkers) }

// ordered runs work on what next returns, several at a time, and hands the
// results to sink in the order of next. next ends with io.EOF; next and sink run
// in one goroutine each.
func ordered[In, Out any](ctx context.Context, next func() (In, error), work func(In) (Out, error), sink func(Out) error) error {
	type result struct {
		out Out
		err error
	}
	type job struct {
		in   In
		slot chan result
	}
	g, ctx := errgroup.WithContext(ctx)
	queue := make(chan chan result, workers())
	jobs := make(chan job)
	g.Go(func() error {
		defer close(queue)
		defer close(jobs)
		for {
			in, err := next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			j := job{in, make(chan result, 1)}
			for _, send := range []func() error{
				func() error { return put(ctx, queue, j.slot) },
				func() error { return put(ctx, jobs, j) },
			} {
				if err := send(); err != nil {
					return err
				}
			}
		}
	})
	for range workers() {
		g.Go(func() error {
			for j := range jobs {
				out, err := work(j.in)
				j.slot <- result{out, err}
			}
			return nil
		})
	}
	g.Go(func() error {
		for slot := range queue {
			var r result
			select {
			case r = <-slot:
			case <-ctx.Done():
				return ctx.Err()
			}
			if r.err != nil {
				return r.err
			}
			if err := sink(r.out); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

func put[T any](ctx context.Context, c chan<- T, v T) error {
	select {
	case c <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
