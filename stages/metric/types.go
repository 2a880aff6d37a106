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
//
// A certified percentile is an upper bound: with 99 % confidence the true one
// is not above it (see Certified). It is nil below the sample size that can
// certify it, whatever the values are: TooFewToCertify.
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
	P999   *float64 `json:"p999"`
	Max    *float64 `json:"max"`

	// Quantiles are the minimum and the nearest-rank percentiles at 2.5, 5, ...
	// 100 %, for drawing; of ttft_ms, tpot_ms and e2e_ms of a pooled cell alone.
	Quantiles []float64 `json:"quantiles,omitempty"`

	P50Certified  *float64 `json:"p50_certified"`
	P90Certified  *float64 `json:"p90_certified"`
	P95Certified  *float64 `json:"p95_certified"`
	P99Certified  *float64 `json:"p99_certified"`
	P999Certified *float64 `json:"p999_certified"`
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
// since its dispatch unless said otherwise, -1 = did not happen; token counts
// are nil when the engine did not say.
type Request struct {
	Planned                                             int64 // ns since the cell's start at which it was to be sent, -1 = closed loop
	Dispatched                                          int64 // ns since the cell's start at which it was dispatched
	Written, FirstOutput, FirstVisible, LastOutput, End int64
	PromptTokens, OutputTokens                          *int64
	ReasoningTokens, CachedTokens                       *int64
	ContentChunks, ReasoningChunks                      int
	FirstTokens                                         int     // tokens in the first output event, 0 = not known
	Gaps                                                []int64 // ns between output events; nil = only the first and last were stamped
	ServerTotal, ServerPrefill, ServerDecode            int64   // ns, the engine's own durations, 0 = not reported
	AskedPromptTokens                                   int     // prompt length that was asked for, 0 = none
	Group                                               string  // prompt group (bench), "" = all one
	Check                                               *bool   // correctness of the answer (needle, exact); nil = not checked
	FailureClass                                        string  // "" = completed
	Eligible                                            bool    // met its canary and output contract
	Unstreamed                                          bool    // the answer came in one piece: only End is a time
}

// Trial is one run of a cell.
type Trial struct {
	Requests    []Request
	WallNS      int64 // around the pool, warm-up outside
	CPUNS       int64 // the client's CPU time in that window, -1 = not known
	WindowNS    int64 // open loop: the planned sending window; 0 = closed loop
	Planned     int   // open loop: requests of the schedule; 0 = as many as Requests and Unsent
	Unsent      int   // open loop: planned and not dispatched, because the window had ended
	MaxInFlight int
	InFlightNS  int64  // integral of requests in flight over the wall, in request-nanoseconds, counted by the pool; 0 = not counted
	StartUnixNS int64  // wall clock, 0 = not known
	WrongState  string // of a ladder: why its cache state is not the one asked for, "" = it is
	SelfCheck   *SelfCheck
	Pulse       *Pulse
	Nominal     bool    // prompt lengths were not held to the engine's count
	Server      *Server // the engine's own metrics over the cell, nil = it has none
}

// SelfCheck is what the client could do against a server of known timing, at
// the cell's concurrency, right before the cell. Lags are from the server's
// write of an event to the client's stamp for it, in nanoseconds.
type SelfCheck struct {
	Concurrency  int   `json:"concurrency"`
	Events       int   `json:"events"`
	LagP50       int64 `json:"lag_p50_ns"`
	LagP95       int64 `json:"lag_p95_ns"` // judged by: the p99 of a short check is its worst event
	LagP99       int64 `json:"lag_p99_ns"`
	LagMax       int64 `json:"lag_max_ns"`
	TTFTExcess   int64 `json:"ttft_excess_ns"`    // mean client TTFT minus the server's mean truth
	CPUPerEvent  int64 `json:"cpu_per_event_ns"`  // client CPU, -1 = not known
	ServerLagP99 int64 `json:"server_lag_p99_ns"` // the server behind its own schedule: what the machine, not the client, adds
	Reduced      bool  `json:"reduced,omitempty"` // checked at fewer streams than the cell has, to spare the machine
}

// Pulse is how late a timer of the client woke while a cell ran: what the
// self-check shows of a third of a second, over the whole of it.
type Pulse struct {
	Ticks  int   `json:"ticks"` // one every 5 ms
	LagP50 int64 `json:"lag_p50_ns"`
	LagP99 int64 `json:"lag_p99_ns"`
	LagMax int64 `json:"lag_max_ns"`
	Frozen int64 `json:"frozen_ns"` // sum of the lags of more than 20 ms: time in which the client did not run
}

