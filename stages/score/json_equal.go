package score

import (
	"errors"
	"fmt"

	"github.com/cupel-dev/cupel/stages/items"
)

type jsonEqualParams struct {
	Sets       bool `json:"sets" doc:"the order of array elements does not matter"`
	Extra      bool `json:"extra" doc:"objects may have names that are not expected"`
	Trim       bool `json:"trim" doc:"white space at the ends of strings does not count"`
	IgnoreCase bool `json:"ignore_case" doc:"case does not count in strings"`
	Extract    bool `json:"extract" doc:"look for the JSON in code fences and prose when the text is not JSON"`
}

func (p jsonEqualParams) equality() equality {
	return equality{sets: p.Sets, extra: p.Extra, trim: p.Trim, fold: p.IgnoreCase}
}

var jsonEqual = define("json_equal", 1,
	`1 when the text is one JSON value equal to "answer": numbers as decimals, names in any order, arrays in order`,
	jsonEqualParams{}, buildJSONEqual)

func buildJSONEqual(p jsonEqualParams, it *items.Item, _ *env) (Func, error) {
	if it.Answer == nil {
		return nil, errors.New(`the item has no "answer"`)
	}
	want, err := parseJSON(string(it.Answer))
	if err != nil {
		return nil, fmt.Errorf(`"answer": %w`, err)
	}
	eq := p.equality()
	return func(out Output) (float64, string, error) {
		got, err := readJSON(out.Text, p.Extract)
		if err != nil {
			return 0, err.Error(), nil
		}
		if d := eq.difference("", got, want); d != "" {
			return 0, d, nil
		}
		return 1, "equal", nil
	}, nil
}
