package foreign

import "sync"

// Ordered runs work on what produce yields, in workers goroutines, and hands
// the results to emit in the order of the yields. newWork is called once for
// each goroutine. It returns the first error of emit, else that of produce,
// after every goroutine has ended.
func Ordered[I, O any](workers int, produce func(yield func(I) error) error, newWork func() func(I) O, emit func(O) error) error {
	workers = max(workers, 1)
	var (
		jobs  = make(chan job[I, O])
		queue = make(chan job[I, O], 2*workers) // bounds what is in memory
		stop  = make(chan struct{})
		group sync.WaitGroup
		bad   error
	)
	for range workers {
		work := newWork()
		group.Go(func() {
			for j := range jobs {
				j.out <- work(j.in)
			}
		})
	}
	group.Go(func() {
		defer close(queue)
		defer close(jobs)
		bad = produce(func(in I) error {
			j := job[I, O]{in, make(chan O, 1)}
			select {
			case queue <- j:
			case <-stop:
				return errStopped
			}
			jobs <- j
			return nil
		})
	})
	err := drain(queue, emit, stop)
	group.Wait()
	if err == nil {
		err = bad
	}
	return err
}

type job[I, O any] struct {
	in  I
	out chan O
}

// drain hands on results until emit fails; then it lets the producer end.
func drain[I, O any](queue chan job[I, O], emit func(O) error, stop chan struct{}) error {
	var err error
	for j := range queue {
		out := <-j.out
		if err != nil {
			continue
		}
		if err = emit(out); err != nil {
			close(stop)
		}
	}
	return err
}
