package artifact

import "strings"

// foreignFormats are the files of other tools.
var foreignFormats = []Format{
	{Name: "asiai/export", Tool: "asiai", Kind: Capacity, Schema: "schema_version 2 or 3 with machine and benchmark", Doc: "a bench export: a part for each engine or slot",
		Unknown: []string{"prompts and answers, sampling, prompt tokens, errors and warnings, whether answers were valid, the engine's flags, or how busy the client was"},
		is:      func(f *file) bool { return f.doc.get("benchmark").isObject() && f.holds("asiai_version") }, read: readAsiai},
	{Name: "guidellm", Tool: "guidellm", Kind: Capacity, Doc: "a JSON report: a part for each benchmark",
		Unknown: []string{"the weights' revision, the engine, the GPU, or how busy the client was"},
		is:      func(f *file) bool { return f.doc.get("benchmarks").isList() }, read: readGuideLLM},
	{Name: "vllm-bench", Tool: "vllm bench serve", Kind: Capacity, Doc: "the JSON of vllm bench serve, or of benchmark_serving.py before it",
		Unknown: []string{"the GPU, the weights' revision, sampling, or how busy the client was; its percentiles interpolate, cupel's do not"},
		is:      func(f *file) bool { return f.holds("model_id", "completed", "total_output_tokens", "duration") }, read: readVLLM},
	{Name: "aiperf", Tool: "aiperf", Kind: Capacity, Doc: "profile_export_aiperf.json",
		Unknown: []string{"the GPU, the weights' revision, or how busy the client was; its percentiles interpolate, cupel's do not"},
		is: func(f *file) bool {
			return f.holds("input_config") && f.doc.get("request_throughput").isObject() && !isGenAIPerf(f)
		}, read: readPerf},
	{Name: "genai-perf", Tool: "genai-perf", Kind: Capacity, Doc: "profile_export_genai_perf.json",
		Unknown: []string{"the GPU, the weights' revision, or how busy the client was; its percentiles interpolate, cupel's do not"},
		is:      func(f *file) bool { return f.doc.get("request_throughput").isObject() && isGenAIPerf(f) }, read: readPerf},
	{Name: "inference-perf", Tool: "inference-perf", Kind: Capacity, Doc: "stage_N_lifecycle_metrics.json",
		Unknown: []string{"the model, the engine, the GPU, prompts, and sampling"},
		is:      func(f *file) bool { return f.doc.get("load_summary").isObject() && f.doc.get("successes").isObject() }, read: readInferencePerf},
	{Name: "lm-eval", Tool: "lm-evaluation-harness", Kind: Quality, Doc: "results_*.json: a part for each task",
		Unknown: []string{"the GPU, token counts, or which answers were cut; its paired rows are in samples_*.jsonl, which cupel score reads"},
		is:      func(f *file) bool { return f.doc.get("results").isObject() && f.doc.get("versions").isObject() }, read: readLMEval},
	{Name: "inspect", Tool: "inspect", Kind: Quality, Doc: "an .eval archive or a .json log: a part for each scorer",
		Unknown: []string{"the GPU and the engine; what an item's text is"},
		is: func(f *file) bool {
			return f.doc.get("eval").isObject() && f.doc.get("eval", "task").has() && f.holds("status")
		}, read: readInspect},
	{Name: "promptfoo", Tool: "promptfoo", Kind: Quality, Doc: "the JSON of promptfoo eval: a part for each provider and prompt",
		Unknown: []string{"the GPU, the engine, and sampling; a test without assertions passes there, and was not checked"},
		is:      func(f *file) bool { return f.doc.get("results", "stats").isObject() && f.holds("evalId") }, read: readPromptfoo},
	{Name: "swe-bench/report", Tool: "swe-bench", Kind: Resolution, Doc: "the official grader's report: the only thing that resolves an instance",
		Unknown: []string{"which grader's revision wrote it, and which instances were selected where it does not list the submitted ones"},
		is:      func(f *file) bool { return f.doc.get("resolved_ids").isList() && f.doc.get("completed_ids").isList() }, read: readSWEReport},
	{Name: "swe-bench/intermediate", Tool: "swe-bench", Kind: Rows, Doc: "a trajectory or a patch: intermediate, it resolves nothing",
		is: func(f *file) bool {
			return f.holds("trajectory", "info") || f.holds("instance_id", "model_patch") || f.holds("trajectory_format") || firstHolds(f, "instance_id", "model_patch")
		}, read: readSWEIntermediate},
}

func isGenAIPerf(f *file) bool {
	if f.holds("aiperf_version") {
		return false
	}
	c := f.doc.get("input_config")
	return c.get("subcommand").has() || c.get("perf_analyzer").has() || c.get("formatted_model_name").has() || strings.Contains(c.get("endpoint", "service_kind").str(), "openai") || !c.has()
}

// firstHolds is holds for the first element of a list.
func firstHolds(f *file, names ...string) bool {
	l := f.doc.list()
	if len(l) == 0 {
		return false
	}
	for _, n := range names {
		if !l[0].get(n).has() {
			return false
		}
	}
	return true
}

const notThese = "not among what cupel's table of metrics defines: it includes the time to the first token"
