package items

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

var strict = jsonv2.JoinOptions(jsonv2.RejectUnknownMembers(true))

func decodeNext(dec *jsontext.Decoder, v any) error { return jsonv2.UnmarshalDecode(dec, v, strict) }

// decode reads one line. The decoder refuses duplicate names, invalid UTF-8 and
// text after the value.
func decode(line []byte) (Item, error) {
	var it Item
	if err := unmarshal(line, &it); err != nil {
		return it, err
	}
	return it, it.check()
}

// fieldHints says what to write instead of names that other item formats use.
var fieldHints = map[string]string{
	"stratum":         `write "strata": {"task": …}`,
	"task":            `write "strata": {"task": …}`,
	"category":        `write "strata": {"task": …}`,
	"difficulty":      `write "strata": {"difficulty": …}`,
	"reference":       `the reference is called "answer"`,
	"expected":        `the reference is called "answer"`,
	"ideal":           `the reference is called "answer"`,
	"target":          `the reference is called "answer"`,
	"prompt":          `what is asked is called "input"`,
	"question":        `what is asked is called "input"`,
	"messages":        `what is asked is called "input"; it may be a list of messages`,
	"scorers":         `write "scorer"; it may be a list`,
	"tolerance":       `write "tol"`,
	"expect_tools":    `write "expect_tool"; it may be a list`,
	"params":          `write "scorer": {"name": …, "params": {…}}`,
	"test":            `source or cases to run are called "tests"`,
	"unit_tests":      `source or cases to run are called "tests"`,
	"response_format": `a schema that is to be checked is called "schema"`,
}

// explain turns a decoder's error into a sentence about the line.
func explain(err error) error {
	var sem *jsonv2.SemanticError
	if errors.As(err, &sem) {
		return explainSemantic(sem)
	}
	var syn *jsontext.SyntacticError
	if !errors.As(err, &syn) {
		return err
	}
	what := strings.TrimPrefix(syn.Err.Error(), "jsontext: ")
	at := fmt.Sprintf("character %d", syn.ByteOffset+1)
	if syn.JSONPointer != "" {
		at = fmt.Sprintf("%s (%s)", syn.JSONPointer, at)
	}
	return fmt.Errorf("not valid JSON at %s: %s", at, what)
}

func explainSemantic(sem *jsonv2.SemanticError) error {
	if errors.Is(sem, jsonv2.ErrUnknownName) {
		name := sem.JSONPointer.LastToken()
		err := fmt.Errorf("unknown field %q at %s", name, sem.JSONPointer)
		if hint := fieldHints[name]; hint != "" {
			return step.WithHint(err, hint)
		}
		return step.WithHint(err, "known fields: "+strings.Join(fieldNames(), ", "))
	}
	if sem.Err != nil {
		var syn *jsontext.SyntacticError
		if errors.As(sem.Err, &syn) {
			return explain(syn)
		}
		return fmt.Errorf("%s: %w", sem.JSONPointer, sem.Err)
	}
	return fmt.Errorf("%s: found a JSON %s, want %s", sem.JSONPointer, kindName(sem.JSONKind), goName(sem.GoType))
}

func fieldNames() []string {
	var names []string
	for f := range reflect.TypeFor[Item]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{', '}':
		return "object"
	case '[', ']':
		return "list"
	}
	return "value"
}

func goName(t reflect.Type) string {
	if t == nil {
		return "another type"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Float64, reflect.Int:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
