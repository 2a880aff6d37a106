package llm

// sglangSettings are the arguments of SGLang's server that change what it
// answers or how fast. Left out are addresses, keys, logging, the random seed, and
// sizes that the server works out from the free memory.
var sglangSettings = []string{
	"dtype", "load_format", "attention_backend", "prefill_attention_backend", "decode_attention_backend", "sampling_backend", "grammar_backend",
	"schedule_policy", "chunked_prefill_size", "page_size", "ep_size",
	"disable_cuda_graph", "disable_overlap_schedule", "enable_torch_compile", "enable_mixed_chunk", "enable_dp_attention", "enable_deterministic_inference",
	"chat_template", "completion_template", "tool_call_parser", "reasoning_parser", "is_embedding", "enable_hierarchical_cache",
	"speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens",
}

// readSGLangServer reads /server_info, or /get_server_info before it was called
// so: all arguments of the server, and what it is doing now, which is left alone.
func readSGLangServer(doc []byte, id *Identity) bool {
	all := object(doc)
	if all["model_path"] == nil || all["tp_size"] == nil {
		return false
	}
	set(&id.EngineVersion, all.text("version"))
	fillSGLangModel(id, all)
	set(&id.Revision, immutable(text(all["revision"])))
	set(&id.Tensor, all.length("tp_size"))
	set(&id.Pipeline, all.length("pp_size"))
	set(&id.Data, all.length("dp_size"))
	set(&id.ContextLength, all.length("context_length"))
	set(&id.MaxSeqs, all.length("max_running_requests"))
	set(&id.KVCache, all.text("kv_cache_dtype"))
	set(&id.Quantization, all.text("quantization"))
	if d := torchType(all.text("dtype")); d != "auto" {
		set(&id.Dtype, d)
	}
	set(&id.PrefixCache, map[string]string{"on": "off", "off": "on"}[all.onOff("disable_radix_cache")])
	set(&id.Speculative, all.text("speculative_algorithm"))
	if all.isNull("speculative_algorithm") {
		set(&id.Speculative, "none")
	}
	set(&id.SpeculativeDraft, draftName(text(all["speculative_draft_model_path"])))
	id.setting(all.pick(sglangSettings...))
	id.applies(all.pick("sampling_defaults", "preferred_sampling_params"))
	return true
}

// readSGLangModel reads /model_info, or /get_model_info before it was called so.
func readSGLangModel(doc []byte, id *Identity) bool {
	all := object(doc)
	if all["model_path"] == nil {
		return false
	}
	fillSGLangModel(id, all)
	id.setting(all.pick("is_generation", "model_type", "has_image_understanding", "has_audio_understanding"))
	id.applies(all.pick("preferred_sampling_params"))
	return true
}

func fillSGLangModel(id *Identity, all fields) {
	id.loaded(text(all["model_path"]))
	set(&id.TokenizerRepo, repoOf(text(all["tokenizer_path"])))
	id.setting(all.pick("weight_version"))
}
