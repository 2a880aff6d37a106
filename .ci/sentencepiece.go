//go:build ignore

// Command sentencepiece writes a GGUF file of the tiny models again with its
// byte-pair tokenizer described as a SentencePiece one, as those of Llama 2,
// Mistral and Gemma are: the same weights, the same tokens. Ollama's two engine
// paths read such a file differently (one puts a space before a text, the other
// does not) and say the same of it; the byte-pair one they read alike.
//
//	go run .ci/sentencepiece.go tiny-f16.gguf tiny-spm.gguf
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"unicode/utf8"
)

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("usage: sentencepiece IN.gguf OUT.gguf"))
	}
	in, err := os.ReadFile(os.Args[1])
	fail(err)
	out, err := convert(in)
	fail(err)
	fail(os.WriteFile(os.Args[2], out, 0o644))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "sentencepiece:", err)
		os.Exit(1)
	}
}

// Types of GGUF values, and of tokens.
const (
	tFloat, tBool, tString, tArray = 6, 7, 8, 9
	tInt                           = 5
	normal, control, byteToken     = 1, 3, 6
	align                          = 32
)

var sizes = map[uint32]int{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, tFloat: 4, tBool: 1, 10: 8, 11: 8, 12: 8}

// reader walks over a file; going past its end is a bug of the file.
type reader struct {
	b  []byte
	at int
}

func (r *reader) take(n int) []byte { r.at += n; return r.b[r.at-n : r.at] }
func (r *reader) u32() uint32       { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) u64() int          { return int(binary.LittleEndian.Uint64(r.take(8))) }
func (r *reader) text() string      { return string(r.take(r.u64())) }
func (r *reader) value(kind uint32) {
	switch kind {
	case tString:
		r.text()
	case tArray:
		of, n := r.u32(), r.u64()
		for range n {
			r.value(of)
		}
	default:
		r.take(sizes[kind])
	}
}

func convert(in []byte) ([]byte, error) {
	r := &reader{b: in}
	if string(r.take(4)) != "GGUF" || r.u32() != 3 {
		return nil, errors.New("this is no GGUF file of version 3")
	}
	tensors, values := r.u64(), r.u64()
	var kept bytes.Buffer
	count := 0
	var tokens []string
	for range values {
		from := r.at
		key := r.text()
		kind := r.u32()
		start := r.at
		r.value(kind)
		switch key {
		case "tokenizer.ggml.tokens":
			list := &reader{b: in, at: start + 4}
			for range list.u64() {
				tokens = append(tokens, list.text())
			}
		case "tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.ggml.merges", "tokenizer.ggml.token_type", "tokenizer.ggml.scores":
		default:
			kept.Write(in[from:r.at])
			count++
		}
	}
	info := r.at
	for range tensors {
		r.text()
		r.take(8*int(r.u32()) + 4 + 8)
	}
	infoEnd := r.at
	data := (infoEnd + align - 1) / align * align

	texts, scores, types := pieces(tokens)
	var out bytes.Buffer
	put := func(v any) { _ = binary.Write(&out, binary.LittleEndian, v) }
	str := func(s string) { put(uint64(len(s))); out.WriteString(s) }
	out.WriteString("GGUF")
	put(uint32(3))
	put(uint64(tensors))
	put(uint64(count + 4))
	out.Write(kept.Bytes())
	str("tokenizer.ggml.model")
	put(uint32(tString))
	str("llama")
	str("tokenizer.ggml.tokens")
	put(uint32(tArray))
	put(uint32(tString))
	put(uint64(len(texts)))
	for _, t := range texts {
		str(t)
	}
	str("tokenizer.ggml.scores")
	put(uint32(tArray))
	put(uint32(tFloat))
	put(uint64(len(scores)))
	put(scores)
	str("tokenizer.ggml.token_type")
	put(uint32(tArray))
	put(uint32(tInt))
	put(uint64(len(types)))
	put(types)
	out.Write(in[info:infoEnd])
	out.Write(make([]byte, (align-out.Len()%align)%align))
	out.Write(in[data:])
	return out.Bytes(), nil
}

// pieces rewrites tokens of a byte-level vocabulary: a token that is text
// becomes that text, a space as U+2581, and any other byte becomes <0xNN>. A
// merge that was learned earlier has the higher score.
func pieces(tokens []string) (texts []string, scores []float32, types []int32) {
	bytesOf := byteLevel()
	for i, t := range tokens {
		kind, score, text := int32(normal), -float32(i), t
		raw, ok := decode(t, bytesOf)
		switch {
		case strings.HasPrefix(t, "<|"):
			kind, score = control, 0
		case ok && (utf8.Valid(raw) && (len(raw) > 1 || raw[0] >= ' ' && raw[0] < 0x7f)):
			text = strings.ReplaceAll(string(raw), " ", "\u2581")
		case ok && len(raw) == 1:
			kind, score, text = byteToken, 0, fmt.Sprintf("<0x%02X>", raw[0])
		default:
			text = fmt.Sprintf("<unused-%d>", i) // a merge that ends inside a character
			score = -math.MaxFloat32
		}
		texts, scores, types = append(texts, text), append(scores, score), append(types, kind)
	}
	return texts, scores, types
}

func decode(t string, bytesOf map[rune]byte) (raw []byte, ok bool) {
	for _, r := range t {
		b, known := bytesOf[r]
		if !known {
			return nil, false
		}
		raw = append(raw, b)
	}
	return raw, len(raw) > 0
}

// byteLevel is GPT-2's table from printable characters to bytes.
func byteLevel() map[rune]byte {
	out := map[rune]byte{}
	next := rune(256)
	for b := range 256 {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			out[rune(b)] = byte(b)
			continue
		}
		out[next] = byte(b)
		next++
	}
	return out
}
