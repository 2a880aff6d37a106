package tinyengine

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
)

func TestLoadRefuses(t *testing.T) {
	good := micro(kindQ4_0)
	replace := func(old, new string) []byte {
		if len(old) != len(new) || !strings.Contains(string(good), old) {
			t.Fatalf("bad replacement %q", old)
		}
		return []byte(strings.Replace(string(good), old, new, 1))
	}
	// put overwrites bytes at an offset behind the first occurrence of a name.
	put := func(name string, skip int, v ...byte) []byte {
		b := append([]byte(nil), good...)
		at := strings.Index(string(b), name)
		if at < 0 {
			t.Fatalf("no %q", name)
		}
		copy(b[at+len(name)+skip:], v)
		return b
	}
	const len2 = "\x02\x00\x00\x00\x00\x00\x00\x00"
	huge := []byte{255, 255, 255, 255, 255, 255, 255, 127}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "magic"},
		{"magic", []byte("GGML" + string(good[4:])), "magic"},
		{"version", append([]byte("GGUF\x02"), good[5:]...), "version 2"},
		{"truncated header", good[:200], "left"},
		{"truncated data", good[:len(good)-100], "wants"},
		{"tensor count", append(append([]byte(nil), good[:8]...), append(huge, good[16:]...)...), "tensors declared"},
		{"array count", put("tokenizer.ggml.tokens", 8, huge...), "strings in"},
		{"int array count", put("tokenizer.ggml.token_type", 8, huge...), "values in"},
		{"array of arrays", put("tokenizer.ggml.merges", 4, 9), "not supported"},
		{"string length", put("general.architecture", 4, huge...), "string of"},
		{"value type", put("llama.block_count", 0, 77), "unknown"},
		{"dimensions", put("token_embd.weight", 0, 99), "dimensions"},
		{"overflowing shape", put("token_embd.weight", 12, huge...), "shape"},
		{"zero rows", put("token_embd.weight", 12, 0, 0), "shape"},
		{"part of a block", put("token_embd.weight", 4, 31, 0), "shape"},
		{"tensor type", put("token_embd.weight", 20, 14), "type 14"},
		{"offset", put("token_embd.weight", 24, huge...), "offset"},
		{"unaligned offset", put("token_embd.weight", 24, 1), "offset"},
		{"wrong rows", put("blk.0.attn_q.weight", 12, 1, 0), "want 192 x 256"},
		{"missing tensor", replace("blk.1.ffn_up.weight", "blk.1.ffn_uq.weight"), "missing"},
		{"same tensor twice", replace("blk.1.attn_q.weight", "blk.0.attn_q.weight"), "twice"},
		{"same key twice", replace("tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id"), "twice"},
		{"architecture", replace("\x05\x00\x00\x00\x00\x00\x00\x00llama", "\x05\x00\x00\x00\x00\x00\x00\x00gemma"), "gemma"},
		{"no layers", put("llama.block_count", 4, 0), "positive"},
		{"endless context", put("llama.context_length", 4, 255, 255, 255, 127), "cache would need"},
		{"heads", put("llama.attention.head_count_kv", 4, 4), "query heads"},
		{"head size", put("llama.attention.key_length", 4, 31), "values"},
		{"pre-tokeniser", replace("llama-bpe", "qwen2-bpe"), "llama-bpe"},
		{"control token", replace("<|tool|>", "<|took|>"), "<|tool|>"},
		{"byte token", replace(len2+"Ā", len2+"Ҁ"), "byte alphabet"},
		{"merge", replace("ab c", "ab d"), "merge 1"},
		{"end token", put("tokenizer.ggml.eos_token_id", 4, 255, 255), "eos"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load("m", c.file)
			if !errors.Is(err, errGGUF) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
	if _, err := Load("m", good); err != nil {
		t.Errorf("the untouched file: %v", err)
	}
}

// TestHostileCountsAllocateLittle: a header of a few bytes that announces
// 2^60 of everything must cost no more than an error.
func TestHostileCountsAllocateLittle(t *testing.T) {
	head := func(tensors, pairs uint64, rest ...byte) []byte {
		b := binary.LittleEndian.AppendUint32([]byte("GGUF"), 3)
		b = binary.LittleEndian.AppendUint64(b, tensors)
		return append(binary.LittleEndian.AppendUint64(b, pairs), rest...)
	}
	array := append(appendStr(nil, "k"), 9, 0, 0, 0)
	for _, kind := range []byte{ggufString, ggufI32, ggufU8} {
		pair := append(append([]byte(nil), array...), kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16)
		for _, file := range [][]byte{head(1<<60, 0), head(0, 1<<60), head(0, 1, pair...)} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Load("m", file)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; err == nil || n > 1<<20 {
				t.Errorf("error %v after allocating %d bytes", err, n)
			}
		}
	}
}

// FuzzLoad: whatever loads must also compute.
func FuzzLoad(f *testing.F) {
	small := microShape{width: 32, hidden: 32, layers: 1, heads: 2, kv: 1, dim: 16, context: 16}
	for _, kind := range []blockKind{kindF16, kindQ4_0, kindQ8_0} {
		file := small.file(kind)
		f.Add(file)
		f.Add(file[:4000])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Load("fuzz", b)
		if err != nil || m.cfg.context > 64 { // a long context is slow, not wrong
			return
		}
		_, err = m.Generate(context.Background(), []Message{{Role: "user", Content: "a"}}, Options{MaxTokens: 2})
		var long *ContextError
		if err != nil && !errors.As(err, &long) {
			t.Errorf("loaded, but: %v", err)
		}
	})
}

// FuzzParse is the header alone, much faster than FuzzLoad.
func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	w := &ggufWriter{}
	w.str("s", "text")
	w.u32("u", 7)
	w.f32("f", 1.5)
	w.strings("a", []string{"x", "", "yz"})
	w.ints("i", []int32{1, -1})
	w.tensors = []rawTensor{{"t", kindQ4_0, 2, 32, make([]byte, 36)}, {"v", kindF32, 0, 3, make([]byte, 12)}}
	f.Add(w.bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := parseGGUF(b)
		if err != nil {
			return
		}
		for name, tt := range g.tensors {
			if len(tt.raw) != tt.rows*tt.rowBytes() || tt.rows < 1 || tt.cols < 1 {
				t.Errorf("%s: %d x %d in %d bytes", name, tt.rows, tt.cols, len(tt.raw))
			}
			tt.row(tt.rows-1, make([]float32, tt.cols))
		}
	})
}
