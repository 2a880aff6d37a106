package score

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/items"
)

var compatJSONSchema = define("compat/json_schema", 1,
	`as json_schema, but of a name that occurs twice the last one counts; reasons are worded differently from Python's`,
	noParams{}, buildCompatJSONSchema)

func buildCompatJSONSchema(_ noParams, it *items.Item, env *env) (Func, error) {
	if it.Schema == nil {
		return nil, errors.New(`the item has no "schema"`)
	}
	s, err := env.schema(string(it.Schema), false)
	if err != nil {
		return nil, err
	}
	return func(out Output) (float64, string, error) {
		v, err := parseLenient(out.Text)
		if err != nil {
			return 0, "invalid: " + err.Error(), nil
		}
		if why := s.violation(v); why != "" {
			return 0, "invalid: " + clip(why), nil
		}
		return 1, "valid", nil
	}, nil
}

// parseLenient is parseJSON for compat scorers: of names that occur twice the
// last one counts. NaN and Infinity, which Python's reader takes, are refused:
// no value may hold them.
func parseLenient(text string) (any, error) {
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true))
	v, err := readValue(dec)
	if err != nil {
		return nil, jsonError(text, err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, errors.New("not JSON: text after the value")
	}
	return v, nil
}
