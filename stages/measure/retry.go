package measure

import (
	"context"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
)

// longestWait bounds both our own backoff and what a server may ask for.
const longestWait = 30 * time.Second

// DefaultBackoff doubles from half a second; attempt counts from 1.
func DefaultBackoff(attempt int) time.Duration {
	return min(time.Second/2<<min(attempt-1, 10), longestWait)
}

// sender sends a request, and again while nothing of an answer had come.
type sender struct {
	ep      Endpoint
	retries int
	backoff func(attempt int) time.Duration
}

// send returns the last answer and the number of times that it was asked for.
// flight bounds the requests; when stop ends, no further attempt is made.
func (s sender) send(stop, flight context.Context, req *llm.Prepared) (llm.Response, int) {
	for n := 1; ; n++ {
		r := s.ep.Do(flight, req)
		if n > s.retries || !retryable(r.Failure) || !wait(stop, s.delay(n, r.Failure)) {
			return r, n
		}
	}
}

// retryable failures are those in which no answer had begun: nothing was
// connected, or the server refused with a status instead of answering.
func retryable(f *llm.Failure) bool {
	if f == nil {
		return false
	}
	switch f.Class {
	case llm.ClassUnreachable:
		return f.NoByte
	case llm.ClassOverload, llm.ClassServerError:
		return f.NoByte || f.Status != 0
	}
	return false
}

func (s sender) delay(attempt int, f *llm.Failure) time.Duration {
	backoff := s.backoff
	if backoff == nil {
		backoff = DefaultBackoff
	}
	asked := min(time.Duration(f.RetryAfter)*time.Second, longestWait)
	return max(backoff(attempt), asked)
}

// wait reports whether d passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
