package measure

import "slices"

// closedLoop is a closed loop of which more can be sent than its workload asks for.
type closedLoop interface {
	// pilot returns the block that the workload itself would be, of other prompts and of
	// enough requests that all clients are busy for a while.
	pilot() (*block, error)
	// long returns a block of at least n requests, and of no fewer than the
	// workload's, without pause and warm-up.
	long(n int) (*block, error)
}

func (c *capacity) pilot() (*block, error) {
	one := *c
	one.stage, one.requests = pilotStage, busy(c.requests, c.p.Concurrency)
	return one.next(nil)
}

func (c *capacity) long(n int) (*block, error) {
	one := *c
	one.requests = max(n, c.requests)
	return warm(one.next(nil))
}

func (d *decode) pilot() (*block, error) {
	one, w := *d, *d.w
	w.Requests = busy(w.Requests, d.p.Concurrency)
	one.w, one.stage = &w, pilotStage
	return one.next(nil)
}

func (d *decode) long(n int) (*block, error) {
	one, w := *d, *d.w
	w.Requests = max(n, w.Requests)
	one.w = &w
	return warm(one.next(nil))
}

func (b *bench) pilot() (*block, error) {
	one := *b
	one.items = slices.Clone(b.items)
	for i := range one.items {
		one.items[i].Place = b.p.place(b.p.Cell + pilotStage)
	}
	return one.next(nil)
}

func (b *bench) long(n int) (*block, error) {
	one := *b
	one.runs = max((n+len(b.items)-1)/len(b.items), b.runs)
	return warm(one.next(nil))
}

// busy is how many requests a pilot sends: those of the workload, and no fewer than keep
// every client busy until it has asked twice. With fewer than there are clients nothing
// is learned of how long an answer takes beside all the others.
func busy(requests, concurrency int) int { return max(requests, 2*concurrency) }

// pilotStage tells the prompts of the pilot run from those that are timed.
const pilotStage = "/pilot"

// warm is a block of which everything that comes before it was done by the pilot.
func warm(b *block, err error) (*block, error) {
	if err == nil {
		b.pause, b.untimed = 0, 0
	}
	return b, err
}
