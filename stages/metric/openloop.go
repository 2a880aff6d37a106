package metric

import "fmt"

const (
	// OffRateAbove is how far the achieved rate may be from the offered one.
	OffRateAbove = 0.01
	// LateLeastMS bounds, with LagShare of the cell's median TTFT, how late the
	// p99 of the requests may leave: later ones are another schedule, though
	// as many requests a second.
	LateLeastMS = 10.0
)

// openLoop fills what a schedule asked for and what became of it.
func (c *Cell) openLoop(p *pool) {
	if p.o.Concurrency > 0 {
		c.OfferedRate, c.AchievedRate = Null(ClosedLoop, unitReqS), Null(ClosedLoop, unitReqS)
		return
	}
	planned := float64(c.Attempted + c.Unsent + p.unaccounted())
	c.OfferedRate = Ratio(planned, p.window(), unitReqS, ZeroDuration)
	c.AchievedRate = Ratio(float64(c.Attempted), p.window(), unitReqS, ZeroDuration)
	if o, a := c.OfferedRate.Value, c.AchievedRate.Value; o != nil && a != nil && *o > 0 {
		c.OffRate = off(*a / *o, OffRateAbove)
	}
}

// window is the time in which requests were sent, in seconds. What was still
// in flight at its end took longer, and is no part of a rate of requests.
func (p *pool) window() (s float64) {
	for _, t := range p.trials {
		s += seconds(max(t.WindowNS, 0))
	}
	return s
}

// scheduleLag is about the client, so it is over every request that was sent,
// whatever became of it.
func (p *pool) scheduleLag() Dist {
	p.column = p.column[:0]
	why := NoRequests
	for _, t := range p.trials {
		for i := range t.Requests {
			if r := &t.Requests[i]; r.Planned >= 0 {
				p.column = append(p.column, ms(r.lag()))
			} else {
				why = ClosedLoop
			}
		}
	}
	return distOf(p.column, unitMS, why)
}

// lateLimit is how late the p99 of the requests may leave, in ms.
func (c *Cell) lateLimit() float64 { return c.shareOfTTFT(LateLeastMS) }

func (c *Cell) lateSentence() string {
	p99 := c.ScheduleLag.P99
	if p99 == nil || *p99 <= c.lateLimit() {
		return ""
	}
	return fmt.Sprintf("off-rate: requests left up to %s ms after their planned time (p99, at most %s ms)", short(*p99), short(c.lateLimit()))
}
