package prompts

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// captureLimit is how many characters of an answer are looked at.
const captureLimit = 8192

// anvilWord is the word that anvil/n asks for.
const anvilWord = "code"

var (
	markers      = regexp.MustCompile(`REQ-[0-9]{4,}\b`)
	anvilMarkers = regexp.MustCompile(`ANVIL_REQ_-?[0-9]+_[0-9]{5}`)
)

// Canary tells whether an answer belongs to its request: it begins with the
// request's marker as a word of its own, and holds no other's. An answer that
// was not looked at to its end does not pass. Nil if the text names no marker;
// whether the workload asks for canaries is for the caller to know.
func Canary(text string, p Prompt) *evidence.Canary {
	if p.Marker == "" {
		return nil
	}
	text, whole := capture(text)
	_, at := afterMarker(text, p)
	c := &evidence.Canary{Marker: p.Marker, AtStart: at}
	for _, m := range markersIn(text, p) {
		if m != p.Marker {
			c.Foreign++
		}
	}
	c.Passed = c.AtStart && c.Foreign == 0 && whole
	return c
}

// Output counts the words that were asked for and the others. The contract is
// about length, and so about work: whether the copy is right is for a quality
// workload to say. policy is strict or observe; observe always passes. Nil if
// no words were asked for.
func Output(text string, p Prompt, policy string) *evidence.Output {
	if len(p.Words) == 0 {
		return nil
	}
	text, whole := capture(text)
	o := &evidence.Output{Policy: policy, Asked: len(p.Words)}
	if isAnvil(p) {
		body, _ := afterMarker(text, p)
		countCode(o, body)
	} else {
		countAsked(o, strings.TrimPrefix(text, p.Marker), p.Words)
	}
	o.Passed = policy != "strict" || whole && o.Got == o.Asked && o.Extra == 0
	return o
}

// countAsked counts each asked-for word once, in any order.
func countAsked(o *evidence.Output, body string, asked []string) {
	left := make(map[string]int, len(codeWords))
	for _, w := range asked {
		left[w]++
	}
	for _, w := range strings.Fields(body) {
		if left[w] > 0 {
			left[w]--
			o.Got++
			continue
		}
		o.Extra++
	}
}

// countCode counts every repetition of the one word, those past the number
// asked for included.
func countCode(o *evidence.Output, body string) {
	for _, w := range strings.FieldsFunc(body, pythonSpace) {
		if w == anvilWord {
			o.Got++
			continue
		}
		o.Extra++
	}
}

func isAnvil(p Prompt) bool { return p.Builder == AnvilS || p.Builder == AnvilN }

// afterMarker returns what follows the marker, if the text begins with it as a
// word of its own, and else the text.
func afterMarker(text string, p Prompt) (string, bool) {
	space := unicode.IsSpace
	if isAnvil(p) {
		space = pythonSpace
	}
	rest, ok := strings.CutPrefix(text, p.Marker)
	if !ok || p.Marker == "" {
		return text, false
	}
	if next, _ := utf8.DecodeRuneInString(rest); rest != "" && !space(next) {
		return text, false
	}
	return rest, true
}

func markersIn(text string, p Prompt) []string {
	if !isAnvil(p) {
		return markers.FindAllString(text, -1)
	}
	var out []string
	for _, at := range anvilMarkers.FindAllStringIndex(text, -1) {
		// The tool's \b knows all of Unicode, Go's knows ASCII.
		if next, _ := utf8.DecodeRuneInString(text[at[1]:]); at[1] == len(text) || !wordRune(next) {
			out = append(out, text[at[0]:at[1]])
		}
	}
	return out
}

func wordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r)
}

// pythonSpace is Python's str.isspace of one character, which knows four
// separators more than Unicode's White_Space.
func pythonSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

// capture returns the part of an answer that is looked at, and whether that is
// all of it.
func capture(text string) (string, bool) {
	if len(text) <= captureLimit {
		return text, true
	}
	short := clip(text, captureLimit)
	return short, len(short) == len(text)
}

// clip keeps at most n characters.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
