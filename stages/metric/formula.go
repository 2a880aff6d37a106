package metric

// Units.
const (
	unitMS       = "ms"
	unitS        = "s"
	unitTokens   = "tokens"
	unitTokS     = "tok/s"
	unitReqS     = "req/s"
	unitRequests = "requests"
	unitShare    = "share"
	unitRatio    = "ratio"
	unitPct      = "%"
	unitPreempt  = "preemptions"
)

// rowMetric is one formula over one successful request.
type rowMetric struct {
	id, unit string
	stream   bool // of the stream's stamps, so there is none for an answer in one piece
	formula  func(*Request, Protocol) sample
	to       func(*Cell) *Dist // where a cell keeps the distribution
}

func (m *rowMetric) of(r *Request, p Protocol) sample {
	if m.stream && r.Unstreamed {
		return none(NotStreamed)
	}
	return m.formula(r, p)
}

var rowMetrics = []rowMetric{
	{"ttft_ms", unitMS, true, ttft, func(c *Cell) *Dist { return &c.TTFT }},
	{"ttfo_ms", unitMS, true, ttfo, func(c *Cell) *Dist { return &c.TTFO }},
	{"e2e_ms", unitMS, false, e2e, func(c *Cell) *Dist { return &c.E2E }},
	{"generation_ms", unitMS, true, generation, func(c *Cell) *Dist { return &c.Generation }},
	{"visible_generation_ms", unitMS, true, visibleGeneration, func(c *Cell) *Dist { return &c.VisibleGeneration }},
	{"tpot_ms", unitMS, true, tpot, func(c *Cell) *Dist { return &c.TPOT }},
	{"effective_prefill_tok_s", unitTokS, true, effectivePrefill, func(c *Cell) *Dist { return &c.EffectivePrefill }},
	{"prefill_tok_s", unitTokS, false, prefill, func(c *Cell) *Dist { return &c.PrefillTokS }},
	{"decode_tok_s", unitTokS, true, decode, func(c *Cell) *Dist { return &c.DecodeTokS }},
	{"decode_span_tok_s", unitTokS, true, decodeSpan, func(c *Cell) *Dist { return &c.DecodeSpanTokS }},
	{"prompt_tokens", unitTokens, false, func(r *Request, _ Protocol) sample { return count(r.PromptTokens, NoUsage) }, func(c *Cell) *Dist { return &c.PromptTokens }},
	{"output_tokens", unitTokens, false, func(r *Request, _ Protocol) sample { return count(r.OutputTokens, NoUsage) }, func(c *Cell) *Dist { return &c.OutputTokens }},
	{"reasoning_tokens", unitTokens, false, func(r *Request, _ Protocol) sample { return count(r.ReasoningTokens, NotReported) }, func(c *Cell) *Dist { return &c.ReasoningTokens }},
	{"cached_tokens", unitTokens, false, func(r *Request, _ Protocol) sample { return count(r.CachedTokens, NotReported) }, func(c *Cell) *Dist { return &c.CachedTokens }},
	{"prompt_accuracy", unitRatio, false, promptAccuracy, func(c *Cell) *Dist { return &c.PromptAccuracy }},
	{"ttft_from_written_ms", unitMS, true, fromWritten, func(c *Cell) *Dist { return &c.TTFTFromWritten }},
	{"ttft_from_schedule_ms", unitMS, true, fromSchedule(ttft), func(c *Cell) *Dist { return &c.TTFTFromSchedule }},
	{"e2e_from_schedule_ms", unitMS, false, fromSchedule(e2e), func(c *Cell) *Dist { return &c.E2EFromSchedule }},
}

func ttft(r *Request, _ Protocol) sample              { return have(ms(r.FirstVisible)) }
func ttfo(r *Request, _ Protocol) sample              { return have(ms(r.FirstOutput)) }
func e2e(r *Request, _ Protocol) sample               { return have(ms(r.End)) }
func generation(r *Request, p Protocol) sample        { return have(ms(r.generation(p))) }
func visibleGeneration(r *Request, _ Protocol) sample { return have(ms(r.End - r.FirstVisible)) }

func count(n *int64, why string) sample {
	if n == nil || *n < 0 {
		return none(why)
	}
	return have(float64(*n))
}

// tpot is generation_ms / (output_tokens - 1): the first token is prefill's.
func tpot(r *Request, p Protocol) sample {
	if why := r.noDecode(p, 2); why != "" {
		return none(why)
	}
	return have(ms(r.generation(p)) / float64(*r.OutputTokens-1))
}

func decode(r *Request, p Protocol) sample {
	if why := r.noDecode(p, DecodeMinTokens); why != "" {
		return none(why)
	}
	return per(float64(*r.OutputTokens-1), seconds(r.generation(p)), ZeroDuration)
}

