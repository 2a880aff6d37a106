package scrape

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseSample reads name{label="value",...} value [timestamp] [# exemplar].
// The name may also stand quoted within the braces (UTF-8 names).
func parseSample(line string) (sample, error) {
	c := &cursor{s: line}
	s := sample{Name: c.word()}
	if s.Name != "" && !c.done() && c.s[c.i] != '{' && !isBlank(c.s[c.i]) {
		return sample{}, fmt.Errorf("unexpected %s after the metric name", clip(c.s[c.i:]))
	}
	c.blanks()
	if c.eat('{') {
		if err := c.labels(&s); err != nil {
			return sample{}, err
		}
	}
	if s.Name == "" || s.Name[0] >= '0' && s.Name[0] <= '9' {
		return sample{}, fmt.Errorf("no metric name: %s", clip(line))
	}
	if len(s.Name) > maxName {
		return sample{}, fmt.Errorf("metric name of %d bytes, at most %d are read", len(s.Name), maxName)
	}
	var err error
	s.Value, err = parseTail(c.s[c.i:])
	return s, err
}

// parseTail reads the value and checks what may follow it.
func parseTail(tail string) (float64, error) {
	tail, exemplar, has := strings.Cut(tail, "#")
	if has && !strings.HasPrefix(strings.TrimLeft(exemplar, " \t"), "{") {
		return 0, fmt.Errorf("an exemplar begins with {, not %s", clip(exemplar))
	}
	words := strings.Fields(tail)
	switch {
	case len(words) == 0:
		return 0, fmt.Errorf("no value")
	case len(words) > 2:
		return 0, fmt.Errorf("unexpected %s after the time stamp", clip(words[2]))
	}
	value, err := number(words[0])
	if err != nil {
		return 0, fmt.Errorf("value %s is not a number", clip(words[0]))
	}
	if len(words) == 2 {
		if at, err := number(words[1]); err != nil || math.IsNaN(at) || math.IsInf(at, 0) {
			return 0, fmt.Errorf("time stamp %s is not a number", clip(words[1]))
		}
	}
	return value, nil
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
func (c *cursor) labels(s *sample) error {
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

func (c *cursor) label(s *sample) error {
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
	if len(s.Labels) == maxLabels {
		return fmt.Errorf("more than %d labels", maxLabels)
	}
	s.Labels = append(s.Labels, label{Name: name, Value: value})
	return nil
}

func (c *cursor) labelName() (name string, quoted bool, err error) {
	if !c.done() && c.s[c.i] == '"' {
		name, err = c.quoted()
		return name, true, err
	}
	name = c.word()
	if name == "" || len(name) > maxName {
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
	if len(raw) > maxLabelValue {
		return "", fmt.Errorf("%d bytes long, at most %d are read", len(raw), maxLabelValue)
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
