package metric

// Definition is one row of the metric dictionary.
type Definition struct {
	ID       string   `json:"id"`
	Unit     string   `json:"unit"`
	Scope    string   `json:"scope"`               // request | cell | quality: what one value belongs to
	Formula  string   `json:"formula"`             // with t0 = dispatch, tfo, tft, tlast, tend as in docs/metrics.md
	NullWhen []string `json:"null_when,omitempty"` // reason codes that the formula itself gives
	Version  int      `json:"version"`             // raised when the same rows would give another number
	Better   string   `json:"better,omitempty"`    // lower | higher | "" = neither
}

// Scopes.
const (
	scopeRequest = "request"
	scopeCell    = "cell"
	scopeQuality = "quality"
)

// Dictionary holds every metric. A request that failed has no metric: all its
// values are null with the failure class as the reason.
var Dictionary = []Definition{
	{"ttfo_ms", unitMS, scopeRequest, "tfo - t0", nil, 1, "lower"},
	{"ttft_ms", unitMS, scopeRequest, "tft - t0", nil, 1, "lower"},
	{"e2e_ms", unitMS, scopeRequest, "tend - t0", nil, 1, "lower"},
	{"generation_ms", unitMS, scopeRequest, "tend - boundary; boundary = tft (capacity-v3), tfo (capacity-v4-reasoning)", nil, 1, "lower"},
	{"visible_generation_ms", unitMS, scopeRequest, "tend - tft", nil, 1, "lower"},
	{"tpot_ms", unitMS, scopeRequest, "generation_ms / (output_tokens - 1)", []string{NoUsage, TooShort}, 1, "lower"},
	{"itl_ms", unitMS, scopeRequest, "gaps between output events, all of them pooled; only when events / output_tokens >= 0.98", []string{NoUsage, TooShort, CoarseChunks, NoEventStamps, InconsistentTime}, 1, "lower"},
	{"effective_prefill_tok_s", unitTokS, scopeRequest, "prompt_tokens / (boundary - t0); includes queueing, is not kernel prefill", []string{NoUsage, ZeroDuration}, 1, "higher"},
	{"prefill_tok_s", unitTokS, scopeRequest, "(prompt_tokens - cached_tokens) / the engine's own prefill time", []string{NoUsage, TooShort, NoPrefillTime}, 1, "higher"},
	{"decode_tok_s", unitTokS, scopeRequest, "(output_tokens - 1) / generation; needs 32 output tokens", []string{NoUsage, TooShort, ZeroDuration}, 1, "higher"},
	{"decode_span_tok_s", unitTokS, scopeRequest, "(output_tokens - n_first) / (tlast - tfo), n_first = tokens of the first output event; needs 8 events and events / output_tokens >= 0.8", []string{NoUsage, CoarseChunks, NoFirstTokens, ZeroDuration}, 1, "higher"},
	{"prompt_tokens", unitTokens, scopeRequest, "the engine's own count", []string{NoUsage}, 1, ""},
	{"output_tokens", unitTokens, scopeRequest, "the engine's own count, visible and reasoning; never the number of events", []string{NoUsage}, 1, ""},
	{"reasoning_tokens", unitTokens, scopeRequest, "from the engine's usage details", []string{NotReported}, 1, ""},
	{"cached_tokens", unitTokens, scopeRequest, "from the engine's usage details", []string{NotReported}, 1, ""},

	{"attempted", "requests", scopeCell, "requests sent, warm-up not counted", nil, 1, ""},
	{"completed", "requests", scopeCell, "requests that completed, in order of time, within their contract", nil, 1, "higher"},
	{"failed", "requests", scopeCell, "attempted - completed, by class; a failure is never a latency", nil, 1, "lower"},
	{"wall_s", "s", scopeCell, "around the pool of workers, warm-up outside; summed over trials", nil, 1, "lower"},
	{"throughput_tok_s", unitTokS, scopeCell, "sum of output_tokens / wall_s, only when every attempted request completed within its contract", []string{NoRequests, IncompleteCell, ContractFailed, NoUsage, ZeroDuration}, 1, "higher"},
	{"request_rate", unitReqS, scopeCell, "completed / wall_s", []string{NoRequests, ZeroDuration}, 1, "higher"},
	{"throughput_stddev", unitTokS, scopeCell, "stddev_pooled of throughput_tok_s between trials: square root of the mean, over groups with 2 runs or more, of the population variance", []string{OneRun}, 1, "lower"},
	{"throughput_cv_pct", unitPct, scopeCell, "throughput_stddev / mean * 100; below 5 stable, below 10 variable, else unstable", []string{OneRun, ZeroMean}, 1, "lower"},
	{"client_overhead", unitShare, scopeCell, "the client's CPU time / wall_s, in shares of one core; above 0.9 the cell is client-bound and passes no guard", []string{NoCPUTime, ZeroDuration}, 1, "lower"},

	{"mean", "score", scopeQuality, "mean over items of the item's score, itself a mean over samples and repeats", []string{Unscored}, 1, "higher"},
	{"truncation_rate", unitRatio, scopeQuality, "answers cut by the token limit / answers", []string{NoAnswers}, 1, "lower"},
	{"failure_rate", unitRatio, scopeQuality, "answers without a usable output / answers", []string{NoAnswers}, 1, "lower"},
}

// Lookup returns the definition of id.
func Lookup(id string) (Definition, bool) {
	for _, d := range Dictionary {
		if d.ID == id {
			return d, true
		}
	}
	return Definition{}, false
}
