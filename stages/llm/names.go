package llm

import (
	"fmt"
	"strings"
)

// sameName compares two model names. Ollama's name and name:latest are one.
func sameName(a, b string) bool {
	return a == b || strings.TrimSuffix(a, ":latest") == strings.TrimSuffix(b, ":latest")
}

// findName returns the position of the model called want: by its exact name
// first, so that "m" and "m:latest" may both be listed.
func findName(listed []string, want string) int {
	for i, name := range listed {
		if name == want {
			return i
		}
	}
	for i, name := range listed {
		if sameName(name, want) {
			return i
		}
	}
	return -1
}

// listing names up to ten models for a message.
func listing(names []string) string {
	const most = 10
	var quoted []string
	for _, n := range names[:min(len(names), most)] {
		quoted = append(quoted, fmt.Sprintf("%q", escape(n, 200)))
	}
	out := strings.Join(quoted, ", ")
	if len(names) > most {
		out += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return out
}

// nearest returns the listed name that want was most likely meant to be, "" if
// none is near: one that differs in case or in its directory, or by few edits.
func nearest(listed []string, want string) string {
	best, at := "", 1+max(2, len(want)/4)
	for _, name := range listed[:min(len(listed), 1000)] {
		d := at
		switch {
		case strings.EqualFold(name, want), strings.EqualFold(lastPart(name), lastPart(want)):
			d = 1
		case len(name) < 256 && len(want) < 256:
			d = edits(strings.ToLower(name), strings.ToLower(want))
		}
		if d < at {
			best, at = name, d
		}
	}
	return best
}

func lastPart(name string) string {
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ":latest")
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
