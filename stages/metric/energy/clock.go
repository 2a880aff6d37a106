package energy

import (
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

const (
	// drift is by how much two unsteered clocks run apart: crystals keep 50 ppm.
	drift = 100e-6
	// slew is by how much a wall clock that is steered runs apart from a monotonic one.
	slew = 500e-6
	// jumpNS is by how much the wall clock may move against the monotonic one from
	// one look at both to the next: more was not the scheduler.
	jumpNS = 50e6
	// latestNS bounds wall clocks, at the year 2096, so that sums of two are numbers.
	latestNS = 4e18
)

// clock maps a wall clock to the clock of a trace.
type clock struct {
	at    []int64 // moments of the trace
	ahead []int64 // wall clock minus trace's at them
	slew  float64 // by how much the one may run apart from the other
	why   string
}

// newClock reads how the trace's own wall clock went.
func newClock(tr *trace.Trace) *clock {
	c := &clock{slew: slew}
	if tr.Made == "import" {
		c.slew = 0 // the trace's clock is that wall clock: it is all that was written down
	}
	add := func(t, wall int64) {
		if wall <= 0 || wall > latestNS || t < 0 || t > latestNS/2 {
			c.why = metric.ClockUnknown
			return
		}
		c.at, c.ahead = append(c.at, t), append(c.ahead, wall-t)
	}
	if tr.WallNS != 0 {
		add(0, tr.WallNS)
	}
	syncs := slices.SortedFunc(slices.Values(tr.Syncs), func(a, b trace.Noted[int64]) int { return int(min(max(a.T-b.T, -1), 1)) })
	for _, s := range syncs {
		add(s.T, s.V)
	}
	if len(c.at) == 0 {
		c.why = metric.ClockUnknown
	}
	for i := 1; i < len(c.at) && c.why == ""; i++ {
		if moved := c.ahead[i] - c.ahead[i-1]; math.Abs(float64(moved)) > jumpNS+2*slew*float64(c.at[i]-c.at[i-1]) {
			c.why = metric.ClockStepped
		}
	}
	return c
}

// place is where on the trace a moment of its own wall clock is, and by how many ns
// that may be wrong.
func (c *clock) place(wall int64) (t, off int64) {
	i := 0
	for i+1 < len(c.at) && wall-c.ahead[i+1] >= c.at[i+1] {
		i++
	}
	t, near := wall-c.ahead[i], i
	if i+1 < len(c.at) && t > c.at[i] {
		apart := c.ahead[i+1] - c.ahead[i]
		share := min(float64(t-c.at[i])/float64(max(c.at[i+1]-c.at[i], 1)), 1)
		if share > 0.5 {
			near = i + 1
		}
		t -= int64(float64(apart) * share)
		off = max(apart, -apart) / 2
	}
	away := t - c.at[near]
	return t, off + int64(c.slew*float64(max(away, -away)))
}

// offset is by how much that machine's wall clock is ahead of this one's at a moment
// of this one, and how far off that may be. Every exchange bounds it from both sides:
// an answer was written after the question was sent and before it came back. The
// bounds widen with time, and the narrowest on either side count, so that one quick
// exchange is worth more than many slow ones.
func offset(exchanges []trace.Noted[trace.Offset], wall int64) (ahead, off int64, why string) {
	if len(exchanges) == 0 {
		return 0, 0, metric.ClockUnknown
	}
	low, high := math.Inf(-1), math.Inf(1)
	for _, n := range exchanges {
		x := n.V
		if !sane(x.Sent) || !sane(x.Received) || !sane(x.There) || x.Received < x.Sent {
			return 0, 0, metric.ClockUnknown
		}
		wide := drift * math.Abs(float64(wall-x.Sent))
		low = max(low, float64(x.There-x.Received)-wide)
		high = min(high, float64(x.There-x.Sent)+wide)
	}
	if low > high {
		return 0, 0, metric.ClockStepped
	}
	return int64((low + high) / 2), int64(math.Ceil((high - low) / 2)), ""
}

func sane(ns int64) bool { return ns >= 0 && ns <= latestNS }

// shift is the trace's clock minus the cell's, and by how many ns it may be wrong over
// the cell.
func (t *Trial) shift(c *clock) (shift, off int64, why string) {
	if c.why != "" {
		return 0, 0, c.why
	}
	if !sane(t.StartUnixNS) || t.StartUnixNS == 0 {
		return 0, 0, metric.ClockUnknown
	}
	at, off, why := t.placed(c, t.StartUnixNS)
	if !t.Local {
		_, end := t.whole()
		off += int64(drift * float64(max(end, 0)))
	}
	return at, off, why
}

// placed is where on the trace a moment of this machine's wall clock is.
func (t *Trial) placed(c *clock, wall int64) (at, off int64, why string) {
	if t.Local {
		at, off = c.place(wall)
		return at, off, ""
	}
	if len(t.Trace.Offsets) == 0 {
		there, here := t.Trace.Clock, t.Clock
		if !there.Synchronised || !here.Synchronised || there.ErrorNS <= 0 || here.ErrorNS <= 0 {
			return 0, 0, metric.ClockUnknown
		}
		at, off = c.place(wall)
		return at, off + min(there.ErrorNS, latestNS/8) + min(here.ErrorNS, latestNS/8), ""
	}
	ahead, unsure, why := offset(t.Trace.Offsets, wall)
	if why != "" {
		return 0, 0, why
	}
	if !sane(wall + ahead) {
		return 0, 0, metric.ClockUnknown
	}
	at, off = c.place(wall + ahead)
	return at, off + unsure, ""
}
