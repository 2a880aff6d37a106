package scrub

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds JSON in strings in JSON; what is deeper is plain text.
const maxDepth = 8

var errTrailing = errors.New("there is text after the JSON value")

// JSON returns the value with its strings, names and numbers scrubbed; layout
// and the spelling of everything else stay. A number that is personal data
// becomes a string. It is an error when raw is not one JSON value without
// duplicate names, or would not be after scrubbing.
func (n *Session) JSON(raw []byte) ([]byte, error) {
	w := walker{dec: jsontext.NewDecoder(bytes.NewReader(raw))}
	var out []byte
	last := 0
	for {
		lo, hi, err := w.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if text, ok := n.scalar(raw[lo:hi], w.hint); ok {
			out = append(append(out, raw[last:lo]...), text...)
			last = hi
		}
	}
	if last == 0 {
		return raw, nil
	}
	out = append(out, raw[last:]...)
	if !jsontext.Value(out).IsValid() {
		return nil, errors.New("two names of an object become one by scrubbing")
	}
	return out, nil
}

// walker visits the strings, names and numbers of one JSON value.
type walker struct {
	dec  *jsontext.Decoder
	hint hint // what the last name says about the values below it
}

// next returns where the next scalar stands, io.EOF after the value.
func (w *walker) next() (lo, hi int, err error) {
	for {
		if w.dec.StackDepth() == 0 && w.dec.InputOffset() > 0 {
			if _, err := w.dec.ReadToken(); err != io.EOF {
				return 0, 0, errTrailing
			}
			return 0, 0, io.EOF
		}
		if kind := w.dec.PeekKind(); kind == '"' || kind == '0' {
			return w.scalar()
		}
		tok, err := w.dec.ReadToken()
		if err != nil {
			return 0, 0, unexpectedEnd(err)
		}
		if tok.Kind() == '}' {
			w.hint = hint{}
		}
	}
}

func (w *walker) scalar() (lo, hi int, err error) {
	in, count := w.dec.StackIndex(w.dec.StackDepth())
	v, err := w.dec.ReadValue()
	if err != nil {
		return 0, 0, unexpectedEnd(err)
	}
	hi = int(w.dec.InputOffset())
	if in == '{' && count%2 == 0 {
		w.hint = hint{} // of the name itself
		name, _ := jsontext.AppendUnquote(nil, v)
		defer func() { w.hint = hintOf(string(name)) }()
	}
	return hi - len(v), hi, nil
}

func unexpectedEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// scalar returns the new spelling of a scalar, if it has one.
func (n *Session) scalar(raw []byte, hint hint) ([]byte, bool) {
	if raw[0] != '"' {
		return n.numberValue(string(raw), hint)
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return nil, false
	}
	clean := n.text(string(text), hint)
	if clean == string(text) {
		return nil, false
	}
	quoted, err := jsontext.AppendQuote(nil, clean)
	return quoted, err == nil
}

// numberValue replaces a number that is a finding from its first to its last
// digit.
func (n *Session) numberValue(text string, hint hint) ([]byte, bool) {
	found := n.s.findAfter(hint, text)
	if len(found) == 0 {
		found = n.mentioned(text)
	}
	if len(found) != 1 || found[0].lo != 0 || found[0].hi != len(text) {
		return nil, false
	}
	return []byte(`"` + n.placeholder(found[0], text) + `"`), true
}

// jsonText scrubs a text that is a JSON object or list as a whole.
func (n *Session) jsonText(text string) (string, bool) {
	if n.depth >= maxDepth || !looksLikeJSON(text) {
		return "", false
	}
	n.depth++
	defer func() { n.depth-- }()
	counts := maps.Clone(n.counts)
	out, err := n.JSON([]byte(text))
	if err != nil {
		n.counts = counts
		return "", false
	}
	return string(out), true
}

func looksLikeJSON(text string) bool {
	s := strings.Trim(text, " \t\r\n")
	return len(s) >= 2 && (s[0] == '{' && s[len(s)-1] == '}' || s[0] == '[' && s[len(s)-1] == ']')
}
