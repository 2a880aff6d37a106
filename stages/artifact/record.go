package artifact

import "github.com/cupel-dev/cupel/engine/step"

// Schema names the form of a record.
const Schema = "cupel/evidence/v2"

// earlierSchema had one energy among its results, which told neither base nor
// window. It is read.
const earlierSchema = "cupel/evidence/v1"

// Kind is what a record is evidence of.
type Kind string

// The kinds. Only records of one kind are compared.
const (
	Capacity      Kind = "capacity"       // requests and how long they took
	Quality       Kind = "quality"        // answers and how good they are
	Speculative   Kind = "speculative"    // an A/B of speculative decoding
	Campaign      Kind = "campaign"       // a context, agentic or SWE job
	Resolution    Kind = "resolution"     // SWE-bench: the official grader's report
	Preflight     Kind = "preflight"      // functional checks
	Control       Kind = "control"        // proof that a reasoning control works
	Multimodal    Kind = "multimodal"     // images and videos
	Stability     Kind = "stability"      // nothing of it is a performance
	ABComparison  Kind = "comparison"     // made from other artifacts
	Decided       Kind = "decision"       // what a gate said
	Pinned        Kind = "pin"            // what an endpoint says it is
	Specification Kind = "specification"  // what is to be measured
	Listing       Kind = "listing"        // names other files
	Rows          Kind = "rows"           // raw rows, one a line
	Prior         Kind = "external-prior" // what somebody claims
	Narrative     Kind = "narrative"      // somebody's summary: claims with numbers in them
	OutOfScope    Kind = "out-of-scope"
)

// Record is everything that a publication says about one measurement. Each
// field is there, with a value or with the reason why there is none.
type Record struct {
	Schema     string     `json:"schema"`         // cupel/evidence/v2
	Part       string     `json:"part,omitempty"` // of a file with several
	Kind       Kind       `json:"kind"`
	Source     Source     `json:"source"`
	Labels     Labels     `json:"labels"`
	Hardware   Hardware   `json:"hardware"`
	Identity   Identity   `json:"identity"`
	Engine     Engine     `json:"engine"`
	Memory     Memory     `json:"memory"`
	Generation Generation `json:"generation"`
	Workload   Workload   `json:"workload"`
	Results    Results    `json:"results"`
	Energy     Energy     `json:"energy"`
	Provenance Provenance `json:"provenance"`
	Decision   Decision   `json:"decision"`

	Invalid []string `json:"invalid,omitempty"` // what makes it no evidence, in words
	Notes   []string `json:"notes,omitempty"`   // what a reader should know
}

// Source says which file it was read from.
type Source struct {
	Format string      `json:"format"` // a name of Formats
	Schema string      `json:"schema,omitempty"`
	SHA256 step.Digest `json:"sha256"` // of the file
	Bytes  int64       `json:"bytes"`
}

// Labels say what the evidence is good for. They never upgrade themselves.
type Labels struct {
	Evidence Texts `json:"evidence"` // functional | capacity | quality | claim
	Decision Text  `json:"decision"` // challenger | no-promotion | rejected | ...
}

// Hardware tells the GPUs that were measured from those that were there.
type Hardware struct {
	GPU         Text   `json:"gpu"`           // measured, as it is called
	GPUs        Number `json:"gpus"`          // measured
	Protected   Texts  `json:"protected"`     // in use by others at the same time: co-resident
	Topology    Texts  `json:"topology_only"` // in the machine, and not used
	Host        Text   `json:"host"`
	Driver      Text   `json:"driver"`
	PowerLimitW Number `json:"power_limit_w"` // of each measured GPU
}

// Identity is which weights answered.
type Identity struct {
	Model        Text `json:"model"`
	ServedName   Text `json:"served_name"`
	Revision     Text `json:"revision"`
	Weights      Text `json:"weights_sha256"`
	Tokenizer    Text `json:"tokenizer"`
	ChatTemplate Text `json:"chat_template_sha256"`
	License      Text `json:"license"`
}

// Engine is the serving software.
type Engine struct {
	Name    Text `json:"name"`
	Version Text `json:"version"`
	Image   Text `json:"image_digest"`
	Flags   Text `json:"flags_sha256"` // of the flags, one a line; never the flags
}

// Memory is the memory recipe: what decides how much fits.
type Memory struct {
	ServedContext Number `json:"served_context_tokens"`
	Weights       Text   `json:"quantization"`
	KV            Text   `json:"kv_dtype"`
	Tensor        Number `json:"tensor_parallel"`
	Pipeline      Number `json:"pipeline_parallel"`
	Data          Number `json:"data_parallel"`
	MaxSeqs       Number `json:"max_seqs"`
	PrefixCache   Text   `json:"prefix_cache"` // on | off
	Speculative   Text   `json:"speculative"`  // none, or the method
}

