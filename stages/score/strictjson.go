package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// parseJSON reads text as exactly one JSON value: map[string]any, []any,
// string, json.Number, bool or nil. Duplicate names, text before or after the
// value, invalid UTF-8 and numbers that cannot be compared exactly are errors.
func parseJSON(text string) (any, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the answer is empty")
	}
	dec := jsontext.NewDecoder(strings.NewReader(text))
	v, err := readValue(dec)
	if err != nil {
		return nil, jsonError(text, err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("not JSON: text after the value at character %d", dec.InputOffset()+1)
	}
	return v, nil
}

func readValue(dec *jsontext.Decoder) (any, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		return readObject(dec)
	case '[':
		return readArray(dec)
	case '"':
		return tok.String(), nil
	case '0':
		lit := tok.String()
		if _, err := parseDecimal(lit); err != nil {
			return nil, err
		}
		return json.Number(lit), nil
	case 'n':
		return nil, nil
	}
	return tok.Bool(), nil
}

func readObject(dec *jsontext.Decoder) (any, error) {
	obj := map[string]any{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // before the next token: it shares the decoder's buffer
		if obj[key], err = readValue(dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return obj, err
}

func readArray(dec *jsontext.Decoder) (any, error) {
	list := []any{}
	for dec.PeekKind() != ']' {
		v, err := readValue(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.ReadToken()
	return list, err
}

func jsonError(text string, err error) error {
	if strings.HasPrefix(strings.TrimSpace(text), "```") {
		return errors.New("not JSON: the answer is in a code fence")
	}
	var syn *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return errors.New("not JSON: a name occurs twice in an object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("not JSON: it ends too early")
	case errors.As(err, &syn):
		return fmt.Errorf("not JSON at character %d: %s", syn.ByteOffset+1, strings.TrimPrefix(syn.Err.Error(), "jsontext: "))
	}
	return fmt.Errorf("not JSON: %w", err)
}
