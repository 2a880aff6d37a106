package metric

import (
	"fmt"
	"time"
)

const (
	// CheckGap is the time between two events of one stream of the self-check.
	// The loopback server's schedule has it too, which this package cannot see.
	CheckGap = 10 * time.Millisecond
	// GapLagLeastMS and GapLagShare bound how late a stamp may be for the gaps
	// between events to mean something: the larger of 1 ms and a tenth of the
	// cell's median gap. What is small against a TTFT can be all of a gap.
	GapLagLeastMS = 1.0
	GapLagShare   = 0.1
)

// uncovered tells that the trial had more streams than its self-check. Then
// bound is why the client may have been the bottleneck: more events came than
// it was shown to keep up with; else told is what a reader should know.
func (c *Cell) uncovered(t *Trial) (bound, told string) {
	s, streams := t.SelfCheck, c.streams(t)
	if s == nil || !s.Reduced && s.Concurrency >= streams {
		return "", ""
	}
	covered := float64(s.Concurrency) * float64(time.Second/CheckGap)
	if came := per(t.outputEvents(), seconds(t.WallNS), ZeroDuration); came.there() && came.v > covered {
		return fmt.Sprintf(sayClient+"%s output events came a second, and the self-check covers %s: it ran at %d streams, and up to %d requests were in flight",
			short(came.v), short(covered), s.Concurrency, streams), ""
	}
	return "", fmt.Sprintf(sayUnchecked+"the self-check ran at %d streams, and up to %d requests were in flight", s.Concurrency, streams)
}

// streams is how many requests were in flight at most; as many as were to be
// when nobody counted.
func (c *Cell) streams(t *Trial) int {
	if t.MaxInFlight > 0 {
		return t.MaxInFlight
	}
	return c.Concurrency
}

// outputEvents are those of every request: the client had to read them,
// whatever became of it.
func (t *Trial) outputEvents() (n float64) {
	for i := range t.Requests {
		n += float64(t.Requests[i].events())
	}
	return n
}

// unchecked are what nobody looked at in the client.
func (c *Cell) unchecked(t *Trial) (told []string) {
	if t.SelfCheck == nil {
		told = append(told, sayUnchecked+"the client was not checked against a server of known timing")
	}
	if t.CPUNS < 0 {
		told = append(told, sayUnchecked+"the client's CPU time could not be read")
	}
	return told
}

// gapsDoubt: stamps that come late lengthen one gap and shorten the next.
func (c *Cell) gapsDoubt() string {
	lag, gap := c.ClientLag.Value, c.EventGap.P50
	if lag == nil || gap == nil {
		return ""
	}
	limit := max(GapLagLeastMS, GapLagShare**gap)
	if *lag <= limit {
		return ""
	}
	return fmt.Sprintf("gaps-uncertain: time stamps came up to %s ms late (p99); gaps of %s ms at the median bear %s ms", short(*lag), short(*gap), short(limit))
}
