package metric

// WarmCacheAbove is the share of prompt tokens that a cache may have held
// although the prompts were to be new: what a chat template's first words cost.
const WarmCacheAbove = 0.01

// cache fills how much of the prompts the engine did not have to process.
func (c *Cell) cache(p *pool) {
	cached, prompts := 0.0, 0.0
	why := reasons{}
	for _, r := range p.good {
		hit, n := count(r.CachedTokens, NotReported), count(r.PromptTokens, NoUsage)
		if hit.why != "" || n.why != "" {
			why[orReason(hit.why, n.why)]++
			continue
		}
		cached += hit.v
		prompts += n.v
	}
	c.CachedShare = Ratio(cached, prompts, unitShare, why.main())
	c.ServerPrefixHits = p.mean(unitShare, func(s *Server) Value { return s.PrefixHitShare })
	c.WarmCache = !p.o.IntendedCache && (above(c.CachedShare, WarmCacheAbove) || above(c.ServerPrefixHits, WarmCacheAbove))
}

func above(v Value, limit float64) bool { return v.Value != nil && *v.Value > limit }

// server fills what the engine's own metrics say, beside the client's numbers
// and never mixed into them.
func (c *Cell) server(p *pool) {
	c.ServerQueue = p.mean(unitMS, func(s *Server) Value { return s.QueueMS })
	c.ServerPrefill = p.mean(unitMS, func(s *Server) Value { return s.PrefillMS })
	c.ServerDecode = p.mean(unitMS, func(s *Server) Value { return s.DecodeMS })
	c.ServerKVUse = p.fold(unitShare, func(s *Server) Value { return s.KVUsePeak }, func(a, b float64) float64 { return max(a, b) })
	c.ServerPreempted = p.fold(unitPreempt, func(s *Server) Value { return s.Preemptions }, func(a, b float64) float64 { return a + b })
}

// each gives what the engine said of every trial, with the requests of that
// trial; a trial of which it said nothing leaves the cell without.
func (p *pool) each(of func(*Server) Value, take func(v float64, requests int)) (why string) {
	for _, t := range p.trials {
		if t.Server == nil {
			return NoServerMetrics
		}
		v := of(t.Server)
		if v.Value == nil {
			return orReason(v.Reason, NotReported)
		}
		take(*v.Value, len(t.Requests))
	}
	if len(p.trials) == 0 {
		return NoServerMetrics
	}
	return ""
}

// mean is over trials, each with the weight of its requests.
func (p *pool) mean(unit string, of func(*Server) Value) Value {
	if len(p.trials) == 1 { // as the engine said it, to the last bit
		return p.fold(unit, of, func(_, v float64) float64 { return v })
	}
	sum, n := 0.0, 0
	if why := p.each(of, func(v float64, requests int) {
		sum += float64(v * float64(requests))
		n += requests
	}); why != "" {
		return Null(why, unit)
	}
	return Ratio(sum, float64(n), unit, NoRequests)
}

func (p *pool) fold(unit string, of func(*Server) Value, with func(a, b float64) float64) Value {
	var sum *float64
	if why := p.each(of, func(v float64, _ int) {
		if sum != nil {
			v = with(*sum, v)
		}
		sum = &v
	}); why != "" {
		return Null(why, unit)
	}
	return Of(*sum, unit)
}