// Server is what the engine's own metrics say about one cell: differences of
// its counters and histograms between just before and just after it, and
// gauges sampled while it ran.
type Server struct {
	Engine         string `json:"engine"` // vllm | sglang | llama.cpp | tgi
	Requests       Value  `json:"requests"`
	PromptTokens   Value  `json:"prompt_tokens"`
	OutputTokens   Value  `json:"output_tokens"`
	QueueMS        Value  `json:"queue_ms"`         // mean
	PrefillMS      Value  `json:"prefill_ms"`       // mean
	DecodeMS       Value  `json:"decode_ms"`        // mean
	TTFTMS         Value  `json:"ttft_ms"`          // mean, the server's own
	E2EMS          Value  `json:"e2e_ms"`           // mean, the server's own
	KVUsePeak      Value  `json:"kv_use_peak"`      // share, of the samples
	RunningPeak    Value  `json:"running_peak"`     // requests
	WaitingPeak    Value  `json:"waiting_peak"`     // requests
	PrefixHitShare Value  `json:"prefix_hit_share"` // cached / queried prompt tokens
	Preemptions    Value  `json:"preemptions"`
	Samples        int    `json:"samples"` // scrapes, the first and last included
}

// SLO is what a request must meet to count as good, in ms; 0 = not stated.
type SLO struct {
	TTFT float64 `json:"ttft_ms,omitempty"`
	TTFO float64 `json:"ttfo_ms,omitempty"`
	TPOT float64 `json:"tpot_ms,omitempty"`
	E2E  float64 `json:"e2e_ms,omitempty"`
}

// CellOptions say what a cell is and how it is to be read.
type CellOptions struct {
	Name        string // c=4, rate=2.5, tokens=8192, code: unique in its workload
	Concurrency int    // 0 = open loop
	Rate        float64
	Protocol    Protocol
	SLO         *SLO
	// IntendedCache: cached prompt tokens are what the workload is about, so
	// they do not make the cell a warm-cache one.
	IntendedCache bool
	// LagMS is how late a stamp may be where that is more than a cell's own
	// limit: a search looks at the bounds of its SLO and at no other time.
	LagMS float64
}

// Cell is one workload, candidate and operating point, trials pooled or single.
// Attempted = Completed + Failed. A request whose answer broke its contract or
// whose time stamps are out of order counts as failed.
type Cell struct {
	Name         string         `json:"name"`
	Concurrency  int            `json:"concurrency"` // 0 = open loop
	Trials       int            `json:"trials"`
	Attempted    int            `json:"attempted"`
	Completed    int            `json:"completed"`
	Failed       int            `json:"failed"`
	Unsent       int            `json:"unsent"`             // open loop: planned and not sent; not among the attempted
	Failures     map[string]int `json:"failures,omitempty"` // class -> requests
	WallS        float64        `json:"wall_s"`             // sum over trials
	StartedUnixS int64          `json:"started_unix_s"`     // wall clock of the first trial, 0 = not known

	TTFT              Dist `json:"ttft_ms"`
	TTFO              Dist `json:"ttfo_ms"`
	E2E               Dist `json:"e2e_ms"`
	Generation        Dist `json:"generation_ms"`
	VisibleGeneration Dist `json:"visible_generation_ms"`
	TPOT              Dist `json:"tpot_ms"`
	ITL               Dist `json:"itl_ms"`
	EventGap          Dist `json:"event_gap_ms"` // gaps between output events, whatever they carry
	EffectivePrefill  Dist `json:"effective_prefill_tok_s"`
	PrefillTokS       Dist `json:"prefill_tok_s"`
	DecodeTokS        Dist `json:"decode_tok_s"`
	DecodeSpanTokS    Dist `json:"decode_span_tok_s"`
	PromptTokens      Dist `json:"prompt_tokens"`
	OutputTokens      Dist `json:"output_tokens"`
	ReasoningTokens   Dist `json:"reasoning_tokens"`
	CachedTokens      Dist `json:"cached_tokens"`
	PromptAccuracy    Dist `json:"prompt_accuracy"` // prompt_tokens / asked for

	ThroughputTokS Value  `json:"throughput_tok_s"`
	SteadyTokS     Value  `json:"steady_tok_s"` // while every stream was busy
	PeakTokS       Value  `json:"peak_tok_s"`
	RequestRate    Value  `json:"request_rate"`
	ThroughputSD   Value  `json:"throughput_stddev"` // between trials
	ThroughputCV   Value  `json:"throughput_cv_pct"`
	DriftPct       Value  `json:"drift_pct"` // last trial's throughput against the first's
	Stability      string `json:"stability"` // of the throughput between trials, of tok_per_sec between runs of a bench: stable | variable | unstable | unknown

	OfferedRate      Value `json:"offered_rate"`  // open loop: planned requests / window
	AchievedRate     Value `json:"achieved_rate"` // dispatched / window
	ScheduleLag      Dist  `json:"schedule_lag_ms"`
	TTFTFromWritten  Dist  `json:"ttft_from_written_ms"`
	TTFTFromSchedule Dist  `json:"ttft_from_schedule_ms"`
	E2EFromSchedule  Dist  `json:"e2e_from_schedule_ms"`
	Goodput          Value `json:"goodput"`      // requests per second that met every stated SLO
	SLOAttained      Value `json:"slo_attained"` // share of attempted requests that did

	PassRate         Value `json:"pass_rate"`                // correct answers / attempted, where the workload checks them
	EffectiveContext Value `json:"effective_context_tokens"` // effective-context only
	MaxRate          Value `json:"max_rate"`                 // search over the rate only
	MaxConcurrency   Value `json:"max_concurrency"`          // search over the concurrency only
	TokPerSec        Dist  `json:"tok_per_sec"`              // asiai's M1, bench only
	StdDevTokS       Value `json:"std_dev_tok_s"`            // asiai's M8, bench only
	TokPerSecCV      Value `json:"tok_per_sec_cv_pct"`       // bench only
	CachedShare      Value `json:"cached_share"`             // cached / prompt tokens over the cell
	ServerPrefixHits Value `json:"server_prefix_hit_share"`  // as the engine's own metrics say
	ServerQueue      Value `json:"server_queue_ms"`
	ServerPrefill    Value `json:"server_prefill_ms"`
	ServerDecode     Value `json:"server_decode_ms"`
	ServerKVUse      Value `json:"server_kv_use_peak"`
	ServerPreempted  Value `json:"server_preemptions"`

	ClientOverhead Value    `json:"client_overhead"`   // share of one core used by the client
	ClientLag      Value    `json:"client_lag_p99_ms"` // worst of the trials: of the pulse where there is one, else of the self-check
	InFlightMean   Value    `json:"in_flight_mean"`
	LittleRatio    Value    `json:"little_ratio"`       // in-flight integral / sum of e2e; 1 = all accounted for; null when a request did not end
	UsageRatio     Value    `json:"usage_server_ratio"` // client's sum of output tokens / the server's counter
	ClientBound    bool     `json:"client_bound"`       // the client was the bottleneck or cannot be trusted: no guard passes on this cell
	WarmCache      bool     `json:"warm_cache"`         // prompts meant to be new were found in a cache: no guard passes on this cell
	OffRate        bool     `json:"off_rate"`           // the achieved rate is more than 1 % off the offered one, or requests left late: no guard passes on this cell
	UsageOff       bool     `json:"usage_off"`          // the client's and the engine's token counts are more than 2 % apart: no guard passes on this cell
	OffLength      bool     `json:"off_length"`         // prompts are not of the length asked for, by the engine's count: no guard passes on this cell
	WrongState     bool     `json:"wrong_state"`        // a ladder's prompts were not in the cache state that it asks for: no guard passes on this cell
	GapsUncertain  bool     `json:"gaps_uncertain"`     // the client's stamps come late against the gaps between events: no guard on itl_ms or event_gap_ms passes on this cell
	LowerBound     bool     `json:"lower_bound"`        // max_rate or max_concurrency could be larger: the search's upper end held, or the client gave up first
	Doubts         []string `json:"doubts,omitempty"`   // sentences: why a flag is set, and what else a reader should know

	PerTrial []Cell `json:"per_trial,omitempty"` // one per trial, in order; empty in those themselves
}

