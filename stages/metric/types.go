// Package metric is the metric dictionary: every formula, once.
//
// A metric that cannot be computed is null with a reason code, never 0. The
// package is pure: it is given numbers and gives numbers. No NaN and no
// infinity leaves it. [Dictionary] and [Reasons] are the tables from which
// docs/metrics.md and `cupel metrics` are printed.
package metric

// Value is one number, or the reason why there is none.
type Value struct {
	Value  *float64 `json:"value"`
	Unit   string   `json:"unit,omitempty"`
	Reason string   `json:"reason,omitempty"` // reason code when Value is nil; a label such as descriptive-only otherwise
}

// Dist describes a distribution by nearest-rank percentiles over successful
// rows: 1-based rank ceil(p*n/100) of the sorted values.
type Dist struct {
	N      int      `json:"n"`
	Unit   string   `json:"unit"`
	Reason string   `json:"reason,omitempty"` // why there is no value, when N is 0
	Label  string   `json:"label,omitempty"`  // descriptive-only when N < 100
	Min    *float64 `json:"min"`
	Mean   *float64 `json:"mean"`
	StdDev *float64 `json:"stddev"` // sample; nil for N < 2
	P50    *float64 `json:"p50"`
	P90    *float64 `json:"p90"`
	P95    *float64 `json:"p95"`
	P99    *float64 `json:"p99"`
	Max    *float64 `json:"max"`
}

// Protocol is the rule where generation starts.
type Protocol string

// The protocols. A reasoning model's hidden tokens are generated before the
// first visible one, so its generation starts at the first output.
const (
	CapacityV3          Protocol = "capacity-v3"           // generation starts at TTFT
	CapacityV4Reasoning Protocol = "capacity-v4-reasoning" // generation starts at TTFO
)

// Request is what one request of a cell contributes. Times are nanoseconds
// since dispatch, -1 = did not happen; token counts are nil when the engine
// did not say.
type Request struct {
	FirstOutput, FirstVisible, LastOutput, End int64
	PromptTokens, OutputTokens                 *int64
	ReasoningTokens, CachedTokens              *int64
	ContentChunks, ReasoningChunks             int
	FirstTokens                                int     // tokens in the first output event, 0 = not known
	Gaps                                       []int64 // ns between output events; nil = only the first and last were stamped
	ServerPrefill                              int64   // ns, the engine's own isolated prefill time, 0 = not reported
	FailureClass                               string  // "" = completed
	Eligible                                   bool    // met its canary and output contract
}

// Trial is one run of a cell.
type Trial struct {
	Requests []Request
	WallNS   int64 // around the pool, warm-up outside
	CPUNS    int64 // the client's CPU time in that window, -1 = not known
}

// Cell is one workload, candidate and concurrency, trials pooled or single.
// Attempted = Completed + Failed. A request whose answer broke its contract or
// whose time stamps are out of order counts as failed.
type Cell struct {
	Concurrency int            `json:"concurrency"`
	Trials      int            `json:"trials"`
	Attempted   int            `json:"attempted"`
	Completed   int            `json:"completed"`
	Failed      int            `json:"failed"`
	Failures    map[string]int `json:"failures,omitempty"` // class -> requests
	WallS       float64        `json:"wall_s"`             // sum over trials

	TTFT              Dist `json:"ttft_ms"`
	TTFO              Dist `json:"ttfo_ms"`
	E2E               Dist `json:"e2e_ms"`
	Generation        Dist `json:"generation_ms"`
	VisibleGeneration Dist `json:"visible_generation_ms"`
	TPOT              Dist `json:"tpot_ms"`
	ITL               Dist `json:"itl_ms"`
	EffectivePrefill  Dist `json:"effective_prefill_tok_s"`
	PrefillTokS       Dist `json:"prefill_tok_s"`
	DecodeTokS        Dist `json:"decode_tok_s"`
	DecodeSpanTokS    Dist `json:"decode_span_tok_s"`
	PromptTokens      Dist `json:"prompt_tokens"`
	OutputTokens      Dist `json:"output_tokens"`
	ReasoningTokens   Dist `json:"reasoning_tokens"`
	CachedTokens      Dist `json:"cached_tokens"`

	ThroughputTokS Value  `json:"throughput_tok_s"`
	RequestRate    Value  `json:"request_rate"`
	ThroughputSD   Value  `json:"throughput_stddev"` // between trials
	ThroughputCV   Value  `json:"throughput_cv_pct"`
	Stability      string `json:"stability"`       // of the throughput between trials: stable | variable | unstable | unknown
	ClientOverhead Value  `json:"client_overhead"` // share of one core used by the client
	ClientBound    bool   `json:"client_bound"`    // the client was the bottleneck: no guard passes on this cell

	PerTrial []Cell `json:"per_trial,omitempty"` // one per trial, in order; empty in those themselves
}
