package prompts

import (
	"strings"
	"unicode"
)

// Why an answer is degenerate.
const (
	DegenerateEmpty = "empty"               // no visible character
	DegenerateWords = "repeated-words"      // one trigram of words is over 30 % of all
	DegenerateFew   = "few-words"           // under 15 % of the words differ
	DegenerateChars = "repeated-characters" // the same of characters, in a text without spaces
)

const (
	trigramShare  = 0.30 // of all trigrams, above which one dominates
	distinctWords = 0.15 // distinct words / words, below which they loop
	distinctChars = 0.05 // distinct trigrams of characters / trigrams
	leastWords    = 20   // fewer say nothing
	leastChars    = 60
	longWord      = 15 // characters per word above which a text has no spaces
)

// Degenerate returns why an answer is no answer but a loop, "" = it is none. A
// text without spaces, as Chinese and Japanese are written, is looked at by its
// characters. Answers that were asked for repeated words, as controlled output
// is, are not to be asked about. Only the first 8,192 characters count.
func Degenerate(text string) string {
	text, _ = capture(text)
	words := strings.Fields(text)
	chars := make([]rune, 0, len(text))
	for _, r := range text {
		if !unicode.IsSpace(r) {
			chars = append(chars, unicode.ToLower(r))
		}
	}
	switch {
	case len(chars) == 0:
		return DegenerateEmpty
	case len(chars) > longWord*len(words):
		return loopOfChars(chars)
	case len(words) < leastWords:
		return ""
	}
	return loopOfWords(words)
}

func loopOfWords(words []string) string {
	distinct := make(map[string]struct{}, len(words))
	for i, w := range words {
		words[i] = strings.ToLower(w)
		distinct[words[i]] = struct{}{}
	}
	if share, _ := trigrams(words); share > trigramShare {
		return DegenerateWords
	}
	if float64(len(distinct)) < distinctWords*float64(len(words)) {
		return DegenerateFew
	}
	return ""
}

func loopOfChars(chars []rune) string {
	if len(chars) < leastChars {
		return ""
	}
	if share, distinct := trigrams(chars); share > trigramShare || distinct < distinctChars {
		return DegenerateChars
	}
	return ""
}

// trigrams returns the share of the most frequent one and of the distinct ones
// among all. There must be three units.
func trigrams[T comparable](units []T) (top, distinct float64) {
	seen, most := make(map[[3]T]int, len(units)), 0
	for i := range len(units) - 2 {
		t := [3]T(units[i : i+3])
		seen[t]++
		most = max(most, seen[t])
	}
	all := float64(len(units) - 2)
	return float64(most) / all, float64(len(seen)) / all
}
