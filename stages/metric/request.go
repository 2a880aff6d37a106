package metric

// Limits below which a rate says more about rounding than about the engine.
const (
	DecodeMinTokens = 32   // decode_tok_s
	SpanMinChunks   = 8    // decode_span_tok_s
	SpanMinRatio    = 0.8  // decode_span_tok_s, chunks per token
	ITLMinRatio     = 0.98 // itl_ms, chunks per token
)

// Row is one request with its metrics.
type Row struct {
	Class  string           // "" = successful; else why it is left out
	Values map[string]Value // metric id -> value, every id of rowMetrics
	Gaps   []float64        // itl_ms: ms between output events
	noGaps string           // why there are none
}

// Outcome returns "" for a request that counts, and otherwise its failure
// class: its own, or the one that its time stamps and contract give it.
func (r Request) Outcome() string {
	switch {
	case r.FailureClass != "":
		return r.FailureClass
	case r.End < 0:
		return NotComplete
	case r.FirstVisible < 0:
		return NoVisibleOutput
	case !r.ordered():
		return InconsistentTime
	case !r.Eligible:
		return ContractFailed
	}
	return ""
}

// ordered is the invariant 0 <= TTFO <= TTFT <= E2E, with the last output
// between the last two.
func (r Request) ordered() bool {
	if r.FirstOutput < 0 || r.FirstOutput > r.FirstVisible || r.FirstVisible > r.End {
		return false
	}
	return r.LastOutput < 0 || r.FirstVisible <= r.LastOutput && r.LastOutput <= r.End
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
		row.Values[m.id] = m.formula(r, p)
	}
	if row.Class != "" {
		row.noGaps = row.Class
		return row
	}
	row.Gaps, row.noGaps = r.gaps()
	return row
}

// boundary is where generation starts, in ns since dispatch.
func (r Request) boundary(p Protocol) int64 {
	if p == CapacityV4Reasoning {
		return r.FirstOutput
	}
	return r.FirstVisible
}

func (r Request) generation(p Protocol) int64 { return r.End - r.boundary(p) }

// chunksPerToken returns the share of tokens that had an event of their own.
func (r Request) chunksPerToken() float64 {
	return float64(r.ContentChunks+r.ReasoningChunks) / float64(*r.OutputTokens)
}

func (r Request) gaps() ([]float64, string) {
	switch {
	case r.OutputTokens == nil:
		return nil, NoUsage
	case *r.OutputTokens < 2:
		return nil, TooShort
	case r.chunksPerToken() < ITLMinRatio:
		return nil, CoarseChunks
	case r.Gaps == nil:
		return nil, NoEventStamps
	}
	out := make([]float64, len(r.Gaps))
	for i, g := range r.Gaps {
		if g < 0 {
			return nil, InconsistentTime
		}
		out[i] = ms(g)
	}
	return out, ""
}
