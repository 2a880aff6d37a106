package foreign

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// walker reads one JSON document and calls back for the values at chosen
// paths, such as /results/results; all else is skipped as it streams by.
type walker struct {
	dec *jsontext.Decoder
	at  map[string]func(dec *jsontext.Decoder) error
}

func walk(r io.Reader, at map[string]func(*jsontext.Decoder) error) error {
	w := walker{jsontext.NewDecoder(newNaNReader(r), jsontext.AllowInvalidUTF8(true)), at}
	if err := w.object(""); err != nil {
		return err
	}
	if _, err := w.dec.ReadToken(); err != io.EOF {
		return fmt.Errorf("text after the document at character %d", w.dec.InputOffset()+1)
	}
	return nil
}

func (w walker) object(path string) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	for w.dec.PeekKind() != '}' {
		tok, err := w.dec.ReadToken()
		if err != nil {
			return err
		}
		if err := w.member(path + "/" + tok.String()); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

func (w walker) member(path string) error {
	if f, ok := w.at[path]; ok {
		return f(w.dec)
	}
	if w.dec.PeekKind() == '{' && w.leads(path) {
		return w.object(path)
	}
	return w.dec.SkipValue()
}

// leads reports whether a chosen path goes on below this one.
func (w walker) leads(path string) bool {
	for p := range w.at {
		if len(p) > len(path) && p[:len(path)] == path && p[len(path)] == '/' {
			return true
		}
	}
	return false
}

// elements calls f with each value of an array; null stands for an empty one.
func elements(f func(value []byte) error) func(*jsontext.Decoder) error {
	return func(dec *jsontext.Decoder) error {
		if k := dec.PeekKind(); k != '[' {
			v, err := dec.ReadValue()
			if err == nil && v.Kind() != 'n' {
				err = fmt.Errorf("%s is a JSON %s, want an array", dec.StackPointer(), v.Kind())
			}
			return err
		}
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		for dec.PeekKind() != ']' {
			v, err := dec.ReadValue()
			if err != nil {
				return err
			}
			if len(v) > maxLine {
				return fmt.Errorf("%s is larger than %d MiB", dec.StackPointer(), maxLine>>20)
			}
			if err := f(v); err != nil {
				return err
			}
		}
		_, err := dec.ReadToken()
		return err
	}
}

// textAt keeps a string.
func textAt(into *string) func(*jsontext.Decoder) error {
	return func(dec *jsontext.Decoder) error {
		v, err := dec.ReadValue()
		if err == nil && v.Kind() == '"' && len(v) < 200 {
			*into = text(v)
		}
		return err
	}
}
