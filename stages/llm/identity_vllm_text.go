package llm

import (
	"strconv"
	"strings"
)

// fillVLLMText reads the configuration as versions of vLLM print it that do not
// know config_format: name=value, with Python's notation for values.
func fillVLLMText(id *Identity, config string) bool {
	f := pythonFields(config)
	if f["model"] == "" {
		return false
	}
	id.loaded(f["model"])
	set(&id.Revision, immutable(f["revision"]))
	set(&id.TokenizerRepo, repoOf(f["tokenizer"]))
	set(&id.TokenizerRevision, immutable(f["tokenizer_revision"]))
	set(&id.Dtype, plain(torchType(f["dtype"])))
	set(&id.Quantization, plain(pythonText(f["quantization"])))
	if f["quantization"] == "None" {
		set(&id.Quantization, id.Dtype)
	}
	set(&id.KVCache, plain(pythonText(f["kv_cache_dtype"])))
	set(&id.PrefixCache, map[string]string{"True": "on", "False": "off"}[f["enable_prefix_caching"]])
	set(&id.Tensor, whole(f["tensor_parallel_size"]))
	set(&id.Pipeline, whole(f["pipeline_parallel_size"]))
	set(&id.Data, whole(f["data_parallel_size"]))
	set(&id.ContextLength, whole(f["max_seq_len"]))
	set(&id.Speculative, methodIn(f["speculative_config"]))
	return true
}

// methodIn reads SpeculativeConfig(method='ngram', ...); None is none.
func methodIn(s string) string {
	if s == "None" {
		return "none"
	}
	_, inner, _ := strings.Cut(s, "(")
	return plain(pythonText(pythonFields(strings.TrimSuffix(inner, ")"))["method"]))
}

// pythonText is a value without Python's word for nothing.
func pythonText(s string) string {
	if s == "None" {
		return ""
	}
	return s
}

func whole(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// pythonFields splits name=value, name=value at the commas that are not inside
// of brackets or quotes. The first of a name counts; a text loses its quotes.
func pythonFields(s string) map[string]string {
	out := map[string]string{}
	depth, begin, quote := 0, 0, byte(0)
	take := func(end int) {
		name, value, ok := strings.Cut(strings.TrimSpace(s[begin:end]), "=")
		if _, twice := out[name]; ok && !twice {
			out[name] = strings.Trim(value, `'"`)
		}
		begin = end + 1
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ',' && depth == 0:
			take(i)
		}
	}
	if begin < len(s) {
		take(len(s))
	}
	return out
}
