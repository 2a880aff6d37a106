package metric

import "math"

// The limits of the client's own health.
const (
	// ClientBoundAbove is the share of one core above which the client is taken
	// to have been the bottleneck. It is the whole process's CPU time, so it
	// errs on the safe side.
	ClientBoundAbove = 0.9
	// LagLeastMS and LagShare bound how late a stamp may be: the larger of 2 ms
	// and a tenth of the cell's median TTFT.
	LagLeastMS = 2.0
	LagShare   = 0.1
	// PulseTicks is how many ticks the p99 of a pulse needs to be judged by.
	PulseTicks = 100
	// FrozenShare is the share of a cell in which the client may not have run.
	FrozenShare = 0.01
	// LittleOff is how far in-flight time may be from the requests' own.
	LittleOff = 0.05
	// UsageOffAbove is how far the client's tokens may be from the engine's
	// counter.
	UsageOffAbove = 0.02
)

// health fills what the client and its pool say of themselves.
func (c *Cell) health(p *pool) {
	c.ClientOverhead = p.overhead(c.WallS)
	c.ClientLag = p.lag()
	inFlight, counted := p.inFlight()
	if !counted {
		c.InFlightMean, c.LittleRatio = Null(NotCounted, unitRequests), Null(NotCounted, unitRatio)
	} else {
		c.InFlightMean = Ratio(seconds(inFlight), c.WallS, unitRequests, ZeroDuration)
		c.LittleRatio = p.little(inFlight).in(unitRatio)
	}
	c.UsageRatio = p.usage().in(unitRatio)
	c.UsageOff = outside(c.UsageRatio, UsageOffAbove)
}

func (p *pool) overhead(wall float64) Value {
	var cpu int64
	for _, t := range p.trials {
		if t.CPUNS < 0 {
			return Null(NoCPUTime, unitShare)
		}
		cpu += t.CPUNS
	}
	return Ratio(seconds(cpu), wall, unitShare, ZeroDuration)
}

// lag is the worst of the trials: of the pulse, which ran as long as the cell
// did, or else of the self-check. A trial with neither could have been worse.
func (p *pool) lag() Value {
	worst := int64(math.MinInt64)
	for _, t := range p.trials {
		switch {
		case t.Pulse != nil && t.Pulse.Ticks > 0:
			worst = max(worst, t.Pulse.LagP99)
		case t.SelfCheck != nil:
			worst = max(worst, t.SelfCheck.LagP99)
		default:
			return Null(NoSelfCheck, unitMS)
		}
	}
	if len(p.trials) == 0 {
		return Null(NoSelfCheck, unitMS)
	}
	return Of(ms(worst), unitMS)
}

func (p *pool) inFlight() (ns int64, counted bool) {
	for _, t := range p.trials {
		if t.InFlightNS <= 0 {
			return 0, false
		}
		ns += t.InFlightNS
	}
	return ns, len(p.trials) > 0
}

// little is Little's law as a check: the time that the pool counted in flight
// against the time that the requests took. A request that did not end took an
// unknown time, so there is no ratio then.
func (p *pool) little(inFlight int64) sample {
	took, ended := p.took()
	if !ended {
		return none(NotComplete)
	}
	return per(float64(inFlight), float64(took), ZeroDuration)
}

// took is the sum of the requests' times, and whether all of them ended.
func (p *pool) took() (ns int64, ended bool) {
	for _, t := range p.trials {
		for i := range t.Requests {
			if t.Requests[i].End < 0 {
				return 0, false
			}
			ns += t.Requests[i].End
		}
	}
	return ns, true
}

// usage is the client's sum of output tokens over the engine's counter.
func (p *pool) usage() sample {
	ours, theirs := 0.0, 0.0
	for _, t := range p.trials {
		switch {
		case t.Server == nil:
			return none(NoServerMetrics)
		case t.Server.OutputTokens.Value == nil:
			return none(orReason(t.Server.OutputTokens.Reason, NotReported))
		}
		theirs += *t.Server.OutputTokens.Value
		for i := range t.Requests {
			n := count(t.Requests[i].OutputTokens, NoUsage)
			if n.why != "" {
				return n
			}
			ours += n.v
		}
	}
	if len(p.trials) == 0 {
		return none(NoServerMetrics)
	}
	return per(ours, theirs, ZeroMean)
}

func orReason(reason, other string) string {
	if reason == "" {
		return other
	}
	return reason
}

// lagLimit is how late a stamp of the cell may be, in ms.
func (c *Cell) lagLimit() float64 { return c.shareOfTTFT(LagLeastMS) }

// shareOfTTFT is the larger of least, in ms, and what LagShare allows.
func (c *Cell) shareOfTTFT(least float64) float64 {
	if c.TTFT.P50 == nil {
		return least
	}
	return max(least, LagShare**c.TTFT.P50)
}

// outside reports whether v is known and off 1 by more than limit.
func outside(v Value, limit float64) bool { return v.Value != nil && off(*v.Value, limit) }

// off reports whether a ratio is off 1 by more than limit. 0.99 is 0.01 off,
// though 1-0.99 is a little more.
func off(ratio, limit float64) bool { return math.Abs(ratio-1) > limit+rounding }
