package prompts

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// codeWords are short, common and unlike one another. No model's tokenizer was
// looked at for the protocol; token counts are the engine's own.
var codeWords = strings.Fields(`
alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa
quebec romeo sierra tango uniform victor whiskey xray yankee zulu amber basil cedar denim ember flint
garnet hazel indigo jasper kelp lilac maple nickel olive pearl quartz raven saffron tulip umber velvet
walnut yarrow zinc basalt copper dune fern granite harbor ivory jade lotus mango nectar onyx plum`)

// lines are what filler is made of: ten words each, which a model can neither
// continue nor answer.
var lines = makeLines(512)

func makeLines(n int) []string {
	rng := rand.New(rand.NewPCG(1, 1))
	out := make([]string, n)
	for i := range out {
		out[i] = strings.Join(draw(rng, 10), " ") + ".\n"
	}
	return out
}

// draw returns n code words; none comes twice before all have come.
func draw(rng *rand.Rand, n int) []string {
	out := make([]string, 0, n)
	for len(out) < n {
		deck := slices.Clone(codeWords)
		rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		out = append(out, deck[:min(len(deck), n-len(out))]...)
	}
	return out
}

// random returns a source that depends on nothing but the key.
func random(key string) *rand.Rand {
	sum := sha256.Sum256([]byte(key))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}

// key names what a prompt belongs to. Every part is quoted, so that no two
// lists of parts have the same key.
func key(parts ...any) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%q\n", fmt.Sprint(p))
	}
	return b.String()
}

// nonce begins a prompt that is to share no prefix with any other: with 64
// random bits at its head, two prompts part within the first cache block.
func nonce(rng *rand.Rand) string { return fmt.Sprintf("%016x\n", rng.Uint64()) }

const nonceSize = 17

// appendFiller appends at most n bytes of filler, ending after a word. Lines
// come in random order, so that an engine that reuses chunks from the middle
// of earlier prompts finds none that is long.
func appendFiller(dst []byte, rng *rand.Rand, n int) []byte {
	if n <= 0 {
		return dst
	}
	from := len(dst)
	for len(dst)-from < n {
		dst = append(dst, lines[rng.IntN(len(lines))]...)
	}
	if len(dst)-from == n {
		return dst
	}
	return dst[:from+bytes.LastIndexAny(dst[from:from+n], " \n")+1]
}

// cut keeps at most n bytes of ASCII text, ending after a word.
func cut(text string, n int) string {
	if n <= 0 {
		return ""
	}
	if n >= len(text) {
		return text
	}
	return text[:strings.LastIndexAny(text[:n], " \n")+1]
}

// countWords is len(strings.Fields(text)) without the fields: prompts are long
// and nearly all of them ASCII.
func countWords(text string) (n int) {
	for inside := false; text != ""; {
		r, size := rune(text[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text)
		}
		space := r == ' ' || '\t' <= r && r <= '\r' || r >= utf8.RuneSelf && unicode.IsSpace(r)
		if !space && !inside {
			n++
		}
		inside, text = !space, text[size:]
	}
	return n
}
