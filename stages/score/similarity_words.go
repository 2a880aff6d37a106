package score

import (
	"strings"
	"unicode"
)

// tokenF1 is 2PR/(P+R) over the words of both texts as multisets: P is the
// share of the answer's words that the reference has, R the share of the
// reference's words that the answer has. Words are compared without case,
// punctuation and articles, as SQuAD (Rajpurkar et al. 2016) does, except that
// 3.14 stays a number, and that in scripts without spaces each character is a
// word.
func tokenF1(got, want string) float64 {
	a, b := words(got), words(want)
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	left := map[string]int{}
	for _, w := range b {
		left[w]++
	}
	shared := 0
	for _, w := range a {
		if left[w] > 0 {
			left[w]--
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}

func words(s string) []string {
	var out []string
	for _, field := range strings.Fields(stripArticles(stripPunctuation(fold(s)))) {
		start := 0
		for i, r := range field {
			if !unicode.IsLetter(r) || isWord(r) {
				continue
			}
			if start < i {
				out = append(out, field[start:i])
			}
			start = i + len(string(r))
			out = append(out, field[i:start])
		}
		if start < len(field) {
			out = append(out, field[start:])
		}
	}
	return out
}
