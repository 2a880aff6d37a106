package tinyengine

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// ggufWriter builds a GGUF file for tests.
type ggufWriter struct {
	meta    []byte
	pairs   uint64
	tensors []rawTensor
}

type rawTensor struct {
	name string
	kind blockKind
	rows int
	cols int
	data []byte
}

func appendStr(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

func (w *ggufWriter) key(k string, kind uint32) {
	w.pairs++
	w.meta = binary.LittleEndian.AppendUint32(appendStr(w.meta, k), kind)
}

func (w *ggufWriter) str(k, v string) {
	w.key(k, ggufString)
	w.meta = appendStr(w.meta, v)
}

func (w *ggufWriter) u32(k string, v uint32) {
	w.key(k, ggufU32)
	w.meta = binary.LittleEndian.AppendUint32(w.meta, v)
}

func (w *ggufWriter) f32(k string, v float32) {
	w.key(k, ggufF32)
	w.meta = binary.LittleEndian.AppendUint32(w.meta, math.Float32bits(v))
}

func (w *ggufWriter) strings(k string, v []string) {
	w.key(k, ggufArray)
	w.meta = binary.LittleEndian.AppendUint32(w.meta, ggufString)
	w.meta = binary.LittleEndian.AppendUint64(w.meta, uint64(len(v)))
	for _, s := range v {
		w.meta = appendStr(w.meta, s)
	}
}

func (w *ggufWriter) ints(k string, v []int32) {
	w.key(k, ggufArray)
	w.meta = binary.LittleEndian.AppendUint32(w.meta, ggufI32)
	w.meta = binary.LittleEndian.AppendUint64(w.meta, uint64(len(v)))
	for _, n := range v {
		w.meta = binary.LittleEndian.AppendUint32(w.meta, uint32(n))
	}
}

func (w *ggufWriter) bytes() []byte {
	b := binary.LittleEndian.AppendUint32([]byte("GGUF"), 3)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(w.tensors)))
	b = binary.LittleEndian.AppendUint64(b, w.pairs)
	b = append(b, w.meta...)
	pad := func(b []byte) []byte { return append(b, make([]byte, (32-len(b)%32)%32)...) }
	var data []byte
	for _, t := range w.tensors {
		b = appendStr(b, t.name)
		if t.rows == 0 { // a vector
			b = binary.LittleEndian.AppendUint32(b, 1)
			b = binary.LittleEndian.AppendUint64(b, uint64(t.cols))
		} else {
			b = binary.LittleEndian.AppendUint32(b, 2)
			b = binary.LittleEndian.AppendUint64(b, uint64(t.cols))
			b = binary.LittleEndian.AppendUint64(b, uint64(t.rows))
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(t.kind))
		b = binary.LittleEndian.AppendUint64(b, uint64(len(data)))
		data = pad(append(data, t.data...))
	}
	return append(pad(b), data...)
}

// randomBlocks are rows of a tensor with random contents of about the given
// magnitude.
func randomBlocks(r *rand.Rand, kind blockKind, rows, cols int, size float64) []byte {
	var b []byte
	half := func(v float64) { b = binary.LittleEndian.AppendUint16(b, halfBits(float32(v))) }
	noise := func(n int) {
		for range n {
			b = append(b, byte(r.Uint32()))
		}
	}
	f := blockFormats[kind]
	for range rows * cols / f.values {
		switch kind {
		case kindF32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(r.NormFloat64()*size)))
		case kindF16:
			half(r.NormFloat64() * size)
		case kindQ8_0:
			half(size / 74 * (0.5 + r.Float64()))
			noise(32)
		case kindQ4_0:
			half(size / 4.6 * (0.5 + r.Float64()))
			noise(16)
		case kindQ2_K:
			noise(80)
			half(size / 8 * (0.5 + r.Float64()))
			half(size / 6 * (0.5 + r.Float64()))
		}
	}
	return b
}

// halfBits is an encoder for tests: v must be a normal or zero half's
// neighbourhood; it rounds through roundHalf.
func halfBits(v float32) uint16 {
	b := math.Float32bits(roundHalf(v))
	if b<<1 == 0 || v != v {
		return uint16(b >> 16 & 0x8000)
	}
	exp := int(b>>23&0xff) - 112
	if exp <= 0 {
		return uint16(b>>16&0x8000) | uint16(math.Abs(float64(roundHalf(v)))*0x1p24)
	}
	return uint16(b>>16&0x8000) | uint16(exp)<<10 | uint16(b>>13&0x3ff)
}

