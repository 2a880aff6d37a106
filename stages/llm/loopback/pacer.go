package loopback

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// tick is the shortest sleep: at 100,000 events a second, one wake-up writes
// the handful of events that came due meanwhile, and none is later for it than
// this.
const tick = 30 * time.Microsecond

// longest is the longest sleep, so that the end of the server is noticed soon.
const longest = 10 * time.Millisecond

// stream is one answer being written.
type stream struct {
	frames *frames
	write  func([]byte) error // all of it at once, or an error; never waits
	ended  chan error         // cap 1: nil when the last event is out
	read   int64              // when its request was read, on the pacer's clock
	sent   int                // events written
}

// pacer writes the events of all streams, each at its planned time, on one
// thread. All streams have one schedule, so two queues that are in order by
// nature take the place of a heap: streams before their first event, and
// streams between two events.
type pacer struct {
	schedule Schedule
	epoch    time.Time           // zero of the pacer's clock
	sleep    func(time.Duration) // as exact as can be had
	tally    *tally
	starts   queue
	gaps     queue

	mu      sync.Mutex
	arrived []*stream
	wake    chan struct{} // cap 1: something arrived
}

func newPacer(s Schedule, t *tally, sleep func(time.Duration)) *pacer {
	return &pacer{schedule: s, epoch: time.Now(), sleep: sleep, tally: t, wake: make(chan struct{}, 1)}
}

// add takes a stream whose request has been read just now. The clock is read
// under the lock, which keeps the queue in order.
func (p *pacer) add(s *stream) {
	p.mu.Lock()
	s.read = int64(time.Since(p.epoch))
	p.arrived = append(p.arrived, s)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run paces until ctx ends. A sleep is never longer than the wait for a first
// event: who arrives while the pacer sleeps is seen in time.
func (p *pacer) run(ctx context.Context) {
	runtime.LockOSThread() // the timer slack is the thread's
	defer runtime.UnlockOSThread()
	sharpen()
	for ctx.Err() == nil {
		if wait, busy := p.round(); busy {
			p.sleep(min(max(wait, tick), p.schedule.First, longest))
			continue
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
		}
	}
}

// round writes what is due and returns how long it is until the next event;
// busy = there is one.
func (p *pacer) round() (wait time.Duration, busy bool) {
	for {
		p.take()
		q := p.next()
		if q == nil {
			return 0, false
		}
		s := q.head()
		wall := time.Now()
		now := int64(wall.Sub(p.epoch))
		if due := p.schedule.planned(s.read, s.sent); due > now {
			return time.Duration(due - now), true
		}
		q.pop()
		p.event(s, now, wall)
	}
}

// take moves what has arrived into its queue.
func (p *pacer) take() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range p.arrived {
		p.starts.push(s)
		p.arrived[i] = nil
	}
	p.arrived = p.arrived[:0]
}

// next is the queue whose head is due first, nil when both are empty.
func (p *pacer) next() *queue {
	a, b := p.starts.head(), p.gaps.head()
	switch {
	case a == nil && b == nil:
		return nil
	case b == nil || a != nil && p.schedule.planned(a.read, 0) <= p.schedule.planned(b.read, b.sent):
		return &p.starts
	}
	return &p.gaps
}

// event writes a stream's next event and queues it for the one after.
func (p *pacer) event(s *stream, now int64, wall time.Time) {
	if s.sent == 0 {
		p.tally.begin(now - s.read)
	}
	p.tally.late(now - p.schedule.planned(s.read, s.sent))
	err := s.write(s.frames.event(s.sent, wall.UnixNano()))
	s.sent++
	if err != nil || s.sent == p.schedule.Events {
		if err != nil {
			p.tally.broken()
		}
		s.ended <- err
		return
	}
	p.gaps.push(s)
}

// queue is first in, first out.
type queue struct {
	list []*stream
	from int
}

func (q *queue) head() *stream {
	if q.from == len(q.list) {
		return nil
	}
	return q.list[q.from]
}

func (q *queue) push(s *stream) {
	if q.from > 64 && q.from > len(q.list)/2 {
		n := copy(q.list, q.list[q.from:])
		clear(q.list[n:])
		q.list, q.from = q.list[:n], 0
	}
	q.list = append(q.list, s)
}

func (q *queue) pop() {
	q.list[q.from] = nil
	q.from++
}
