package tinyengine

import (
	"fmt"
	"math"
)

// config is the shape of a Llama model.
type config struct {
	vocab, width, layers, heads, kvHeads, headDim, hidden, context int

	ropeBase, eps float32
}

// maxCache bounds the key/value cache of one request in bytes, so that a file
// of a few bytes cannot ask for terabytes.
const maxCache = 1 << 28

func (c *config) kvWidth() int { return c.kvHeads * c.headDim }

// readConfig takes the shape from the metadata and refuses what the forward
// pass does not compute.
func readConfig(f *ggufFile) (c config, err error) {
	if arch := f.meta["general.architecture"]; arch != "llama" {
		return c, fmt.Errorf("%w: architecture %v, this engine computes \"llama\"", errGGUF, arch)
	}
	for _, field := range []struct {
		key string
		to  *int
	}{
		{"llama.embedding_length", &c.width},
		{"llama.block_count", &c.layers},
		{"llama.attention.head_count", &c.heads},
		{"llama.feed_forward_length", &c.hidden},
		{"llama.context_length", &c.context},
	} {
		if *field.to, err = f.count(field.key, 0); err != nil {
			return c, err
		}
	}
	if c.kvHeads, err = f.count("llama.attention.head_count_kv", c.heads); err != nil {
		return c, err
	}
	if c.headDim, err = f.count("llama.attention.key_length", c.width/c.heads); err != nil {
		return c, err
	}
	if c.eps, err = f.float("llama.attention.layer_norm_rms_epsilon", 1e-5); err != nil {
		return c, err
	}
	if c.ropeBase, err = f.float("llama.rope.freq_base", 10000); err != nil {
		return c, err
	}
	return c, c.check(f)
}

func (c *config) check(f *ggufFile) error {
	if c.heads%c.kvHeads != 0 || c.headDim%2 != 0 {
		return fmt.Errorf("%w: %d query heads over %d key/value heads of %d values", errGGUF, c.heads, c.kvHeads, c.headDim)
	}
	for _, key := range []string{"llama.rope.dimension_count", "llama.attention.value_length"} {
		if n, err := f.count(key, c.headDim); err != nil || n != c.headDim {
			return fmt.Errorf("%w: %s is %v, this engine wants the head size %d", errGGUF, key, f.meta[key], c.headDim)
		}
	}
	for _, key := range []string{"llama.rope.scaling.type", "llama.expert_count", "llama.rope.scale_linear"} {
		if v, ok := f.meta[key]; ok {
			return fmt.Errorf("%w: %s is %v, which this engine does not compute", errGGUF, key, v)
		}
	}
	per := float64(c.layers) * float64(c.context) * float64(c.kvHeads) * float64(c.headDim) * 12
	if per > maxCache {
		return fmt.Errorf("%w: the key/value cache would need %.0f bytes, at most %d", errGGUF, per, maxCache)
	}
	return nil
}

// count reads a positive integer; 0 as fallback means that the key is required.
func (f *ggufFile) count(key string, fallback int) (int, error) {
	v, ok := f.meta[key]
	if !ok && fallback > 0 {
		return fallback, nil
	}
	n, ok := v.(uint64)
	if !ok || n == 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("%w: %s is %v, want a positive integer", errGGUF, key, v)
	}
	return int(n), nil
}

func (f *ggufFile) float(key string, fallback float32) (float32, error) {
	v, ok := f.meta[key]
	if !ok {
		return fallback, nil
	}
	x, ok := v.(float64)
	if !ok || !(x > 0 && x < math.MaxFloat32) {
		return 0, fmt.Errorf("%w: %s is %v, want a positive number", errGGUF, key, v)
	}
	return float32(x), nil
}
