package metric

import "slices"

// Definition is one row of the metric dictionary.
type Definition struct {
	ID       string   `json:"id"`
	Unit     string   `json:"unit"`
	Scope    string   `json:"scope"`               // request | cell | quality | energy: what one value belongs to
	Formula  string   `json:"formula"`             // with t0 = dispatch, twritten, tfo, tft, tlast, tend as in docs/metrics.md
	NullWhen []string `json:"null_when,omitempty"` // reason codes that the formula itself gives
	Version  int      `json:"version"`             // raised when the same rows would give another number
	Better   string   `json:"better,omitempty"`    // lower | higher | "" = neither
	Aliases  []string `json:"aliases,omitempty"`   // the same formula's names elsewhere; for import and export only
}

// Scopes.
const (
	scopeRequest = "request"
	scopeCell    = "cell"
	scopeQuality = "quality"
	scopeEnergy  = "energy"
)

// Lists of reasons that several formulas give.
var (
	ofStream   = []string{NotStreamed}
	ofSchedule = []string{ClosedLoop}
	ofTokens   = []string{NoRequests, IncompleteCell, ContractFailed, Unaccounted, NoUsage}
	ofServer   = []string{NoServerMetrics, NotReported}
	ofSLO      = []string{NoSLO, NoRequests, Unaccounted, NotStreamed, NoUsage, TooShort, ReasoningOutput, HiddenReasoning, CoarseChunks}
	ofCost     = []string{NoRequests, InconsistentTime, NoGPUCount, NoPrice}
	ofBench    = []string{OtherWorkload, NoRequests, IncompleteCell, NoUsage, NotStreamed, HiddenReasoning, CoarseChunks, TooBrief}
)

func and(list []string, more ...string) []string { return slices.Concat(list, more) }

// Dictionary holds every metric, and what else a cell has. A request that
// failed has no metric: all its values are null with the failure class as the
// reason.
var Dictionary = slices.Concat(perRequest, perCell, perQuality, perEnergy)

