package metric

// otherTools is what other load clients call a metric, as read in their code.
// One word has up to five meanings among them; ours is the id in the last
// column.
var otherTools = []struct{ Word, Tools, Formula, Ours string }{
	{"TPOT", "vllm bench serve, SGLang bench_serving, genai-bench", "(tend - tft) / (n - 1)", "tpot_ms"},
	{"ITL", "aiperf", "(tend - tft) / (n - 1)", "tpot_ms"},
	{"TPOT", "MLPerf LoadGen", "(tend - tft) / (n - 1); negative for n = 1", "tpot_ms, null for n = 1"},
	{"TPOT", "inference-perf", "(tlast - tft) / (n - 1)", "1000 / decode_span_tok_s when the first event holds one token"},
	{"TPOT", "guidellm", "(tlast - t0) / n, with the time to the first token in it", "none"},
	{"NTPOT", "inference-perf", "(tend - t0) / n", "none"},
	{"ITL", "vllm bench serve, SGLang bench_serving", "gaps between chunks, tokens or not", "event_gap_ms"},
	{"ICL", "aiperf", "gaps between chunks", "event_gap_ms"},
	{"ITL", "guidellm", "a request's mean (tlast - tft) / (n - 1)", "1000 / decode_span_tok_s when the first event holds one token"},
}
