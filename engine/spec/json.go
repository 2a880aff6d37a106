package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"cuelang.org/go/cue"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// parseJSON reads one JSON value strictly: a repeated name, a number that
// float64 does not give back and anything after the value are errors.
func parseJSON(file string, src []byte) (*node, Errors) {
	if errs := checkText(file, src); errs != nil {
		return nil, errs
	}
	// Repeated names are found here and not by the decoder, so that the message
	// can say where the first one is and the others are found too.
	dec := jsontext.NewDecoder(bytes.NewReader(src), jsontext.AllowDuplicateNames(true))
	r := &jsonReader{dec: dec, lines: newLines(file, src)}
	root, err := r.value(0)
	if err == nil {
		if _, err = dec.ReadToken(); errors.Is(err, io.EOF) {
			return root, r.errs
		}
		if err == nil {
			r.errs.add(r.tokenStart(1), nil, "something follows the campaign", "a file holds one campaign")
			return nil, r.errs
		}
	}
	return nil, append(r.errs, r.syntaxError(err))
}

type jsonReader struct {
	dec   *jsontext.Decoder
	lines *lines
	errs  Errors
	count int
}

// tokenStart is the position of the token just read, n bytes long.
func (r *jsonReader) tokenStart(n int) pos { return r.lines.at(int(r.dec.InputOffset()) - n) }

func (r *jsonReader) syntaxError(err error) *Error {
	offset := r.dec.InputOffset()
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset, err = s.ByteOffset, s.Err
	}
	at := r.lines.at(int(offset))
	return &Error{File: at.file, Line: at.line, Col: at.col, Msg: "JSON: " + clip(strings.TrimPrefix(err.Error(), "jsontext: "))}
}

var errTooMuch = errors.New("too large to be a campaign")

func (r *jsonReader) value(depth int) (*node, error) {
	if r.count++; r.count > maxValues || depth > maxDepth {
		return nil, fmt.Errorf("%w: at most %d values and %d levels", errTooMuch, maxValues, maxDepth)
	}
	switch r.dec.PeekKind() {
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	}
	raw, err := r.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	n := &node{at: r.tokenStart(len(raw))}
	switch raw.Kind() {
	case 'n':
		n.kind = cue.NullKind
	case 't', 'f':
		n.kind, n.text = cue.BoolKind, string(raw)
	case '0':
		n.kind, n.text = cue.NumberKind, string(raw)
		if err := step.CheckNumber(n.text); err != nil {
			r.errs.add(n.at, nil, err.Error(), quoteHint)
			n.kind = cue.BottomKind
		}
	default:
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, err
		}
		n.kind, n.text = cue.StringKind, string(text)
	}
	return n, nil
}

func (r *jsonReader) array(depth int) (*node, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	n := &node{kind: cue.ListKind, at: r.tokenStart(1)}
	for r.dec.PeekKind() != ']' {
		e, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.elems = append(n.elems, e)
	}
	_, err := r.dec.ReadToken()
	return n, err
}

func (r *jsonReader) object(depth int) (*node, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	n := &node{kind: cue.StructKind, at: r.tokenStart(1)}
	seen := map[string]int{}
	for r.dec.PeekKind() != '}' {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return nil, err
		}
		at := r.tokenStart(len(raw))
		name, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, err
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if line, dup := seen[string(name)]; dup {
			r.errs.add(at, nil, fmt.Sprintf("key %q is already on line %d", clip(string(name)), line), "keep one of the two")
			continue
		}
		seen[string(name)] = at.line
		n.fields = append(n.fields, field{string(name), at, v})
	}
	_, err := r.dec.ReadToken()
	return n, err
}