var perRequest = []Definition{
	{"ttfo_ms", unitMS, scopeRequest, "tfo - t0", ofStream, 1, "lower", nil},
	{"ttft_ms", unitMS, scopeRequest, "tft - t0", ofStream, 1, "lower", []string{"M2"}},
	{"e2e_ms", unitMS, scopeRequest, "tend - t0", nil, 1, "lower", []string{"total_duration_ms", "M3"}},
	{"generation_ms", unitMS, scopeRequest, "tend - boundary; boundary = tft (capacity-v3), tfo (capacity-v4-reasoning)", ofStream, 1, "lower", []string{"generation_duration_ms", "M5"}},
	{"visible_generation_ms", unitMS, scopeRequest, "tend - tft", ofStream, 1, "lower", nil},
	{"tpot_ms", unitMS, scopeRequest, "generation_ms / (output_tokens - 1); not when the first event holds more than its own token and 5 % of the others, and not of streamed reasoning in capacity-v3, nor with more than 5 % of reasoning that was not sent", []string{NotStreamed, NoUsage, TooShort, ReasoningOutput, HiddenReasoning, CoarseChunks}, 3, "lower", []string{"mean_inter_token_latency_ms", "mean_time_per_output_token_ms"}},
	{"itl_ms", unitMS, scopeRequest, "gaps between output events, all of them pooled, a gap of 0 included; only when events / output_tokens >= 0.98", []string{NotStreamed, NoUsage, TooShort, CoarseChunks, NoEventStamps, InconsistentTime}, 2, "lower", nil},
	{"event_gap_ms", unitMS, scopeRequest, "gaps between output events, all of them pooled, a gap of 0 included, whatever the events carry", []string{NotStreamed, TooShort, NoEventStamps, InconsistentTime}, 1, "lower", nil},
	{"effective_prefill_tok_s", unitTokS, scopeRequest, "prompt_tokens / (boundary - t0); includes queueing, is not kernel prefill", []string{NotStreamed, NoUsage, ZeroDuration}, 1, "higher", nil},
	{"prefill_tok_s", unitTokS, scopeRequest, "(prompt_tokens - cached_tokens) / the engine's own prefill time", []string{NoUsage, TooShort, NoPrefillTime}, 1, "higher", nil},
	{"decode_tok_s", unitTokS, scopeRequest, "(output_tokens - 1) / generation; needs 32 output tokens, and what tpot_ms needs", []string{NotStreamed, NoUsage, TooShort, ReasoningOutput, HiddenReasoning, CoarseChunks, ZeroDuration}, 3, "higher", nil},
	{"decode_span_tok_s", unitTokS, scopeRequest, "(output_tokens - n_first) / (tlast - tfo), n_first = tokens of the first output event; needs 8 events and events / output_tokens >= 0.8", []string{NotStreamed, NoUsage, CoarseChunks, NoFirstTokens, TooShort, ZeroDuration}, 2, "higher", nil},
	{"tok_per_sec", unitTokS, scopeRequest, "bench only: output_tokens / the engine's own decode time, where it reports none / (tend - tft), with reasoning / (tend - tfo), and then neither when the first event holds more than its own token and 5 % of the others nor with as much reasoning that was not sent; only when every run has it", ofBench, 2, "higher", []string{"M1"}},
	{"prompt_tokens", unitTokens, scopeRequest, "the engine's own count", []string{NoUsage}, 1, "", nil},
	{"output_tokens", unitTokens, scopeRequest, "the engine's own count, visible and reasoning; never the number of events", []string{NoUsage}, 1, "", []string{"tokens_generated", "M4"}},
	{"reasoning_tokens", unitTokens, scopeRequest, "from the engine's usage details; part of output_tokens", []string{NotReported}, 1, "", nil},
	{"cached_tokens", unitTokens, scopeRequest, "from the engine's usage details; part of prompt_tokens", []string{NotReported}, 1, "", nil},
	{"prompt_accuracy", unitRatio, scopeRequest, "prompt_tokens / the length asked for", []string{NoLengthAsked, NoUsage}, 1, "", nil},
	{"schedule_lag_ms", unitMS, scopeRequest, "open loop: t0 - the planned moment; of failed requests too", ofSchedule, 1, "lower", nil},
	{"ttft_from_written_ms", unitMS, scopeRequest, "tft - twritten: without the client's connecting and writing; not when the answer began before", []string{NotStreamed, NoWriteStamp, InconsistentTime}, 1, "lower", nil},
	{"ttft_from_schedule_ms", unitMS, scopeRequest, "open loop: tft - the planned moment", []string{NotStreamed, ClosedLoop}, 1, "lower", nil},
	{"e2e_from_schedule_ms", unitMS, scopeRequest, "open loop: tend - the planned moment", ofSchedule, 1, "lower", nil},
}

var perQuality = []Definition{
	{"mean", "score", scopeQuality, "mean over items of the item's score, itself a mean over samples and repeats", []string{Unscored}, 1, "higher", nil},
	{"truncation_rate", unitRatio, scopeQuality, "answers cut by the token limit / answers", []string{NoAnswers}, 1, "lower", nil},
	{"failure_rate", unitRatio, scopeQuality, "answers without a usable output / answers", []string{NoAnswers}, 1, "lower", nil},
	{"gpu_hours", unitGPUHours, scopeQuality, "GPUs x the wall time in which at least one request of the generation was in flight; pauses do not count, and where requests were in flight beside them that are no longer part of the set, neither does the share of those", []string{NoRequests, InconsistentTime, NoGPUCount}, 1, "lower", nil},
	{"cost.per_1k_items", unitMoney, scopeQuality, "1000 x gpu_hours x price of a GPU hour / items, failed ones included", and(ofCost, NoAnswers), 1, "lower", nil},
	{"cost.per_1k_correct", unitMoney, scopeQuality, "1000 x gpu_hours x price of a GPU hour / sum of the items' scores", and(ofCost, Unscored, NoCorrectItems), 1, "lower", nil},
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
