package tinyengine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// tokenType values of GGUF: 1 is normal text, 3 and 4 are control and user
// defined tokens, which text never becomes.
const tokenNormal = 1

// tokenizer is byte-level BPE with the llama-bpe pre-tokeniser.
type tokenizer struct {
	bytes   []string         // id -> the bytes it stands for
	control []bool           // id -> not text
	ids     map[string]int32 // bytes -> id, text only
	special map[string]int32 // "<|end|>" -> id, control only
	single  [256]int32       // byte -> id
	merges  map[pair]merge
	longest int // bytes of the longest text token
	bos     int32
	eos     int32
	addBOS  bool
	digest  string
}

type pair struct{ left, right int32 }

type merge struct {
	rank int
	id   int32
}

func newTokenizer(f *ggufFile) (*tokenizer, error) {
	for key, want := range map[string]string{"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "llama-bpe"} {
		if v := f.meta[key]; v != want {
			return nil, fmt.Errorf("%w: %s is %v, this engine reads %q", errGGUF, key, v, want)
		}
	}
	tokens, _ := f.meta["tokenizer.ggml.tokens"].([]string)
	types, _ := f.meta["tokenizer.ggml.token_type"].([]int64)
	merges, _ := f.meta["tokenizer.ggml.merges"].([]string)
	if len(tokens) == 0 || len(types) != len(tokens) {
		return nil, fmt.Errorf("%w: %d tokens with %d types", errGGUF, len(tokens), len(types))
	}
	t := &tokenizer{ids: map[string]int32{}, special: map[string]int32{}, merges: map[pair]merge{}}
	if err := t.addTokens(tokens, types); err != nil {
		return nil, err
	}
	if err := t.addMerges(merges); err != nil {
		return nil, err
	}
	if err := t.addRoles(f); err != nil {
		return nil, err
	}
	t.digest = tokenizerDigest(tokens, types, merges)
	return t, nil
}

func (t *tokenizer) addTokens(tokens []string, types []int64) error {
	for i, s := range tokens {
		id := int32(i)
		text := types[i] == tokenNormal
		raw, into := s, t.special
		if text {
			into = t.ids
			var ok bool
			if raw, ok = bytesOfToken(s); !ok {
				return fmt.Errorf("%w: token %d, %q, is not in the byte alphabet", errGGUF, i, s)
			}
			t.longest = max(t.longest, len(raw))
		}
		if _, dup := into[raw]; dup || raw == "" {
			return fmt.Errorf("%w: token %d, %q, is empty or occurs twice", errGGUF, i, s)
		}
		into[raw] = id
		t.bytes = append(t.bytes, raw)
		t.control = append(t.control, !text)
	}
	for b := range t.single {
		id, ok := t.ids[string([]byte{byte(b)})]
		if !ok {
			return fmt.Errorf("%w: no token for byte %#02x", errGGUF, b)
		}
		t.single[b] = id
	}
	return nil
}

func (t *tokenizer) addMerges(merges []string) error {
	for rank, m := range merges {
		left, right, ok := strings.Cut(m, " ")
		l, okL := bytesOfToken(left)
		r, okR := bytesOfToken(right)
		idL, haveL := t.ids[l]
		idR, haveR := t.ids[r]
		id, have := t.ids[l+r]
		if !ok || !okL || !okR || !haveL || !haveR || !have {
			return fmt.Errorf("%w: merge %d, %q, does not join two tokens to a third", errGGUF, rank, m)
		}
		p := pair{idL, idR}
		if _, dup := t.merges[p]; !dup {
			t.merges[p] = merge{rank, id}
		}
	}
	return nil
}

// addRoles looks up what the chat format needs.
func (t *tokenizer) addRoles(f *ggufFile) error {
	for _, s := range []string{tagEnd, tagOf("user"), tagOf("assistant"), tagOf("system"), tagOf("tool")} {
		if _, ok := t.special[s]; !ok {
			return fmt.Errorf("%w: control token %q of the chat format is missing", errGGUF, s)
		}
	}
	bos, okB := f.meta["tokenizer.ggml.bos_token_id"].(uint64)
	eos, okE := f.meta["tokenizer.ggml.eos_token_id"].(uint64)
	n := uint64(len(t.bytes))
	if !okB || !okE || bos >= n || eos >= n {
		return fmt.Errorf("%w: bos %v and eos %v, want ids below %d", errGGUF, f.meta["tokenizer.ggml.bos_token_id"], f.meta["tokenizer.ggml.eos_token_id"], n)
	}
	t.bos, t.eos = int32(bos), int32(eos)
	add, stated := f.meta["tokenizer.ggml.add_bos_token"].(bool)
	t.addBOS = add || !stated
	return nil
}

// appendText appends the ids of s. Text is text: a user who types "<|end|>"
// gets seven characters, not the control token. Ollama and llama.cpp's server
// differ here: they tokenise the rendered prompt as a whole with special tokens
// parsed, so there a message can close its own turn.
func (t *tokenizer) appendText(ids []int32, s string) []int32 {
	for len(s) > 0 {
		n := nextPiece(s)
		ids = t.appendPiece(ids, s[:n])
		s = s[n:]
	}
	return ids
}

// appendPiece takes a piece that is a token whole, without asking the merges,
// as the llama-bpe pre-tokeniser is defined; else it merges.
func (t *tokenizer) appendPiece(ids []int32, piece string) []int32 {
	if id, ok := t.ids[piece]; ok {
		return append(ids, id)
	}
	return t.mergeBytes(ids, piece)
}

// text appends the bytes of id to dst. A control token that the model produces
// is shown by its name, as Ollama does.
func (t *tokenizer) text(dst []byte, id int32) []byte { return append(dst, t.bytes[id]...) }

// bytesOfToken undoes the byte alphabet of GPT-2, in which every byte is a
// printable rune.
func bytesOfToken(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		b, ok := byteOfRune[r]
		if !ok {
			return "", false
		}
		out = append(out, b)
	}
	return string(out), true
}

// byteOfRune: printable Latin-1 stands for itself, the other 68 bytes follow
// from U+0100 on in order.
var byteOfRune = func() map[rune]byte {
	m := map[rune]byte{}
	next := rune(0x100)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			m[b] = byte(b)
			continue
		}
		m[next] = byte(b)
		next++
	}
	return m
}()

// tokenizerDigest hashes what decides the ids of a text: tokens, their types
// and the merges, each with its length in front.
func tokenizerDigest(tokens []string, types []int64, merges []string) string {
	h := sha256.New()
	num := func(n int64) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
	list := func(ss []string) {
		num(int64(len(ss)))
		for _, s := range ss {
			num(int64(len(s)))
			h.Write([]byte(s))
		}
	}
	list(tokens)
	for _, t := range types {
		num(t)
	}
	list(merges)
	return hex.EncodeToString(h.Sum(nil))
}
