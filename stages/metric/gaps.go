package metric

import "slices"

// noGaps is why a request has no gaps between output events, "" = it has.
// A gap of 0 is one: the two events came in one read.
func (r *Request) noGaps() string {
	switch {
	case r.Unstreamed:
		return NotStreamed
	case r.events() == 1:
		return TooShort
	case r.Gaps == nil:
		return NoEventStamps
	case slices.ContainsFunc(r.Gaps, func(g int64) bool { return g < 0 }):
		return InconsistentTime
	}
	return ""
}

// noITL is why the gaps of a request are not times between tokens, "" = they
// are: every token had an event of its own.
func (r *Request) noITL() string {
	switch {
	case r.Unstreamed:
		return NotStreamed
	case r.OutputTokens == nil:
		return NoUsage
	case *r.OutputTokens < 2:
		return TooShort
	case r.eventsPerToken() < ITLMinRatio:
		return CoarseChunks
	}
	return r.noGaps()
}

func (r *Request) appendGaps(to []float64) []float64 {
	for _, g := range r.Gaps {
		to = append(to, ms(g))
	}
	return to
}

// gaps pools the gaps of all requests that count. Where every request's gaps
// are times between tokens, both distributions are one.
func (p *pool) gaps() (itl, event Dist) {
	event, all := p.gapsOf((*Request).noGaps)
	if all && !slices.ContainsFunc(p.good, func(r *Request) bool { return r.noITL() != "" }) {
		return event, event
	}
	itl, _ = p.gapsOf((*Request).noITL)
	return itl, event
}

// gapsOf pools the gaps of the requests that not does not exclude, and tells
// whether it excludes none.
func (p *pool) gapsOf(not func(*Request) string) (d Dist, all bool) {
	why, n := reasons{}, 0
	for _, r := range p.good {
		if w := not(r); w != "" {
			why[w]++
			continue
		}
		n += len(r.Gaps)
	}
	p.column = slices.Grow(p.column[:0], n)
	for _, r := range p.good {
		if not(r) == "" {
			p.column = r.appendGaps(p.column)
		}
	}
	return distOf(p.column, unitMS, why.main()), len(why) == 0
}
