package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// Limits of one file.
const (
	MaxBytes  = 32 << 20
	maxDepth  = 64
	maxValues = 4_000_000
	maxText   = 300 // characters of a text that is kept
)

// ErrUnusable is a file that cannot be read as evidence at all.
var ErrUnusable = errors.New("not usable as evidence")

// parse reads one JSON document. Bare NaN and Infinity, which some tools write,
// are read as null, and counted.
func parse(content []byte) (doc any, nans int, err error) {
	if err := bounded(content); err != nil {
		return nil, 0, err
	}
	doc, err = decode(content)
	if err == nil {
		return doc, 0, nil
	}
	clean, n := withoutNaN(content)
	if n == 0 {
		return nil, 0, err
	}
	doc, err = decode(clean)
	return doc, n, err
}

func decode(content []byte) (any, error) {
	var doc any
	if err := jsonv2.Unmarshal(content, &doc); err != nil {
		return nil, wording(err)
	}
	return doc, nil
}

// wording drops the words of the library from its errors.
func wording(err error) error {
	var syntactic *jsontext.SyntacticError
	var semantic *jsonv2.SemanticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return step.WithHint(errors.New("a name stands twice in one object: which value counts is not known"), "correct the file with what wrote it")
	case errors.As(err, &syntactic):
		return fmt.Errorf("no JSON at byte %d: %w", syntactic.ByteOffset, syntactic.Err)
	case errors.As(err, &semantic):
		return fmt.Errorf("no usable JSON at byte %d", semantic.ByteOffset)
	}
	return err
}

// bounded counts what a document is made of, before it is held in memory.
func bounded(content []byte) error {
	if len(content) > MaxBytes {
		return fmt.Errorf("the file is larger than %d MiB", MaxBytes>>20)
	}
	depth, values, inside, escaped := 0, 1, false, false
	for _, c := range content {
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			depth++
			values++
		case c == '}' || c == ']':
			depth--
		case c == ',':
			values++
		}
		if depth > maxDepth {
			return fmt.Errorf("the document is nested deeper than %d", maxDepth)
		}
		if values > maxValues {
			return fmt.Errorf("the document holds more than %d values", maxValues)
		}
	}
	return nil
}

// withoutNaN replaces bare NaN, Infinity and -Infinity by null.
func withoutNaN(content []byte) (out []byte, n int) {
	inside, escaped := false, false
	for i := 0; i < len(content); i++ {
		c := content[i]
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case !inside:
			if w := bareWord(content[i:]); w > 0 {
				out, i, n = append(out, "null"...), i+w-1, n+1
				continue
			}
		}
		out = append(out, c)
	}
	return out, n
}

func bareWord(rest []byte) int {
	for _, w := range []string{"NaN", "-Infinity", "Infinity"} {
		if bytes.HasPrefix(rest, []byte(w)) {
			return len(w)
		}
	}
	return 0
}

// node is a value of a document with its place, for messages.
type node struct {
	v   any
	at  string
	bad *[]string // where a value of the wrong kind is noted
}

// get goes down by names.
func (n node) get(names ...string) node {
	for _, name := range names {
		m, _ := n.v.(map[string]any)
		at := name
		if n.at != "" {
			at = n.at + "." + name
		}
		n = node{m[name], clip(at), n.bad}
	}
	return n
}

// list are the elements of an array.
func (n node) list() []node {
	xs, _ := n.v.([]any)
	out := make([]node, len(xs))
	for i, x := range xs {
		out[i] = node{x, fmt.Sprintf("%s[%d]", n.at, i), n.bad}
	}
	return out
}

// names are those of an object, sorted.
func (n node) names() []string {
	m, _ := n.v.(map[string]any)
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (n node) isObject() bool { _, ok := n.v.(map[string]any); return ok }
func (n node) isList() bool   { _, ok := n.v.([]any); return ok }
func (n node) has() bool      { return n.v != nil }

func (n node) invalid(format string, args ...any) {
	if n.bad != nil && len(*n.bad) < 100 {
		*n.bad = append(*n.bad, fmt.Sprintf(format, args...))
	}
}

const notRecorded = "not recorded"

// number reads a finite number; null and an absent one are unknown, and
// anything else makes the artifact invalid.
func (n node) number() Number {
	switch v := n.v.(type) {
	case nil:
		return unknown[float64](notRecorded)
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) && math.Abs(v) != math.MaxFloat64 {
			return is(v)
		}
	}
	n.invalid("%s must be a finite number", n.at)
	return unknown[float64]("malformed")
}

// count reads a whole number of at least least.
func (n node) count(least float64) Number {
	v := n.number()
	if v.Value != nil && (*v.Value != math.Trunc(*v.Value) || *v.Value < least) {
		n.invalid("%s must be a whole number of at least %g", n.at, least)
		return unknown[float64]("malformed")
	}
	return v
}

// text reads a text, on one line and of bounded length.
func (n node) text() Text {
	switch v := n.v.(type) {
	case nil:
		return unknown[string](notRecorded)
	case string:
		return said(v)
	}
	n.invalid("%s must be a text", n.at)
	return unknown[string]("malformed")
}

// said is a text of a file as it may be shown.
func said(s string) Text {
	if s = plain(s); s == "" {
		return unknown[string]("empty")
	}
	if credential(s) {
		return unknown[string]("left out: it looks like a credential")
	}
	return is(s)
}

func (n node) flag() Flag {
	switch v := n.v.(type) {
	case nil:
		return unknown[bool](notRecorded)
	case bool:
		return is(v)
	}
	n.invalid("%s must be true or false", n.at)
	return unknown[bool]("malformed")
}

// str is a text for what looks no further.
func (n node) str() string { s, _ := n.v.(string); return s }

// num is a number for what looks no further.
func (n node) num() (float64, bool) { f, ok := n.v.(float64); return f, ok }

// plain puts a text on one line, without what a terminal would act on.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	return clip(strings.Join(strings.Fields(s), " "))
}

func clip(s string) string {
	if r := []rune(s); len(r) > maxText {
		return string(r[:maxText-1]) + "…"
	}
	return s
}
