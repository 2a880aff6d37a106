package score

import (
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// equality compares JSON values. Numbers are compared as decimals (1, 1.0 and
// 1e0 are equal, 2^53 and 2^53+1 are not), true is not 1, null is not absent,
// the order of names does not matter, strings are compared in NFC.
type equality struct {
	sets  bool // arrays are compared without their order
	extra bool // an object may have names that are not expected
	trim  bool
	fold  bool
}

// difference returns the first place, by path, where got is not what is
// wanted; "" when they are equal.
func (e equality) difference(at string, got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return mismatch(at, got, want)
		}
		return e.objects(at, g, w)
	case []any:
		g, ok := got.([]any)
		if !ok {
			return mismatch(at, got, want)
		}
		return e.arrays(at, g, w)
	}
	if e.scalars(got, want) {
		return ""
	}
	return mismatch(at, got, want)
}

func (e equality) scalars(got, want any) bool {
	switch w := want.(type) {
	case json.Number:
		g, ok := got.(json.Number)
		return ok && sameNumber(g, w)
	case string:
		g, ok := got.(string)
		return ok && e.text(g) == e.text(w)
	case bool:
		g, ok := got.(bool)
		return ok && g == w
	}
	return got == nil
}

func sameNumber(a, b json.Number) bool {
	x, errX := parseDecimal(string(a))
	y, errY := parseDecimal(string(b))
	return errX == nil && errY == nil && x == y
}

func (e equality) text(s string) string {
	s = norm.NFC.String(s)
	if e.fold {
		s = fold(s)
	}
	if e.trim {
		s = strings.TrimSpace(s)
	}
	return s
}

func (e equality) objects(at string, got, want map[string]any) string {
	got, want = inNFC(got), inNFC(want)
	for _, name := range keys(want) {
		here := at + "/" + escapePointer.Replace(name)
		g, ok := got[name]
		if !ok {
			return here + " is missing"
		}
		if d := e.difference(here, g, want[name]); d != "" {
			return d
		}
	}
	if e.extra || len(got) == len(want) {
		return ""
	}
	for _, name := range keys(got) {
		if _, ok := want[name]; !ok {
			return at + "/" + escapePointer.Replace(name) + " is not expected"
		}
	}
	return ""
}

// inNFC returns an object with its names in NFC. Two names that become one
// keep their own spelling, and so stay two.
func inNFC(obj map[string]any) map[string]any {
	same := true
	for name := range obj {
		same = same && norm.NFC.IsNormalString(name)
	}
	if same {
		return obj
	}
	out := make(map[string]any, len(obj))
	for name, v := range obj {
		n := norm.NFC.String(name)
		if _, taken := obj[n]; taken {
			n = name
		}
		out[n] = v
	}
	if len(out) < len(obj) {
		return obj
	}
	return out
}

func (e equality) arrays(at string, got, want []any) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%s has %d elements, want %d", place(at), len(got), len(want))
	}
	if e.sets {
		return e.unordered(at, got, want)
	}
	for i := range want {
		if d := e.difference(fmt.Sprintf("%s/%d", at, i), got[i], want[i]); d != "" {
			return d
		}
	}
	return ""
}

// unordered pairs the elements of two arrays of one length by a maximum
// matching: with extra names allowed an element can equal several others.
func (e equality) unordered(at string, got, want []any) string {
	equal := func(w, g int) bool { return e.difference("", got[g], want[w]) == "" }
	if w, ok := matching(len(want), len(got), equal); !ok {
		return fmt.Sprintf("%s: no element equals %s", place(at), show(want[w]))
	}
	return ""
}

func mismatch(at string, got, want any) string {
	return fmt.Sprintf("%s: %s, want %s", place(at), show(got), show(want))
}

func place(at string) string {
	if at == "" {
		return "the value"
	}
	return at
}

// show prints a JSON value in a reason.
func show(v any) string { return clipTo(mustJSON(v), 60) }
