package score

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxStarts bounds how many places of a text are tried as the start of a value.
const maxStarts = 64

// readJSON is parseJSON; with extract, a text that is not JSON is searched for
// it: first its fenced blocks, the last one that is JSON counts, then the first
// object or array that stands in the prose.
func readJSON(text string, extract bool) (any, error) {
	v, err := parseJSON(text)
	if err == nil || !extract {
		return v, err
	}
	for _, block := range fenced(text) {
		if v, err := parseJSON(block); err == nil {
			return v, nil
		}
	}
	if value, ok := embedded(text); ok {
		return parseJSON(value)
	}
	return nil, err
}

// fenced returns the contents of the code fences of a text, last first.
func fenced(text string) []string {
	var blocks []string
	for {
		_, rest, ok := strings.Cut(text, "```")
		if !ok {
			return blocks
		}
		block, after, ok := strings.Cut(rest, "```")
		if !ok {
			return blocks
		}
		if first, body, ok := strings.Cut(block, "\n"); ok && !strings.ContainsAny(first, "{}[]\"") {
			block = body // without the language
		}
		blocks = append([]string{block}, blocks...)
		text = after
	}
}

// embedded returns the first object or array in a text.
func embedded(text string) (string, bool) {
	rest := text
	for range maxStarts {
		i := strings.IndexAny(rest, "{[")
		if i < 0 {
			return "", false
		}
		rest = rest[i:]
		dec := jsontext.NewDecoder(strings.NewReader(rest))
		if v, err := dec.ReadValue(); err == nil {
			return string(v), true
		}
		rest = rest[1:]
	}
	return "", false
}
