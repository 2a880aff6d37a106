package score

import (
	"errors"

	"github.com/cupel-dev/cupel/stages/items"
)

type jsonSchemaParams struct {
	Extract bool `json:"extract" doc:"look for the JSON in code fences and prose when the text is not JSON"`
	Formats bool `json:"formats" doc:"the keyword format is checked, not only noted"`
}

var jsonSchema = define("json_schema", 1,
	`1 when the text is one JSON value that the item's "schema" (draft 2020-12) accepts; code fences, duplicate names and text around it are invalid`,
	jsonSchemaParams{}, buildJSONSchema)

func buildJSONSchema(p jsonSchemaParams, it *items.Item, env *env) (Func, error) {
	if it.Schema == nil {
		return nil, errors.New(`the item has no "schema"`)
	}
	s, err := env.schema(string(it.Schema), p.Formats)
	if err != nil {
		return nil, err
	}
	return func(out Output) (float64, string, error) {
		v, err := readJSON(out.Text, p.Extract)
		if err != nil {
			return 0, err.Error(), nil
		}
		if why := s.violation(v); why != "" {
			return 0, why, nil
		}
		return 1, "valid", nil
	}, nil
}
