package dispatch

import (
	"sync"
	"time"
)

// roomFor is how many results may wait for take before workers of a closed
// loop wait as well.
const roomFor = 1024

// loop is what both loops share: it hands out indices, counts what is in
// flight, and carries results to take. Everything happens under one lock and
// with time stamps taken under it, so the order of dispatch is the order of the
// indices, and results are queued in the order in which requests ended.
//
// A goroutine that can add results is a member; when the last one has left and
// the queue is empty, the loop is over.
//
//	len(queue) <= room + members                  (closed loop: one joins the queue, then waits)
//	members + len(queue) + inHand <= limit + 1    (open loop)
type loop struct {
	start    time.Time
	requests int
	window   time.Duration // 0 = none
	room     int           // 0 = nobody waits

	mu      sync.Mutex
	filled  sync.Cond // the queue has something, or the last member has left
	emptied sync.Cond // the queue was taken over
	members int
	queue   []Result
	inHand  int // results that take is going through

	next         int // index
	flying, peak int
	area, last   int64 // ns x requests, and ns, up to which it is counted
	end          int64 // ns, of the last request
	stalled      time.Duration
}

func newLoop(requests int) *loop {
	l := &loop{requests: requests}
	l.filled.L, l.emptied.L = &l.mu, &l.mu
	return l
}

// join adds members that may still add results.
func (l *loop) join(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.members += n
}

func (l *loop) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.members--; l.members == 0 {
		l.filled.Signal()
	}
}

// enlist adds a member unless limit requests are in flight or wait to be taken
// already, not counting the member that enlists them.
func (l *loop) enlist(limit int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.members-1+len(l.queue)+l.inHand >= limit {
		return false
	}
	l.members++
	return true
}

// begin hands out the next index and stamps its dispatch; ok is false when all
// are sent or the window is over.
func (l *loop) begin() (index int, at int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := int64(time.Since(l.start))
	if l.next >= l.requests || l.window > 0 && now >= int64(l.window) {
		return 0, 0, false
	}
	l.advance(now)
	l.flying++
	l.peak = max(l.peak, l.flying)
	l.next++
	return l.next - 1, now, true
}

// done stamps the end of a request, queues its result, and then waits for room
// in the queue when the loop is one that waits.
func (l *loop) done(r Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = int64(time.Since(l.start))
	l.advance(l.end)
	l.flying--
	l.queue = append(l.queue, r)
	l.filled.Signal()
	if l.room == 0 || len(l.queue) <= l.room {
		return
	}
	since := time.Now()
	for len(l.queue) > l.room {
		l.emptied.Wait()
	}
	l.stalled += time.Since(since)
}

func (l *loop) advance(now int64) {
	l.area += int64(l.flying) * (now - l.last)
	l.last = now
}

// deliver calls take with every result until the last member has left. Two
// buffers take turns, and a result is let go as soon as it was taken.
func (l *loop) deliver(take func(Result)) {
	var batch []Result
	for {
		batch = l.swap(batch)
		if len(batch) == 0 {
			return
		}
		for i, r := range batch {
			batch[i] = Result{}
			take(r)
		}
	}
}

// swap gives an emptied buffer for the queue, and waits until there is one
// worth having; an empty answer is the end.
func (l *loop) swap(empty []Result) []Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inHand = 0
	for len(l.queue) == 0 && l.members > 0 {
		l.filled.Wait()
	}
	full := l.queue
	l.queue, l.inHand = empty[:0], len(full)
	l.emptied.Broadcast()
	return full
}

// outcome is called after deliver.
func (l *loop) outcome() Outcome {
	return Outcome{
		Start: l.start, WallNS: l.end, InFlightNS: l.area, MaxInFlight: l.peak,
		Sent: l.next, Unsent: l.requests - l.next, Stalled: l.stalled,
	}
}
