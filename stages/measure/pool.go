package measure

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/cupel-dev/cupel/stages/llm"
)

// pool is a closed loop: each of its workers sends the next request as soon as
// its last one is answered. Nothing is retried, nothing waits for a batch.
type pool struct {
	ep      Endpoint
	workers int
}

// run sends every request once, in order of dispatch, and returns the answers
// by index and the most that were in flight together. When ctx ends it returns
// early, with zero answers for what was not sent.
func (p pool) run(ctx context.Context, reqs []*llm.Prepared) (answers []llm.Response, most int) {
	answers = make([]llm.Response, len(reqs))
	var next, flying, peak atomic.Int64
	var wg sync.WaitGroup
	for range min(p.workers, len(reqs)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= len(reqs) {
					return
				}
				raise(&peak, flying.Add(1))
				answers[i] = p.ep.Do(ctx, reqs[i])
				flying.Add(-1)
			}
		})
	}
	wg.Wait()
	return answers, int(peak.Load())
}

func raise(peak *atomic.Int64, n int64) {
	for {
		p := peak.Load()
		if n <= p || peak.CompareAndSwap(p, n) {
			return
		}
	}
}
