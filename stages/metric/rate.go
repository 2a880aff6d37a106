package metric

// rates fills what a cell did per second of its wall time.
func (c *Cell) rates(p *pool) {
	c.RequestRate = Ratio(float64(c.Completed), c.WallS, unitReqS, ZeroDuration)
	if c.Attempted == 0 {
		c.RequestRate = Null(NoRequests, unitReqS)
	}
	if why := c.ineligible(p); why != "" {
		c.ThroughputTokS, c.SteadyTokS, c.PeakTokS = Null(why, unitTokS), Null(why, unitTokS), Null(why, unitTokS)
		return
	}
	sum := 0.0
	for _, r := range p.good {
		sum += float64(*r.OutputTokens)
	}
	c.ThroughputTokS = Ratio(sum, c.WallS, unitTokS, ZeroDuration)
	c.SteadyTokS = p.steady().in(unitTokS)
	c.PeakTokS = p.peak(c.ThroughputTokS).in(unitTokS)
}

// ineligible is why a cell has no rate of tokens, "" = it has: tokens of a cell
// that lost requests over its wall time would reward losing the slow ones.
func (c *Cell) ineligible(p *pool) string {
	switch {
	case c.Attempted == 0:
		return NoRequests
	case c.Failed > c.Failures[ContractFailed] || c.Unsent > 0:
		return IncompleteCell
	case c.Failed > 0:
		return ContractFailed
	case p.unaccounted() != 0:
		return Unaccounted
	}
	for _, r := range p.good {
		if r.OutputTokens == nil || *r.OutputTokens < 0 {
			return NoUsage
		}
	}
	return ""
}

// Undivided is why nothing of a cell's trials may be divided by its tokens, by the
// rule of throughput_tok_s; "" = it may.
func Undivided(trials []Trial) string {
	var c Cell
	p := &pool{trials: trials, good: c.count(trials)}
	return c.ineligible(p)
}

// unaccounted is how many planned requests were neither sent nor counted as
// not sent; negative when there are more than were planned.
func (p *pool) unaccounted() (n int) {
	for i := range p.trials {
		n += p.trials[i].unaccounted()
	}
	return n
}

func (t *Trial) unaccounted() int {
	if t.Planned == 0 {
		return 0
	}
	return t.Planned - len(t.Requests) - t.Unsent
}

// arrivals gives the moments at which output tokens arrived, in ns on the
// cell's clock, to take. An event carries what the engine said of the first
// one, and else an equal share. It returns why it cannot tell, "" = it could.
func (r *Request) arrivals(take func(at int64, tokens float64)) string {
	n := float64(*r.OutputTokens)
	switch {
	case r.Unstreamed:
		take(r.Dispatched+r.End, n)
		return ""
	case r.events() == 1:
		take(r.Dispatched+r.FirstOutput, n)
		return ""
	}
	if why := r.noGaps(); why != "" {
		return why
	}
	first, rest := r.shares(n)
	at := r.Dispatched + r.FirstOutput
	take(at, first)
	for _, g := range r.Gaps {
		at += g
		take(at, rest)
	}
	return ""
}

// shares are the tokens of the first of several events and of each later one.
func (r *Request) shares(n float64) (first, rest float64) {
	later := float64(len(r.Gaps))
	if first = n / (later + 1); r.FirstTokens > 0 {
		first = min(float64(r.FirstTokens), n)
	}
	return first, (n - first) / later
}

// peakRounding is how far, relative to it, a peak may lie below the mean.
const peakRounding = 1e-9

// longestPeak bounds the windows of a peak: a wall of 12 days.
const longestPeak = 1 << 20

// peak is the largest rate of a second: the wall is cut into as many equal
// windows as it has whole seconds. So the peak is never below the mean, which
// windows of exactly a second could not promise.
func (p *pool) peak(mean Value) sample {
	if mean.Value == nil {
		return none(mean.Reason)
	}
	best := 0.0
	for i := range p.trials {
		s := p.trials[i].peak()
		if !s.there() {
			return s
		}
		best = max(best, s.v)
	}
	return notBelow(best, *mean.Value)
}

// notBelow is a peak, which no mean exceeds. The windows' sums round
// differently, and that much is taken for rounding; more is a contradiction,
// which must not look like an answer.
func notBelow(peak, mean float64) sample {
	if peak < mean*(1-peakRounding) {
		return none(BelowMean)
	}
	return have(max(peak, mean))
}

func (t *Trial) peak() sample {
	wall := float64(t.WallNS)
	n := min(int(t.WallNS/1e9), longestPeak)
	if n < 1 {
		return none(TooBrief)
	}
	windows, all := make([]float64, n), 0.0
	for i := range t.Requests {
		all += float64(*t.Requests[i].OutputTokens)
		why := t.Requests[i].arrivals(func(at int64, tokens float64) {
			w := int(float64(at) / wall * float64(n))
			windows[min(max(w, 0), n-1)] += tokens
		})
		if why != "" {
			return none(why)
		}
	}
	best := 0.0
	for _, w := range windows {
		best = max(best, w)
	}
	return notBelow(best/(wall/1e9/float64(n)), all/(wall/1e9))
}
