package metric

// Limits below which a rate says more about rounding, or about how an engine
// packs its events, than about how fast it is.
const (
	DecodeMinTokens = 32   // decode_tok_s
	SpanMinChunks   = 8    // decode_span_tok_s
	SpanMinRatio    = 0.8  // decode_span_tok_s, events per token
	ITLMinRatio     = 0.98 // itl_ms, events per token
	StartMaxShare   = 0.05 // tpot_ms, decode_tok_s: tokens of the first event beyond its own one, of those after it
)

// Row is one request with its metrics.
type Row struct {
	Class  string           // "" = successful; else why it is left out
	Values map[string]Value // metric id -> value, every id of rowMetrics
	Gaps   []float64        // itl_ms: ms between output events
	NoGaps string           // reason code: why there are none
}

// Derive computes a request's metrics. A request that does not count has
// none: every value is null with its outcome as the reason.
func Derive(r Request, p Protocol) Row {
	row := Row{Class: r.Outcome(), Values: make(map[string]Value, len(rowMetrics))}
	for _, m := range rowMetrics {
		if row.Class != "" {
			row.Values[m.id] = Null(row.Class, m.unit)
			continue
		}
		row.Values[m.id] = m.of(&r, p).in(m.unit)
	}
	if row.NoGaps = row.Class; row.NoGaps == "" {
		row.NoGaps = r.noITL()
	}
	if row.NoGaps == "" {
		row.Gaps = r.appendGaps(nil)
	}
	return row
}

// Outcome returns "" for a request that counts, and otherwise its failure
// class: its own, or the one that its time stamps and contract give it.
func (r *Request) Outcome() string {
	switch {
	case r.FailureClass != "":
		return r.FailureClass
	case r.End < 0:
		return NotComplete
	case r.FirstVisible < 0 && !r.Unstreamed:
		return NoVisibleOutput
	case !r.ordered() && !r.Unstreamed:
		return InconsistentTime
	case !r.Eligible:
		return ContractFailed
	}
	return ""
}

// ordered is the invariant 0 <= TTFO <= TTFT <= E2E, with the last output
// between the last two.
func (r *Request) ordered() bool {
	if r.FirstOutput < 0 || r.FirstOutput > r.FirstVisible || r.FirstVisible > r.End {
		return false
	}
	return r.LastOutput < 0 || r.FirstVisible <= r.LastOutput && r.LastOutput <= r.End
}

// boundary is where generation starts, in ns since dispatch.
func (r *Request) boundary(p Protocol) int64 {
	if p == CapacityV4Reasoning {
		return r.FirstOutput
	}
	return r.FirstVisible
}

func (r *Request) generation(p Protocol) int64 { return r.End - r.boundary(p) }

// events is the number of output events: as stamped, or as counted by channel.
// 0 = not known.
func (r *Request) events() int {
	if r.Gaps != nil {
		return len(r.Gaps) + 1
	}
	return r.ContentChunks + r.ReasoningChunks
}

// eventsPerToken returns the share of tokens that had an event of their own.
// There must be output tokens.
func (r *Request) eventsPerToken() float64 {
	return float64(r.events()) / float64(*r.OutputTokens)
}

// lag is how much later than planned the request was sent, in ns.
func (r *Request) lag() int64 { return r.Dispatched - r.Planned }