// microShape is the shape of a micro model.
type microShape struct{ width, hidden, layers, heads, kv, dim, context int }

// microOf is a shape whose rows are whole blocks of kind. Except for Q2_K,
// whose rows are whole super blocks, heads times head size differ from the width.
func microOf(kind blockKind) microShape {
	s := microShape{256, 512, 2, 6, 2, 32, 64}
	if kind == kindQ2_K {
		s.heads = 8
	}
	return s
}

func micro(kind blockKind) []byte { return microOf(kind).file(kind) }

// file is a random model whose matrices have one type.
func (s microShape) file(kind blockKind) []byte {
	r := rand.New(rand.NewPCG(uint64(kind), 7))
	w := &ggufWriter{}
	w.str("general.architecture", "llama")
	for _, v := range []struct {
		key string
		n   int
	}{
		{"embedding_length", s.width}, {"block_count", s.layers}, {"feed_forward_length", s.hidden},
		{"attention.head_count", s.heads}, {"attention.head_count_kv", s.kv}, {"context_length", s.context},
		{"attention.key_length", s.dim},
	} {
		w.u32("llama."+v.key, uint32(v.n))
	}
	w.f32("llama.attention.layer_norm_rms_epsilon", 1e-5)
	w.f32("llama.rope.freq_base", 10000)
	s.addTensors(w, r, kind, microTokens(w))
	return w.bytes()
}

func microTokens(w *ggufWriter) int {
	tokens := []string{"<|pad|>", "<|bos|>", tagEnd, "<|user|>", "<|assistant|>", "<|system|>", "<|tool|>"}
	types := make([]int32, len(tokens))
	for i := range types {
		types[i] = 3
	}
	alphabet := map[byte]string{}
	for r, b := range byteOfRune {
		alphabet[b] = string(r)
	}
	for b := range 256 {
		tokens, types = append(tokens, alphabet[byte(b)]), append(types, tokenNormal)
	}
	for _, s := range []string{"ab", "abc", "Ġa"} {
		tokens, types = append(tokens, s), append(types, tokenNormal)
	}
	w.str("tokenizer.ggml.model", "gpt2")
	w.str("tokenizer.ggml.pre", "llama-bpe")
	w.strings("tokenizer.ggml.tokens", tokens)
	w.ints("tokenizer.ggml.token_type", types)
	w.strings("tokenizer.ggml.merges", []string{"a b", "ab c", "Ġ a"})
	w.u32("tokenizer.ggml.bos_token_id", 1)
	w.u32("tokenizer.ggml.eos_token_id", 2)
	return len(tokens)
}

func (s microShape) addTensors(w *ggufWriter, r *rand.Rand, kind blockKind, vocab int) {
	mat := func(name string, rows, cols int) {
		size := 1.2 / math.Sqrt(float64(cols))
		w.tensors = append(w.tensors, rawTensor{name, kind, rows, cols, randomBlocks(r, kind, rows, cols, size)})
	}
	vec := func(name string, n int) {
		var b []byte
		for range n {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(1+0.2*r.NormFloat64())))
		}
		w.tensors = append(w.tensors, rawTensor{name, kindF32, 0, n, b})
	}
	mat("token_embd.weight", vocab, s.width)
	vec("output_norm.weight", s.width)
	for l := range s.layers {
		p := fmt.Sprintf("blk.%d.", l)
		vec(p+"attn_norm.weight", s.width)
		vec(p+"ffn_norm.weight", s.width)
		mat(p+"attn_q.weight", s.heads*s.dim, s.width)
		mat(p+"attn_k.weight", s.kv*s.dim, s.width)
		mat(p+"attn_v.weight", s.kv*s.dim, s.width)
		mat(p+"attn_output.weight", s.width, s.heads*s.dim)
		mat(p+"ffn_gate.weight", s.hidden, s.width)
		mat(p+"ffn_up.weight", s.hidden, s.width)
		mat(p+"ffn_down.weight", s.width, s.hidden)
	}
}

func loadMicro(t testing.TB, kind blockKind) *Model {
	t.Helper()
	m, err := Load("micro-"+blockFormats[kind].label, micro(kind))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var allKinds = []blockKind{kindF32, kindF16, kindQ8_0, kindQ4_0, kindQ2_K}
