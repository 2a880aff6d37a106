package loopback

import (
	"math/bits"
	"sync"
)

// Stats is what the server knows of its own timing, since it was last reset.
type Stats struct {
	Schedule  Schedule `json:"schedule"`
	Requests  int64    `json:"requests"`      // streams begun
	Events    int64    `json:"events"`        // with text, written
	Cut       int64    `json:"cut"`           // streams ended early because the reader was gone or did not read
	LagP50    int64    `json:"lag_p50_ns"`    // behind the schedule, to 1/32; 0 at full speed, which has none
	LagP99    int64    `json:"lag_p99_ns"`    //
	LagMax    int64    `json:"lag_max_ns"`    //
	FirstMean int64    `json:"first_mean_ns"` // the truth: from a request read to its first event's write
}

// tally counts while streams are written. An event is counted before it is
// written, so that who has read it finds it counted.
type tally struct {
	mu       sync.Mutex
	requests int64
	events   int64
	cut      int64
	first    int64 // sum over requests
	lag      histogram
}

func (t *tally) begin(truth int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	t.first += truth
}

func (t *tally) late(lag int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events++
	t.lag.add(lag)
}

// fast counts events that no schedule holds.
func (t *tally) fast(events int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events += int64(events)
}

func (t *tally) broken() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut++
}

// stats reads the counts, and sets them back to zero if asked.
func (t *tally) stats(s Schedule, reset bool) Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := Stats{Schedule: s, Requests: t.requests, Events: t.events, Cut: t.cut,
		LagP50: t.lag.rank(50), LagP99: t.lag.rank(99), LagMax: t.lag.max}
	if t.requests > 0 {
		out.FirstMean = t.first / t.requests
	}
	if reset {
		t.requests, t.events, t.cut, t.first, t.lag = 0, 0, 0, 0, histogram{}
	}
	return out
}

// histogram counts durations in nanoseconds in buckets 1/32 wide: bounded
// memory however long the server runs.
type histogram struct {
	n     int64
	max   int64
	count [buckets]int64
}

const (
	fineBits = 5
	fineness = 1 << fineBits
	buckets  = (63-fineBits)*fineness + fineness // up to the largest int64
)

func (h *histogram) add(ns int64) {
	ns = max(ns, 0)
	h.n++
	h.max = max(h.max, ns)
	h.count[bucket(ns)]++
}

// bucket numbers durations: those below 32 ns each for themselves, then 32 per
// doubling.
func bucket(ns int64) int {
	shift := max(bits.Len64(uint64(ns))-fineBits-1, 0)
	return shift<<fineBits + int(ns>>shift)
}

// upper is the largest duration of a bucket.
func upper(b int) int64 {
	if b < 2*fineness {
		return int64(b)
	}
	shift := b>>fineBits - 1
	return (int64(b-shift<<fineBits)+1)<<shift - 1
}

// rank is the nearest-rank percentile, at most 1/32 too high; 0 when empty.
func (h *histogram) rank(p int64) int64 {
	want := (p*h.n + 99) / 100
	for b, n := range h.count {
		if want -= n; want <= 0 {
			return min(upper(b), h.max)
		}
	}
	return h.max
}