// Probe is one point that a search looked at.
type Probe struct {
	At       float64 `json:"at"`    // req/s or requests in flight
	Trial    int     `json:"trial"` // 1 = the bisection's own, 2 and up confirm
	Attained Value   `json:"slo_attained"`
	Holds    bool    `json:"holds"`
	Why      string  `json:"why,omitempty"` // why it does not
}

// CurvePoint is one context length of an effective-context curve.
type CurvePoint struct {
	Tokens         int    `json:"tokens"`        // bucket
	PromptTokens   Value  `json:"prompt_tokens"` // median, the engine's own count
	Attempted      int    `json:"attempted"`
	Completed      int    `json:"completed"`
	Passed         int    `json:"passed"`
	PassRate       Value  `json:"pass_rate"`       // passed / attempted
	CompletionRate Value  `json:"completion_rate"` // completed / attempted
	RelativeDrop   Value  `json:"relative_drop"`   // against the baseline bucket
	Meets          bool   `json:"meets_policy"`
	Reason         string `json:"reason,omitempty"` // pass_rate_below_floor | relative_drop_exceeded
}

// Curve is how correctness falls with the length of the context.
type Curve struct {
	Baseline         int          `json:"baseline_tokens"`
	Floor            float64      `json:"pass_rate_floor"`
	MaxDrop          float64      `json:"max_relative_drop"`
	Points           []CurvePoint `json:"points"`                     // ascending
	Effective        Value        `json:"effective_context_tokens"`   // prompt tokens of the last point that holds
	FirstDegradation Value        `json:"first_material_degradation"` // bucket
	DegradedBecause  []string     `json:"degraded_because,omitempty"`
}

// Union is the wall time of replicas that ran at the same time, and what it
// makes of their throughput.
type Union struct {
	Cell       string  `json:"cell"`
	Trial      int     `json:"trial"`
	Alignment  string  `json:"alignment"`                // exact-explicit-common-clock-domain | legacy-second-precision-bounded
	Estimate   string  `json:"throughput_estimate_kind"` // exact | conservative-lower-bound
	WallLowMS  float64 `json:"wall_lower_ms"`
	WallHighMS float64 `json:"wall_upper_ms"`
	Tokens     int64   `json:"output_tokens"`
	TokS       Value   `json:"throughput_tok_s"` // = the lower bound
	TokSHigh   Value   `json:"throughput_tok_s_upper_bound"`
}
