package tinyengine

import (
	"strings"
	"unicode/utf8"
)

// holdback turns the bytes of tokens into text that can be shown: it keeps an
// incomplete UTF-8 sequence until the rest arrives and a tail that may be the
// start of a stop string until that is decided.
type holdback struct {
	stop    []string
	pending []byte
}

// add takes the bytes of one token and returns the text that is now certain;
// stopped says that a stop string was completed, which ends the text before it.
func (h *holdback) add(raw []byte) (text string, stopped bool) {
	h.pending = append(h.pending, raw...)
	if at := h.findStop(); at >= 0 {
		text = valid(h.pending[:at])
		h.pending = nil
		return text, true
	}
	show := h.earliestStart(completeUTF8(h.pending))
	text = valid(h.pending[:show])
	h.pending = append(h.pending[:0], h.pending[show:]...)
	return text, false
}

// findStop is the first place where a stop string begins, or -1.
func (h *holdback) findStop() int {
	first := -1
	for _, s := range h.stop {
		if at := strings.Index(string(h.pending), s); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// earliestStart is the first place below limit from which the rest of the
// pending bytes is the beginning of a stop string.
func (h *holdback) earliestStart(limit int) int {
	for at := range limit {
		if h.mayStop(h.pending[at:]) {
			return at
		}
	}
	return limit
}

func (h *holdback) mayStop(tail []byte) bool {
	for _, s := range h.stop {
		if strings.HasPrefix(s, string(tail)) {
			return true
		}
	}
	return false
}

// rest is what is left when generation ends. An incomplete rune is dropped, as
// Ollama does; the usage still counts its tokens.
func (h *holdback) rest() string { return valid(h.pending[:completeUTF8(h.pending)]) }

// completeUTF8 is the length of b without an incomplete rune at its end.
func completeUTF8(b []byte) int {
	for back := 1; back <= min(utf8.UTFMax-1, len(b)); back++ {
		c := b[len(b)-back]
		if !utf8.RuneStart(c) {
			continue
		}
		if !utf8.FullRune(b[len(b)-back:]) {
			return len(b) - back
		}
		break
	}
	return len(b)
}

func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
