package scrub

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortestMention is how long a value must be for its bare mentions to be
// replaced: shorter ones are words and numbers of their own.
const shortestMention = 6

// rememberMentions prepares a second pass over an item. Some values are known by
// what stands beside them ("phone: 520-4528") and are personal data wherever else
// the item mentions them, in its reference above all. It reports whether there
// are any.
func (n *Session) rememberMentions() bool {
	for _, v := range slices.Sorted(maps.Keys(n.seen)) {
		if len(v) >= shortestMention {
			n.mentions = append(n.mentions, v)
		}
	}
	slices.SortStableFunc(n.mentions, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return len(n.mentions) > 0
}

// mentioned finds remembered values that stand for themselves in a text.
func (n *Session) mentioned(text string) (found []span) {
	for _, v := range n.mentions {
		var here []span
		for from := 0; ; {
			i := strings.Index(text[from:], v)
			if i < 0 {
				break
			}
			lo := from + i
			hi := lo + len(v)
			from = hi
			if !wordBefore(text[:lo]) && !wordAfter(text[hi:]) {
				of := n.seen[v]
				here = append(here, span{lo: lo, hi: hi, rule: of.rule, kind: of.kind, norm: of.norm})
			}
		}
		found = merge(found, here)
	}
	return found
}

func wordBefore(s string) bool { r, _ := utf8.DecodeLastRuneInString(s); return isWordRune(r) }
func wordAfter(s string) bool  { r, _ := utf8.DecodeRuneInString(s); return isWordRune(r) }

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}
