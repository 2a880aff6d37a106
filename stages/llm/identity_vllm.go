package llm

import (
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// vLLM tells most of itself only in its development mode, and some of it in the
// labels of a metric.

// readVLLMServer reads /server_info: the whole configuration in development
// mode, the parallelism alone where the page is for routers.
func readVLLMServer(doc []byte, id *Identity) bool {
	all := object(doc)
	if config := all.object("vllm_config"); config != nil {
		fillVLLM(id, config)
		return true
	}
	if config := text(all["vllm_config"]); config != "" {
		return fillVLLMText(id, config)
	}
	set(&id.Tensor, all.length("tp_size"))
	set(&id.Data, all.length("dp_size"))
	id.loaded(text(all["model_path"]))
	return false // /inference/v1/config may know more
}

func fillVLLM(id *Identity, config fields) {
	fillVLLMModel(id, config.object("model_config"))
	cache := config.object("cache_config")
	set(&id.KVCache, cache.text("cache_dtype"))
	set(&id.PrefixCache, cache.onOff("enable_prefix_caching"))
	fillVLLMParallel(id, config.object("parallel_config"))
	scheduler := config.object("scheduler_config")
	set(&id.MaxSeqs, scheduler.length("max_num_seqs"))
	id.setting(scheduler.pick("max_num_batched_tokens", "enable_chunked_prefill", "async_scheduling"))
	if config.isNull("speculative_config") {
		id.Speculative = "none"
	}
	if draft := config.object("speculative_config"); draft != nil {
		set(&id.Speculative, draft.text("method"))
		set(&id.SpeculativeTokens, draft.length("num_speculative_tokens"))
		set(&id.SpeculativeDraft, draftName(text(draft["model"])))
	}
}

// fillVLLMModel reads the model's part. Its quantization is null only for
// weights that are not quantised: vLLM fills it in from the checkpoint.
func fillVLLMModel(id *Identity, m fields) {
	if m == nil {
		return
	}
	id.loaded(text(m["model"]))
	set(&id.Revision, immutable(text(m["revision"])))
	set(&id.TokenizerRepo, repoOf(text(m["tokenizer"])))
	set(&id.TokenizerRevision, immutable(text(m["tokenizer_revision"])))
	set(&id.ContextLength, m.length("max_model_len"))
	set(&id.Dtype, torchType(m.text("dtype")))
	set(&id.Quantization, m.text("quantization"))
	if m.isNull("quantization") {
		set(&id.Quantization, id.Dtype)
	}
	id.setting(m.pick("enforce_eager", "tokenizer_mode"))
	id.applies(m.pick("generation_config"))
	for name, v := range m.object("override_generation_config") {
		if s := scalar(v); s != "" {
			id.applies(map[string]string{"override." + plain(name): s})
		}
	}
}

func fillVLLMParallel(id *Identity, p fields) {
	set(&id.Tensor, p.length("tensor_parallel_size"))
	set(&id.Pipeline, p.length("pipeline_parallel_size"))
	set(&id.Data, p.length("data_parallel_size"))
}

// readVLLMConfig reads /inference/v1/config of newer versions. How many blocks
// fit into a GPU is not identity.
func readVLLMConfig(doc []byte, id *Identity) bool {
	all := object(doc)
	p := all.object("parallelism")
	fillVLLMParallel(id, p)
	set(&id.PrefixCache, all.object("kv_cache").onOff("enable_prefix_caching"))
	return p != nil
}

// vllmCacheLabels are the labels of vllm:cache_config_info that are settings.
// Others change with the free memory, or between restarts.
var vllmCacheLabels = []string{"block_size", "sliding_window", "calculate_kv_scales", "cpu_offload_gb", "swap_space_bytes", "mamba_cache_dtype"}

// readVLLMMetrics reads the labels in which vLLM tells its cache's configuration.
func readVLLMMetrics(doc []byte, id *Identity) bool {
	labels := infoLabels(string(doc), "vllm:cache_config_info")
	if labels == nil {
		return false
	}
	set(&id.KVCache, labels["cache_dtype"])
	set(&id.PrefixCache, map[string]string{"True": "on", "true": "on", "False": "off", "false": "off"}[labels["enable_prefix_caching"]])
	more := map[string]string{}
	for _, name := range vllmCacheLabels {
		if v := labels[name]; v != "" {
			more[name] = v
		}
	}
	id.setting(more)
	return true
}

// readVLLMTokenizer reads /tokenizer_info, which a server has only if it is
// told to.
func readVLLMTokenizer(doc []byte, id *Identity) bool {
	all := object(doc)
	if t := text(all["chat_template"]); t != "" {
		set(&id.TemplateSHA256, step.Sum([]byte(t)).String())
	}
	id.setting(all.pick("tokenizer_class"))
	return all["tokenizer_class"] != nil
}

// torchType leaves torch's name out of one of its types.
func torchType(s string) string { return strings.TrimPrefix(s, "torch.") }

// repoOf is the repository that weights or files come from, "" for a path.
func repoOf(from string) string {
	repo, _, _ := weightsFrom(from)
	return repo
}

// draftName is a repository, or the last part of a path.
func draftName(from string) string {
	repo, _, file := weightsFrom(from)
	if repo != "" {
		return repo
	}
	return file
}
