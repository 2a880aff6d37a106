package artifact

// Class is what a difference in a field means.
type Class string

// The classes.
const (
	Blocks     Class = "blocks"     // another experiment: the numbers do not belong side by side
	Implements Class = "provenance" // what an A/B is about: engine, recipe, method, weights
)

// Rule says how one field is compared.
type Rule struct {
	Field string
	Class Class
	// Required are the kinds for which the field must be known on every side.
	Required []Kind
	// Only are the kinds for which the class is Blocks; for others it is
	// Implements. nil = all.
	Only []Kind
	// Soft: known on one side only is a caution, no difference.
	Soft bool
	// Apart is the share by which numbers may differ, Caution from where that is
	// told. Absolute: in units of the number, not as a share.
	Apart, Caution float64
	Absolute       bool
	Doc            string
}

var timed = []Kind{Capacity, Speculative}

// Rules is the table of compared fields; documentation is printed from it. What
// is not in it is a result, or says when and by whom it was measured.
var Rules = []Rule{
	{Field: "workload.protocol", Class: Blocks, Doc: "where generation begins, and which version of a harness"},
	{Field: "workload.protocol_version", Class: Blocks, Required: []Kind{Quality}},
	{Field: "workload.suite", Class: Blocks, Required: []Kind{Campaign}, Doc: "context, agentic or SWE; a kind of workload"},
	{Field: "workload.profile_sha256", Class: Blocks, Required: []Kind{Campaign}},
	{Field: "workload.suites", Class: Blocks, Required: []Kind{Quality}, Doc: "name, content hash, use and strength of each; without a hash a suite has no identity"},
	{Field: "workload.repetitions", Class: Blocks, Required: []Kind{Quality}},
	{Field: "workload.minimum_pass_rate", Class: Blocks, Soft: true},
	{Field: "workload.instances", Class: Blocks, Required: []Kind{Resolution}},
	{Field: "workload.grader", Class: Blocks, Required: []Kind{Resolution}, Doc: "revision of the official grader; scorers with their versions"},
	{Field: "workload.requests", Class: Blocks, Required: []Kind{Capacity}},
	{Field: "workload.concurrency", Class: Blocks, Required: []Kind{Capacity}},
	{Field: "workload.rate", Class: Blocks, Soft: true, Apart: 0.01, Doc: "requests a second that were offered"},
	{Field: "workload.context_tokens", Class: Blocks, Doc: "nominal; what was really sent is results.prompt_tokens_mean"},
	{Field: "workload.context_distribution", Class: Blocks, Soft: true},
	{Field: "workload.context_seed", Class: Blocks, Soft: true},
	{Field: "workload.shared_prefix_tokens", Class: Blocks, Soft: true},
	{Field: "workload.shared_prefix_burst", Class: Blocks, Required: []Kind{Capacity}},
	{Field: "workload.cache_policy", Class: Blocks, Required: []Kind{Capacity}},
	{Field: "workload.prompt_set_id", Class: Blocks, Required: []Kind{Capacity}, Doc: "declared, or the hash of the prompts as they are rebuilt from what the generator was given"},
	{Field: "workload.response_words", Class: Blocks, Soft: true},
	{Field: "workload.request_canaries", Class: Blocks, Soft: true},
	{Field: "workload.output_policy", Class: Blocks, Soft: true},
	{Field: "workload.method_sha256", Class: Blocks, Only: []Kind{Speculative}, Required: []Kind{Speculative}},

	{Field: "generation.max_tokens", Class: Blocks, Required: []Kind{Capacity}},
	{Field: "generation.visible_answer_tokens", Class: Blocks, Soft: true},
	{Field: "generation.reasoning_headroom_tokens", Class: Blocks, Soft: true},
	{Field: "generation.temperature", Class: Blocks, Required: []Kind{Campaign}, Soft: true},
	{Field: "generation.top_p", Class: Blocks, Soft: true},
	{Field: "generation.seed", Class: Blocks, Soft: true},
	{Field: "generation.thinking_mode", Class: Blocks, Only: timed, Required: []Kind{Capacity, Quality}},
	{Field: "generation.no_thinking", Class: Blocks, Only: timed, Required: []Kind{Capacity}, Soft: true},
	{Field: "generation.reasoning_effort", Class: Blocks, Only: timed, Soft: true},
	{Field: "generation.control_mechanism", Class: Implements, Required: []Kind{Quality}},
	{Field: "generation.control_status", Class: Implements},
	{Field: "generation.control_evidence_sha256", Class: Implements},

	{Field: "hardware.gpu", Class: Blocks, Required: []Kind{Capacity, Quality, Speculative}},
	{Field: "hardware.gpus", Class: Blocks, Soft: true},
	{Field: "hardware.protected", Class: Blocks, Soft: true, Doc: "GPUs in use by others at the same time"},
	{Field: "hardware.driver", Class: Blocks, Soft: true},
	{Field: "hardware.power_limit_w", Class: Blocks, Soft: true, Apart: 0.005},
	{Field: "memory.served_context_tokens", Class: Blocks},

	{Field: "results.prompt_tokens_mean", Class: Blocks, Soft: true, Apart: 0.02, Doc: "real prompt tokens of a request: a nominal length is 0.71 to 0.96 of itself, by tokenizer"},
	{Field: "results.output_tokens_mean", Class: Blocks, Only: timed, Soft: true, Apart: 0.10, Caution: 0.02, Doc: "from 0.02 apart on, times of whole answers do not belong side by side"},
	{Field: "results.failed", Class: Blocks, Soft: true, Doc: "numbers of survivors"},
	{Field: "results.cached_share", Class: Blocks, Only: timed, Soft: true, Apart: 0.05, Absolute: true, Doc: "prompt tokens found in a cache"},
	{Field: "results.client_bound", Class: Blocks, Soft: true, Doc: "the client was the bottleneck"},

	{Field: "energy.base", Class: Blocks, Soft: true, Doc: "what is counted: energies of two bases are of two things"},
	{Field: "energy.rails", Class: Blocks, Soft: true, Doc: "the domains that were read; another set is another base"},
	{Field: "energy.set_sha256", Class: Blocks, Soft: true, Doc: "domains and the counters that they were read from"},
	{Field: "energy.window", Class: Blocks, Soft: true, Doc: "a turn holds the prompt's energy, decode does not"},
	{Field: "energy.power_cap_share", Class: Blocks, Soft: true, Apart: 0.05, Absolute: true, Doc: "time at the power cap"},
	{Field: "energy.wall_sha256", Class: Implements, Doc: "a declared calibration, which is in no number"},

	{Field: "engine.name", Class: Implements, Required: []Kind{Capacity, Quality, Speculative}},
	{Field: "engine.version", Class: Implements},
	{Field: "engine.image_digest", Class: Implements},
	{Field: "engine.flags_sha256", Class: Implements},
	{Field: "identity.model", Class: Implements, Required: []Kind{Capacity, Quality, Speculative, Campaign}},
	{Field: "identity.revision", Class: Implements},
	{Field: "identity.weights_sha256", Class: Implements},
	{Field: "identity.tokenizer", Class: Implements},
	{Field: "identity.chat_template_sha256", Class: Implements},
	{Field: "memory.quantization", Class: Implements},
	{Field: "memory.kv_dtype", Class: Implements},
	{Field: "memory.tensor_parallel", Class: Implements},
	{Field: "memory.pipeline_parallel", Class: Implements},
	{Field: "memory.data_parallel", Class: Implements},
	{Field: "memory.max_seqs", Class: Implements},
	{Field: "memory.prefix_cache", Class: Implements},
	{Field: "memory.speculative", Class: Implements},
	{Field: "provenance.recipe_ref", Class: Implements, Required: []Kind{Quality}},
	{Field: "provenance.tool", Class: Implements},
	{Field: "provenance.tool_version", Class: Implements},
	{Field: "provenance.spec_hash", Class: Implements},
	{Field: "provenance.url", Class: Implements, Required: []Kind{Prior}},
}

// incomparable are kinds that hold no measurement of their own.
var incomparable = map[Kind]string{
	Prior:      "a claim is no measurement",
	Narrative:  "numbers without rows are claims",
	OutOfScope: "it is out of scope",
}
