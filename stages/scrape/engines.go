package scrape

import "strings"

// The engines, as [metric.Server] spells them.
const (
	vllm     = "vllm"
	sglang   = "sglang"
	llamaCpp = "llama.cpp"
	tgi      = "tgi"
)

// role is one field of metric.Server.
type role int

const (
	requests     role = iota // counter: requests that ended
	promptTokens             // counter
	outputTokens             // counter
	preemptions              // counter
	prefixHits               // counter over another one
	queueTime                // histogram of seconds, by its _sum and _count
	prefillTime              // likewise
	decodeTime               // likewise
	ttft                     // likewise
	e2e                      // likewise
	kvUse                    // gauge, share: every engine's "perc" is 0 to 1 in fact
	running                  // gauge, requests
	waiting                  // gauge, requests
)

// source is where an engine reports a role. Of several sources of a role the
// first one that a server reports counts; the others are old spellings or
// weaker evidence. Names are compared with : and _ taken as the same, because
// routers and some SGLang releases print sglang_ for sglang: and the like.
type source struct {
	name         string
	label, value string // only series with this label value
	over         string // prefixHits: the counter of prompt tokens that were looked up
	misses       bool   // prefixHits: name counts what was not found
}

// engine is one row of the table.
type engine struct {
	name string
	// replicas are labels whose values repeat one observation: every rank of a
	// tensor-parallel group reports the same queue. The largest one counts.
	replicas []string
	// total is a label whose empty value already sums its other values up.
	total   string
	sources map[role][]source
}

// engines is the table. Each name, type and unit was read in the engine's own
// source:
//
//	vllm      vllm/v1/metrics/loggers.py and, before V1, vllm/engine/metrics.py
//	sglang    python/sglang/srt/observability/metrics_collector.py, before that srt/metrics/collector.py
//	llama.cpp tools/server/server-context.cpp, before that server.cpp
//	tgi       router/src/{server,validation}.rs, backends/*/src/{queue,backend}.rs, docs reference/metrics
var engines = []engine{
	{
		name: vllm,
		sources: map[role][]source{
			requests:     {{name: "vllm:request_success_total"}}, // all finished_reason, abort included
			promptTokens: {{name: "vllm:prompt_tokens_total"}},   // cached ones included
			outputTokens: {{name: "vllm:generation_tokens_total"}},
			preemptions:  {{name: "vllm:num_preemptions_total"}},
			// The scheduler looks a waiting request up again at every step that has
			// no room for it, so queries and hits count it several times;
			// prompt_tokens_cached counts a request once, at its prefill.
			prefixHits: {
				{name: "vllm:prompt_tokens_cached_total", over: "vllm:prompt_tokens_total"},
				{name: "vllm:prefix_cache_hits_total", over: "vllm:prefix_cache_queries_total"},
				{name: "vllm:gpu_prefix_cache_hits_total", over: "vllm:gpu_prefix_cache_queries_total"}, // before 0.9
			},
			queueTime:   {{name: "vllm:request_queue_time_seconds"}, {name: "vllm:time_in_queue_requests"}}, // the latter: V0, seconds too
			prefillTime: {{name: "vllm:request_prefill_time_seconds"}},
			decodeTime:  {{name: "vllm:request_decode_time_seconds"}},
			ttft:        {{name: "vllm:time_to_first_token_seconds"}},
			e2e:         {{name: "vllm:e2e_request_latency_seconds"}},
			kvUse:       {{name: "vllm:kv_cache_usage_perc"}, {name: "vllm:gpu_cache_usage_perc"}}, // the latter before 0.9
			running:     {{name: "vllm:num_requests_running"}},
			waiting:     {{name: "vllm:num_requests_waiting"}},
		},
	},
	{
		name:     sglang,
		replicas: []string{"tp_rank", "pp_rank", "moe_ep_rank"},
		total:    "priority",
		sources: map[role][]source{
			requests:     {{name: "sglang:num_requests_total"}},
			promptTokens: {{name: "sglang:prompt_tokens_total"}}, // cached ones included
			outputTokens: {{name: "sglang:generation_tokens_total"}},
			preemptions:  {{name: "sglang:num_retracted_requests_total"}, {name: "sglang:num_retractions_sum"}},
			// The values of cache_source are disjoint. The counter has no series until
			// the first hit; the histograms tell no hits from no counter.
			prefixHits: {
				{name: "sglang:cached_tokens_total", over: "sglang:prompt_tokens_total"},
				{name: "sglang:uncached_prompt_tokens_histogram_sum", over: "sglang:prompt_tokens_histogram_sum", misses: true},
			},
			queueTime:   {{name: "sglang:queue_time_seconds"}},
			prefillTime: {{name: "sglang:per_stage_req_latency_seconds", label: "stage", value: "prefill_forward"}}, // all chunks of a prompt
			ttft:        {{name: "sglang:time_to_first_token_seconds"}},
			e2e:         {{name: "sglang:e2e_request_latency_seconds"}},
			kvUse:       {{name: "sglang:token_usage"}},
			running:     {{name: "sglang:num_running_reqs"}},
			waiting:     {{name: "sglang:num_queue_reqs"}},
		},
	},
	{
		// It counts no requests, so the seconds that it sums up have no mean.
		name: llamaCpp,
		sources: map[role][]source{
			promptTokens: {{name: "llamacpp:prompt_tokens_total"}}, // those computed; cached ones are left out
			outputTokens: {{name: "llamacpp:tokens_predicted_total"}},
			kvUse:        {{name: "llamacpp:kv_cache_usage_ratio"}}, // until mid-2025
			running:      {{name: "llamacpp:requests_processing"}},
			waiting:      {{name: "llamacpp:requests_deferred"}},
		},
	},
	{
		// tgi_batch_inference_duration{method="prefill"} is per batch, not per
		// request, and is therefore not a prefill time.
		name: tgi,
		sources: map[role][]source{
			requests:     {{name: "tgi_request_success"}, {name: "tgi_request_success_total"}, {name: "tgi_request_count"}}, // the last one also counts failures and /chat_tokenize
			promptTokens: {{name: "tgi_request_input_length_sum"}},
			outputTokens: {{name: "tgi_request_generated_tokens_sum"}},
			queueTime:    {{name: "tgi_request_queue_duration"}},
			e2e:          {{name: "tgi_request_duration"}},
			running:      {{name: "tgi_batch_current_size"}},
			waiting:      {{name: "tgi_queue_size"}},
		},
	},
}

// canonical is a metric name with : and _ taken as the same.
func canonical(name string) string { return strings.ReplaceAll(name, ":", "_") }

// series are the names of the samples that a source is read from.
func (s source) series(r role) []string {
	switch {
	case r >= queueTime && r <= e2e:
		return []string{canonical(s.name + "_sum"), canonical(s.name + "_count")}
	case s.over != "":
		return []string{canonical(s.name), canonical(s.over)}
	}
	return []string{canonical(s.name)}
}

// tracked maps the name of every sample of the table to its engine's index.
var tracked = func() map[string]int {
	names := map[string]int{}
	for i, e := range engines {
		for r, sources := range e.sources {
			for _, s := range sources {
				for _, name := range s.series(r) {
					names[name] = i
				}
			}
		}
	}
	return names
}()
