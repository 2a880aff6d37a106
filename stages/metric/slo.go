package metric

// slo fills goodput and slo_attained. They are null when even one request's
// verdict cannot be had: to take it for met or for missed would be a guess.
func (c *Cell) slo(p *pool) {
	met, why := p.met()
	switch {
	case !p.o.SLO.stated():
		why = NoSLO
	case c.Attempted+c.Unsent == 0:
		why = NoRequests
	case p.unaccounted() != 0:
		why = Unaccounted
	}
	if why != "" {
		c.Goodput, c.SLOAttained = Null(why, unitReqS), Null(why, unitShare)
		return
	}
	length := c.WallS
	if p.o.Concurrency <= 0 {
		length = p.window()
	}
	c.Goodput = Ratio(float64(met), length, unitReqS, ZeroDuration)
	c.SLOAttained = Ratio(float64(met), float64(c.Attempted+c.Unsent), unitShare, NoRequests)
}

func (s *SLO) stated() bool { return s != nil && *s != SLO{} }

// met counts the requests that met every bound; why is the main reason for
// which some could not be judged.
func (p *pool) met() (n int, why string) {
	if !p.o.SLO.stated() {
		return 0, NoSLO
	}
	unknown := reasons{}
	for _, r := range p.good {
		switch ok, why := p.o.SLO.judge(r, p.o); {
		case why != "":
			unknown[why]++
		case ok:
			n++
		}
	}
	if len(unknown) > 0 {
		return 0, unknown.main()
	}
	return n, ""
}

// judge tells whether a successful request met every bound. A bound that is
// missed decides, whatever the others are; else one whose metric is null leaves
// the request undetermined, for the reason given. In an open loop latencies
// count from the schedule, so that a late client does not make a good engine;
// one that was early makes no better one either.
func (s *SLO) judge(r *Request, o CellOptions) (met bool, why string) {
	late := 0.0
	if o.Concurrency <= 0 && r.Planned >= 0 {
		late = max(0, ms(r.lag()))
	}
	for _, b := range []struct {
		bound, late float64
		of          func(*Request, Protocol) sample
		streamed    bool
	}{{s.TTFT, late, ttft, true}, {s.TTFO, late, ttfo, true}, {s.TPOT, 0, tpot, true}, {s.E2E, late, e2e, false}} {
		if b.bound == 0 {
			continue
		}
		v := none(NotStreamed)
		if !b.streamed || !r.Unstreamed {
			v = b.of(r, o.Protocol)
		}
		switch {
		case !v.there():
			why = v.reason()
		case v.v+b.late > b.bound:
			return false, ""
		}
	}
	return why == "", why
}

// passRate is correct answers over attempted requests. A request that failed,
// or whose answer nobody could check, did not pass.
func (p *pool) passRate(attempted int) Value {
	passed, checked := 0, false
	for _, t := range p.trials {
		for i := range t.Requests {
			r := &t.Requests[i]
			checked = checked || r.Check != nil
			if r.passed() {
				passed++
			}
		}
	}
	if !checked {
		return Null(NotChecked, unitShare)
	}
	return Ratio(float64(passed), float64(attempted), unitShare, NoRequests)
}

func (r *Request) passed() bool { return r.Check != nil && *r.Check && r.Outcome() == "" }