// noDecode is why the tokens after the first and the generation's time do not
// belong together, "" = they do. Three things part them: reasoning that
// capacity-v3 does not time but the engine counts, reasoning that it counts and
// does not send, and a first event of so many tokens that they are not generation's.
func (r *Request) noDecode(p Protocol, least int64) string {
	switch {
	case r.OutputTokens == nil:
		return NoUsage
	case *r.OutputTokens < least:
		return TooShort
	case p != CapacityV4Reasoning && r.ReasoningChunks > 0:
		return ReasoningOutput
	}
	return r.noStart()
}

// noStart is why the generation's time does not hold what was counted before the
// first event, "" = it does, or it is too little to matter.
func (r *Request) noStart() string {
	n := r.ReasoningTokens
	switch {
	case r.ReasoningChunks == 0 && n != nil && float64(*n) > StartMaxShare*float64(*r.OutputTokens-1):
		return HiddenReasoning
	case r.coarseStart():
		return CoarseChunks
	}
	return ""
}

// coarseStart reports whether the first event held, or with events of equal
// size would hold, more tokens than can be taken for one. An end token without
// an event is none of them.
func (r *Request) coarseStart() bool {
	n, events := *r.OutputTokens, int64(r.events())
	if events == 0 || r.FirstTokens == 0 && events >= 2 && n-events <= 1 {
		return false
	}
	first := float64(n) / float64(events)
	if r.FirstTokens > 0 {
		first = float64(r.FirstTokens)
	}
	return first-1 > StartMaxShare*float64(n-1)
}

// effectivePrefill includes queueing; it is not the kernel's prefill rate.
func effectivePrefill(r *Request, p Protocol) sample {
	if r.PromptTokens == nil {
		return none(NoUsage)
	}
	return per(float64(*r.PromptTokens), seconds(r.boundary(p)), ZeroDuration)
}

// prefill uses only the engine's own duration. Tokens from a prefix cache were
// not processed in it, so they are taken off.
func prefill(r *Request, _ Protocol) sample {
	if r.PromptTokens == nil {
		return none(NoUsage)
	}
	n := *r.PromptTokens
	if r.CachedTokens != nil {
		n -= *r.CachedTokens
	}
	if n <= 0 {
		return none(TooShort)
	}
	return per(float64(n), seconds(r.ServerPrefill), NoPrefillTime)
}

// decodeSpan runs from the first to the last output event, so the tokens that
// the first event carried are not in it.
func decodeSpan(r *Request, _ Protocol) sample {
	if r.OutputTokens == nil {
		return none(NoUsage)
	}
	if r.events() < SpanMinChunks || r.eventsPerToken() < SpanMinRatio {
		return none(CoarseChunks)
	}
	first := r.firstTokens()
	switch {
	case first == 0 || r.LastOutput < 0:
		return none(NoFirstTokens)
	case *r.OutputTokens <= first:
		return none(TooShort)
	}
	return per(float64(*r.OutputTokens-first), seconds(r.LastOutput-r.FirstOutput), ZeroDuration)
}

// firstTokens is 1 without the engine saying so only when every token had an
// event of its own. 0 = not known.
func (r *Request) firstTokens() int64 {
	if r.FirstTokens > 0 {
		return int64(r.FirstTokens)
	}
	if *r.OutputTokens <= int64(r.events()) {
		return 1
	}
	return 0
}

// promptAccuracy is what the prompt's length came to, against what was asked.
func promptAccuracy(r *Request, _ Protocol) sample {
	if r.AskedPromptTokens <= 0 {
		return none(NoLengthAsked)
	}
	n := count(r.PromptTokens, NoUsage)
	if n.why != "" {
		return n
	}
	return have(n.v / float64(r.AskedPromptTokens))
}

// fromWritten leaves out the client's own connecting and writing. A server that
// answers before it has the whole request leaves no such time.
func fromWritten(r *Request, _ Protocol) sample {
	switch {
	case r.Written <= 0:
		return none(NoWriteStamp)
	case r.Written > r.FirstVisible:
		return none(InconsistentTime)
	}
	return have(ms(r.FirstVisible - r.Written))
}

// fromSchedule counts a latency from the moment at which the request was to be
// sent: what a user waits for who does not know that the client was late.
func fromSchedule(latency func(*Request, Protocol) sample) func(*Request, Protocol) sample {
	return func(r *Request, p Protocol) sample {
		if r.Planned < 0 {
			return none(ClosedLoop)
		}
		s := latency(r, p)
		s.v += ms(r.lag())
		return s
	}
}
