package metric

// Units.
const (
	unitMS     = "ms"
	unitTokens = "tokens"
	unitTokS   = "tok/s"
	unitReqS   = "req/s"
	unitShare  = "share"
	unitRatio  = "ratio"
	unitPct    = "%"
)

// rowMetric is one formula over one successful request.
type rowMetric struct {
	id, unit string
	formula  func(Request, Protocol) Value
	in       func(*Cell) *Dist // where a cell keeps the distribution
}

var rowMetrics = []rowMetric{
	{"ttft_ms", unitMS, func(r Request, _ Protocol) Value { return Of(ms(r.FirstVisible), unitMS) }, func(c *Cell) *Dist { return &c.TTFT }},
	{"ttfo_ms", unitMS, func(r Request, _ Protocol) Value { return Of(ms(r.FirstOutput), unitMS) }, func(c *Cell) *Dist { return &c.TTFO }},
	{"e2e_ms", unitMS, func(r Request, _ Protocol) Value { return Of(ms(r.End), unitMS) }, func(c *Cell) *Dist { return &c.E2E }},
	{"generation_ms", unitMS, func(r Request, p Protocol) Value { return Of(ms(r.generation(p)), unitMS) }, func(c *Cell) *Dist { return &c.Generation }},
	{"visible_generation_ms", unitMS, func(r Request, _ Protocol) Value { return Of(ms(r.End-r.FirstVisible), unitMS) }, func(c *Cell) *Dist { return &c.VisibleGeneration }},
	{"tpot_ms", unitMS, tpot, func(c *Cell) *Dist { return &c.TPOT }},
	{"effective_prefill_tok_s", unitTokS, effectivePrefill, func(c *Cell) *Dist { return &c.EffectivePrefill }},
	{"prefill_tok_s", unitTokS, prefill, func(c *Cell) *Dist { return &c.PrefillTokS }},
	{"decode_tok_s", unitTokS, decode, func(c *Cell) *Dist { return &c.DecodeTokS }},
	{"decode_span_tok_s", unitTokS, decodeSpan, func(c *Cell) *Dist { return &c.DecodeSpanTokS }},
	{"prompt_tokens", unitTokens, func(r Request, _ Protocol) Value { return count(r.PromptTokens, NoUsage) }, func(c *Cell) *Dist { return &c.PromptTokens }},
	{"output_tokens", unitTokens, func(r Request, _ Protocol) Value { return count(r.OutputTokens, NoUsage) }, func(c *Cell) *Dist { return &c.OutputTokens }},
	{"reasoning_tokens", unitTokens, func(r Request, _ Protocol) Value { return count(r.ReasoningTokens, NotReported) }, func(c *Cell) *Dist { return &c.ReasoningTokens }},
	{"cached_tokens", unitTokens, func(r Request, _ Protocol) Value { return count(r.CachedTokens, NotReported) }, func(c *Cell) *Dist { return &c.CachedTokens }},
}

func count(n *int64, reason string) Value {
	if n == nil || *n < 0 {
		return Null(reason, unitTokens)
	}
	return Of(float64(*n), unitTokens)
}

// tpot is generation_ms / (output_tokens - 1): the first token is prefill's.
func tpot(r Request, p Protocol) Value {
	if r.OutputTokens == nil {
		return Null(NoUsage, unitMS)
	}
	return Ratio(ms(r.generation(p)), float64(*r.OutputTokens-1), unitMS, TooShort)
}

// effectivePrefill includes queueing; it is not the kernel's prefill rate.
func effectivePrefill(r Request, p Protocol) Value {
	if r.PromptTokens == nil {
		return Null(NoUsage, unitTokS)
	}
	return Ratio(float64(*r.PromptTokens), seconds(r.boundary(p)), unitTokS, ZeroDuration)
}

// prefill uses only the engine's own duration. Tokens from a prefix cache were
// not processed in it, so they are taken off.
func prefill(r Request, _ Protocol) Value {
	if r.PromptTokens == nil {
		return Null(NoUsage, unitTokS)
	}
	n := *r.PromptTokens
	if r.CachedTokens != nil {
		n -= *r.CachedTokens
	}
	if n <= 0 {
		return Null(TooShort, unitTokS)
	}
	return Ratio(float64(n), seconds(r.ServerPrefill), unitTokS, NoPrefillTime)
}

func decode(r Request, p Protocol) Value {
	switch {
	case r.OutputTokens == nil:
		return Null(NoUsage, unitTokS)
	case *r.OutputTokens < DecodeMinTokens:
		return Null(TooShort, unitTokS)
	}
	return Ratio(float64(*r.OutputTokens-1), seconds(r.generation(p)), unitTokS, ZeroDuration)
}

// decodeSpan runs from the first to the last output event, so the tokens that
// the first event carried are not in it.
func decodeSpan(r Request, _ Protocol) Value {
	if r.OutputTokens == nil {
		return Null(NoUsage, unitTokS)
	}
	chunks := r.ContentChunks + r.ReasoningChunks
	if chunks < SpanMinChunks || r.chunksPerToken() < SpanMinRatio {
		return Null(CoarseChunks, unitTokS)
	}
	first := r.firstTokens()
	if first == 0 || r.LastOutput < 0 {
		return Null(NoFirstTokens, unitTokS)
	}
	return Ratio(float64(*r.OutputTokens-first), seconds(r.LastOutput-r.FirstOutput), unitTokS, ZeroDuration)
}

// firstTokens is 1 without the engine saying so only when every token had an
// event of its own.
func (r Request) firstTokens() int64 {
	if r.FirstTokens > 0 {
		return int64(r.FirstTokens)
	}
	if *r.OutputTokens <= int64(r.ContentChunks+r.ReasoningChunks) {
		return 1
	}
	return 0
}