// Generation is the generation recipe: what was asked of each answer.
type Generation struct {
	Temperature    Number `json:"temperature"`
	TopP           Number `json:"top_p"`
	Seed           Number `json:"seed"`
	MaxTokens      Number `json:"max_tokens"`
	ThinkingMode   Text   `json:"thinking_mode"` // default | enabled | disabled | unsupported
	NoThinking     Flag   `json:"no_thinking"`
	Effort         Text   `json:"reasoning_effort"`
	Mechanism      Text   `json:"control_mechanism"`
	ControlStatus  Text   `json:"control_status"` // verified | supported | requested_unverified | ...
	ControlProof   Text   `json:"control_evidence_sha256"`
	VisibleTokens  Number `json:"visible_answer_tokens"`
	HeadroomTokens Number `json:"reasoning_headroom_tokens"`
}

// Workload is what was asked.
type Workload struct {
	Protocol        Text   `json:"protocol"` // where generation begins, which version of a harness
	ProtocolVersion Number `json:"protocol_version"`
	Suite           Text   `json:"suite"` // of a job: context, agentic, swe
	Profile         Text   `json:"profile_sha256"`
	Suites          Suites `json:"suites"`
	Repetitions     Number `json:"repetitions"`
	MinPassRate     Number `json:"minimum_pass_rate"`
	Instances       Texts  `json:"instances"` // selected ones
	Grader          Text   `json:"grader"`    // revision of the grader
	Requests        Number `json:"requests"`
	Concurrency     Number `json:"concurrency"`
	Rate            Number `json:"rate"` // requests a second, open loop
	Context         Number `json:"context_tokens"`
	Distribution    Text   `json:"context_distribution"`
	ContextSeed     Number `json:"context_seed"`
	SharedTokens    Number `json:"shared_prefix_tokens"`
	Burst           Flag   `json:"shared_prefix_burst"`
	CachePolicy     Text   `json:"cache_policy"`
	PromptSet       Text   `json:"prompt_set_id"`
	ResponseWords   Number `json:"response_words"`
	Canaries        Flag   `json:"request_canaries"`
	OutputPolicy    Text   `json:"output_policy"`
	Method          Text   `json:"method_sha256"`
}

// Suite is an item set. Without a content hash it has no identity.
type Suite struct {
	Name      string `json:"name"`
	SHA256    string `json:"sha256,omitempty"`
	Use       string `json:"use,omitempty"`       // diagnostic | ranking, where a suite says
	Validator string `json:"validator,omitempty"` // exact_choice | typed_structure | deterministic_marker
}

// Results are the numbers, by cupel's metric ids; see docs/metrics.md.
type Results struct {
	Completed        Number `json:"completed"`
	Failed           Number `json:"failed"`
	WallS            Number `json:"wall_s"`
	ThroughputTokS   Number `json:"throughput_tok_s"`
	RequestRate      Number `json:"request_rate"`
	TTFTP50          Number `json:"ttft_p50_ms"`
	TTFTP95          Number `json:"ttft_p95_ms"`
	TTFOP50          Number `json:"ttfo_p50_ms"`
	TTFOP95          Number `json:"ttfo_p95_ms"`
	E2EP50           Number `json:"e2e_p50_ms"`
	E2EP95           Number `json:"e2e_p95_ms"`
	GenerationP50    Number `json:"generation_p50_ms"`
	GenerationP95    Number `json:"generation_p95_ms"`
	DecodeP50        Number `json:"decode_tok_s_p50"`
	DecodeP95        Number `json:"decode_tok_s_p95"`
	TPOTP50          Number `json:"tpot_p50_ms"`
	TPOTP95          Number `json:"tpot_p95_ms"`
	PrefillP50       Number `json:"effective_prefill_tok_s_p50"`
	PrefillP95       Number `json:"effective_prefill_tok_s_p95"`
	PromptTokens     Number `json:"prompt_tokens_mean"` // of a request, as counted
	OutputTokens     Number `json:"output_tokens_mean"`
	PromptTokensSum  Number `json:"prompt_tokens"`
	OutputTokensSum  Number `json:"output_tokens"`
	CachedShare      Number `json:"cached_share"`
	Items            Number `json:"items"`  // scored items
	Passed           Number `json:"passed"` // items at or above their threshold
	Perfect          Number `json:"fully_correct"`
	Score            Number `json:"score_mean"`
	Speedup          Number `json:"speedup"`
	EffectiveContext Number `json:"effective_context_tokens"`
	ClientBound      Flag   `json:"client_bound"` // the client was the bottleneck or cannot be trusted
}

// Provenance is where and when it was measured, and by what.
type Provenance struct {
	Tool        Text `json:"tool"`
	ToolVersion Text `json:"tool_version"`
	RunID       Text `json:"run_id"`
	StartedAt   Text `json:"started_at"`
	FinishedAt  Text `json:"finished_at"`
	Recipe      Text `json:"recipe_ref"`
	SpecHash    Text `json:"spec_hash"`
	URL         Text `json:"url"` // of a claim
}

// Decision is what was concluded.
type Decision struct {
	Question Text `json:"question"`
	Verdict  Text `json:"verdict"` // pass | fail | undetermined, or the words of a hand-written one
	Evidence Text `json:"evidence_sha256"`
}
