package match

import (
	"regexp"
	"strings"
)

var (
	separators = regexp.MustCompile(`[^a-z0-9.]+`)
	noise      = regexp.MustCompile(`^(nvidia|geforce|tesla|amd|instinct|gpu|generation|[0-9]+g(i?b)?|hbm[0-9]*e?|sxm[0-9]*|pcie|1x|x1)$`)
	size       = regexp.MustCompile(`^(a?[0-9]+(\.[0-9]+)?[bmt]|[0-9]+x[0-9]+b)$`)
	bits       = regexp.MustCompile(`(?:^|[^0-9])(?:q|iq|int|fp|bf|w|f|nf|mxfp|nvfp|uint)([0-9]{1,2})`)
)

// gpu reduces "NVIDIA H100 80GB HBM3" to h100; the number of GPUs stays.
func gpu(s string) string {
	var out []string
	for _, w := range strings.Fields(separators.ReplaceAllString(strings.ToLower(s), " ")) {
		if !noise.MatchString(w) {
			out = append(out, w)
		}
	}
	return strings.Join(out, "")
}

// model reduces an id to its last part: org/Name and name are one model.
func model(s string) string {
	s = strings.TrimRight(strings.ToLower(strings.TrimSpace(s)), "/")
	s = s[strings.LastIndexByte(s, '/')+1:]
	return strings.Trim(separators.ReplaceAllString(s, "-"), "-")
}

// family is what stands before the size: qwen3-coder of Qwen3-Coder-30B-A3B. A
// name without a size has no family that could be told from it.
func family(s string) string {
	words := strings.Split(model(s), "-")
	for i, w := range words {
		if size.MatchString(w) {
			return strings.Join(words[:i], "-")
		}
	}
	return ""
}

// engine drops versions: vLLM 0.11 and vllm are one, llama.cpp b4500 is llamacpp.
func engine(s string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(s)), " ")
	first, _, _ = strings.Cut(first, "@")
	return strings.NewReplacer(".", "", "-", "", "_", "").Replace(first)
}

// quant ignores case and punctuation: Q4_K_M is q4km.
func quant(s string) string {
	return strings.ReplaceAll(separators.ReplaceAllString(strings.ToLower(s), ""), ".", "")
}

// precision is the number of bits of a quantisation's weights, "" when its name
// has none: 8 of fp8, 4 of Q4_K_M and of awq-int4, 16 of bf16.
func precision(s string) string {
	if m := bits.FindStringSubmatch(strings.ToLower(s)); m != nil {
		return m[1]
	}
	return ""
}

// on reports whether a switch is on; known is false when nobody said.
func on(s string) (yes, known bool) { return s != "" && s != "off", s != "" }

var contexts = []struct {
	most float64
	name string
}{{8 << 10, "8k"}, {16 << 10, "16k"}, {32 << 10, "32k"}, {64 << 10, "64k"}, {128 << 10, "128k"}}

// ContextBucket names the bucket of a context in tokens.
func ContextBucket(tokens float64) string {
	for _, c := range contexts {
		if tokens <= c.most {
			return c.name
		}
	}
	return "128k+"
}

var concurrencies = []struct {
	most int
	name string
}{{1, "1"}, {4, "2-4"}, {8, "5-8"}, {16, "9-16"}}

// ConcurrencyBucket names the bucket of a number of requests in flight.
func ConcurrencyBucket(n int) string {
	for _, c := range concurrencies {
		if n <= c.most {
			return c.name
		}
	}
	return "17+"
}
