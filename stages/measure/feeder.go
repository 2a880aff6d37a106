package measure

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// feedAhead bounds what is built before it is sent. Most cells fit into it, and
// are built as a whole before the first request.
const feedAhead = 64 << 20

// feeder builds requests in order, ahead of the dispatch and by a goroutine of
// its own: building must never be a part of what is timed.
type feeder struct {
	ep      Endpoint
	builder prompts.Builder
	request func(i int, p prompts.Prompt) llm.Request
	n       int
	ahead   int64

	mu     sync.Mutex
	cond   *sync.Cond
	built  map[int]fed // not sent yet
	flying map[int]fed // sent, and not yet taken back
	held   int64       // bytes in built
	next   int         // the first that is not built
	waits  int         // sends that found their request not built
	err    error
	ended  bool
}

// fed is a request that is ready, with what its answer will be held against.
type fed struct {
	req    *llm.Prepared // nil once it was sent
	prompt prompts.Prompt
	size   int64
	waited time.Duration // for it to be built, when it was to be sent
}

func newFeeder(ep Endpoint, b prompts.Builder, n int, request func(int, prompts.Prompt) llm.Request) *feeder {
	f := &feeder{ep: ep, builder: b, request: request, n: n, ahead: feedAhead, built: map[int]fed{}, flying: map[int]fed{}}
	f.cond = sync.NewCond(&f.mu)
	return f
}

// run builds everything, and waits whenever enough is ready.
func (f *feeder) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, f.end)
	defer stop()
	for i := range f.n {
		one, err := f.build(i)
		if !f.add(i, one, err) {
			return
		}
	}
}

func (f *feeder) build(i int) (fed, error) {
	p, err := f.builder.Build(i)
	if err != nil {
		return fed{}, fmt.Errorf("prompt %d: %w", i, err)
	}
	req, err := f.ep.Prepare(f.request(i, p))
	if err != nil {
		return fed{}, fmt.Errorf("request %d: %w", i, err)
	}
	p.Text = "" // the body holds it
	return fed{req: req, prompt: p, size: int64(len(req.Body) + 24*len(p.Words) + 512)}, nil
}

func (f *feeder) add(i int, one fed, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.cond.Broadcast()
	if err != nil {
		f.err = err
		return false
	}
	for f.held > 0 && f.held+one.size > f.ahead && !f.ended {
		f.cond.Broadcast() // ready waits for a full window too
		f.cond.Wait()
	}
	f.built[i] = one
	f.held += one.size
	f.next = i + 1
	return !f.ended
}

// ready waits until everything is built, or as much as may be held.
func (f *feeder) ready() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.next < f.n && f.err == nil && !f.ended && !f.full() {
		f.cond.Wait()
	}
	return f.err
}

// full reports whether another request like the last one would not fit.
func (f *feeder) full() bool {
	return f.next > 0 && f.held+f.built[f.next-1].size > f.ahead
}

// take returns the request with the index i, nil when there will be none.
func (f *feeder) take(i int) *llm.Prepared {
	f.mu.Lock()
	defer f.mu.Unlock()
	waited := f.wait(i)
	one, ok := f.built[i]
	if !ok {
		return nil
	}
	delete(f.built, i)
	f.held -= one.size
	f.cond.Broadcast()
	req := one.req
	one.req, one.waited = nil, waited
	f.flying[i] = one
	return req
}

// wait waits until request i is built, which it almost always is.
func (f *feeder) wait(i int) time.Duration {
	if i < f.next {
		return 0
	}
	f.waits++
	since := time.Now()
	for i >= f.next && f.err == nil && !f.ended {
		f.cond.Wait()
	}
	return time.Since(since)
}

// back returns what is known of a request that ended.
func (f *feeder) back(i int) (p prompts.Prompt, waited time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.flying[i]
	delete(f.flying, i)
	return one.prompt, one.waited
}

// end wakes everyone: nothing more is needed.
func (f *feeder) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.cond.Broadcast()
}

// stalls is how often a request was not ready when it was to be sent.
func (f *feeder) stalls() (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waits, f.err
}
