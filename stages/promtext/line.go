// Package promtext reads the lines of the Prometheus text format, once for all who
// meet it: engines' own metrics, configurations in the form of a metric, exporters.
package promtext

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of one line.
const (
	MaxName       = 512 // bytes of a name, of a metric or a label
	MaxLabels     = 64
	MaxLabelValue = 16 << 10 // bytes
)

// Sample is one line: a name, its labels and a value, which may be NaN or an
// infinity. An exemplar is read over.
type Sample struct {
	Name   string
	Labels []Label
	Value  float64
	Text   string // of the value, as it was written: an integer may have more digits than Value
	Stamp  string // time stamp as it was written, ms since 1970 or OpenMetrics' seconds; "" = none
}

// Label is one label of a sample, its value unescaped.
type Label struct{ Name, Value string }

// Get is "" for a label that is not there: as in PromQL, an empty label and a
// missing one are the same.
func Get(labels []Label, name string) string {
	for _, l := range labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// Parse reads name{label="value",...} value [timestamp] [# exemplar].
// The name may also stand quoted within the braces (UTF-8 names).
func Parse(line string) (Sample, error) {
	c := &cursor{s: line}
	s := Sample{Name: c.word()}
	if s.Name != "" && !c.done() && c.s[c.i] != '{' && !isBlank(c.s[c.i]) {
		return Sample{}, fmt.Errorf("unexpected %s after the metric name", clip(c.s[c.i:]))
	}
	c.blanks()
	if c.eat('{') {
		if err := c.labels(&s); err != nil {
			return Sample{}, err
		}
	}
	if s.Name == "" || s.Name[0] >= '0' && s.Name[0] <= '9' {
		return Sample{}, fmt.Errorf("no metric name: %s", clip(line))
	}
	if len(s.Name) > MaxName {
		return Sample{}, fmt.Errorf("metric name of %d bytes, at most %d are read", len(s.Name), MaxName)
	}
	err := s.tail(c.s[c.i:])
	return s, err
}

// tail reads the value and checks what may follow it.
func (s *Sample) tail(tail string) (err error) {
	tail, exemplar, has := strings.Cut(tail, "#")
	if has && !strings.HasPrefix(strings.TrimLeft(exemplar, " \t"), "{") {
		return fmt.Errorf("an exemplar begins with {, not %s", clip(exemplar))
	}
	words := strings.Fields(tail)
	switch {
	case len(words) == 0:
		return fmt.Errorf("no value")
	case len(words) > 2:
		return fmt.Errorf("unexpected %s after the time stamp", clip(words[2]))
	}
	if s.Value, err = number(words[0]); err != nil {
		return fmt.Errorf("value %s is not a number", clip(words[0]))
	}
	if len(words) == 2 {
		if at, err := number(words[1]); err != nil || math.IsNaN(at) || math.IsInf(at, 0) {
			return fmt.Errorf("time stamp %s is not a number", clip(words[1]))
		}
		s.Stamp = words[1]
	}
	s.Text = words[0]
	return nil
}

// number is ParseFloat without Go's hexadecimal and underscored spellings.
func number(word string) (float64, error) {
	if strings.ContainsAny(word, "xX_pP") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(word, 64)
}

type cursor struct {
	s string
	i int
}

func (c *cursor) done() bool { return c.i >= len(c.s) }

func (c *cursor) blanks() {
	for !c.done() && isBlank(c.s[c.i]) {
		c.i++
	}
}

func (c *cursor) eat(b byte) bool {
	if c.done() || c.s[c.i] != b {
		return false
	}
	c.i++
	return true
}

func (c *cursor) word() string {
	start := c.i
	for !c.done() && isNameByte(c.s[c.i]) {
		c.i++
	}
	return c.s[start:c.i]
}

// labels reads up to and with the closing brace.
func (c *cursor) labels(s *Sample) error {
	for {
		c.blanks()
		if c.eat('}') {
			return nil
		}
		if err := c.label(s); err != nil {
			return err
		}
		c.blanks()
		switch {
		case c.eat(','):
		case c.eat('}'):
			return nil
		default:
			return fmt.Errorf("expected , or } in the labels, not %s", clip(c.s[c.i:]))
		}
	}
}

func (c *cursor) label(s *Sample) error {
	name, quoted, err := c.labelName()
	if err != nil {
		return err
	}
	c.blanks()
	if !c.eat('=') {
		if quoted && s.Name == "" {
			s.Name = name
			return nil
		}
		return fmt.Errorf("expected = after label %s", clip(name))
	}
	c.blanks()
	value, err := c.quoted()
	if err != nil {
		return fmt.Errorf("label %s: %w", clip(name), err)
	}
	for _, l := range s.Labels {
		if l.Name == name {
			return fmt.Errorf("label %s stands twice", clip(name))
		}
	}
	if len(s.Labels) == MaxLabels {
		return fmt.Errorf("more than %d labels", MaxLabels)
	}
	s.Labels = append(s.Labels, Label{Name: name, Value: value})
	return nil
}

func (c *cursor) labelName() (name string, quoted bool, err error) {
	if !c.done() && c.s[c.i] == '"' {
		name, err = c.quoted()
		return name, true, err
	}
	name = c.word()
	if name == "" || len(name) > MaxName {
		return "", false, fmt.Errorf("no label name at %s", clip(c.s[c.i:]))
	}
	return name, false, nil
}

func (c *cursor) quoted() (string, error) {
	if !c.eat('"') {
		return "", fmt.Errorf("expected a quote, not %s", clip(c.s[min(c.i, len(c.s)):]))
	}
	start, escaped := c.i, false
	for ; !c.done(); c.i++ {
		switch c.s[c.i] {
		case '\\':
			escaped = true
			c.i++
		case '"':
			raw := c.s[start:c.i]
			c.i++
			return unquote(raw, escaped)
		}
	}
	c.i = len(c.s)
	return "", fmt.Errorf("no closing quote")
}

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")

// unquote resolves the format's three escapes; a backslash before anything else
// stands for itself, as some exporters write Windows paths.
func unquote(raw string, escaped bool) (string, error) {
	if len(raw) > MaxLabelValue {
		return "", fmt.Errorf("%d bytes long, at most %d are read", len(raw), MaxLabelValue)
	}
	if !utf8.ValidString(raw) {
		return "", fmt.Errorf("not UTF-8")
	}
	if !escaped {
		return raw, nil
	}
	return unescape.Replace(raw), nil
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

func isNameByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == ':'
}

// clip quotes the beginning of a piece of the text for a note.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.Quote(s[:most]) + "..."
	}
	return strconv.Quote(s)
}
