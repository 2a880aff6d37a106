package measure

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// captureLimit is how many characters of an answer are looked at.
const captureLimit = 8192

var markers = regexp.MustCompile(`REQ-[0-9]{4,}\b`)

// capture returns the part of an answer that is looked at, and whether that is
// all of it.
func capture(text string) (string, bool) {
	if len(text) <= captureLimit {
		return text, true
	}
	n := 0
	for i := range text {
		if n == captureLimit {
			return text[:i], false
		}
		n++
	}
	return text, true
}

// checkCanary tells whether an answer belongs to its request: it begins with
// the request's marker as a word of its own, and holds no other's.
func checkCanary(text, marker string) *evidence.Canary {
	text, whole := capture(text)
	c := &evidence.Canary{Marker: marker}
	if rest, ok := strings.CutPrefix(text, marker); ok {
		next, _ := utf8.DecodeRuneInString(rest)
		c.AtStart = rest == "" || unicode.IsSpace(next)
	}
	for _, m := range markers.FindAllString(text, -1) {
		if m != marker {
			c.Foreign++
		}
	}
	c.Passed = c.AtStart && c.Foreign == 0 && whole
	return c
}

// checkOutput counts the words that were asked for, in any order, and the
// others. The contract is about length, and so about work: whether the copy is
// right is for a quality workload to say.
func checkOutput(text, marker string, asked []string, policy string) *evidence.Output {
	text, whole := capture(text)
	o := &evidence.Output{Policy: policy, Asked: len(asked)}
	left := make(map[string]int, len(asked))
	for _, w := range asked {
		left[w]++
	}
	for _, w := range strings.Fields(strings.TrimPrefix(text, marker)) {
		if left[w] > 0 {
			left[w]--
			o.Got++
			continue
		}
		o.Extra++
	}
	o.Passed = policy != "strict" || whole && o.Got == o.Asked && o.Extra == 0
	return o
}
