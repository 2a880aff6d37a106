package score

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schema is a compiled JSON Schema.
type schema struct{ *jsonschema.Schema }

// schemaURL is where schemas are registered, so that no message holds a path.
const schemaURL = "cupel:///schema.json"

// maxSchemas bounds how many compiled schemas are kept.
const maxSchemas = 1024

// noLoader keeps schemas from reading files and from the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema may not refer to another document (%s); put it under $defs", clip(url))
}

// schema compiles a schema once per text.
func (e *env) schema(text string, formats bool) (*schema, error) {
	key := fmt.Sprintf("%t %s", formats, text)
	if s, ok := e.schemas[key]; ok {
		return s, nil
	}
	s, err := compileSchema(text, formats)
	if err != nil {
		return nil, err
	}
	if len(e.schemas) >= maxSchemas {
		clear(e.schemas)
	}
	e.schemas[key] = s
	return s, nil
}

func compileSchema(text string, formats bool) (*schema, error) {
	doc, err := parseJSON(text)
	if err != nil {
		return nil, fmt.Errorf(`"schema": %w`, err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.DefaultDraft(jsonschema.Draft2020)
	if formats {
		c.AssertFormat()
	}
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, fmt.Errorf(`"schema": %w`, err)
	}
	s, err := c.Compile(schemaURL)
	if err != nil {
		return nil, fmt.Errorf(`"schema": %s`, schemaProblem(err))
	}
	return &schema{s}, nil
}

func schemaProblem(err error) string {
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		var v *jsonschema.ValidationError
		if errors.As(invalid.Err, &v) {
			return "not a JSON Schema: " + firstViolation(v)
		}
	}
	return clipTo(err.Error(), 200)
}

// violation returns what is wrong with a value, "" when nothing is.
func (s *schema) violation(v any) string {
	err := s.Validate(v)
	if err == nil {
		return ""
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return clip(err.Error())
	}
	return firstViolation(invalid)
}

// printer words the library's messages.
var printer = message.NewPrinter(language.English)

type leaf struct{ at, text string }

// firstViolation returns the first leaf of the error tree by place and text:
// the library walks maps, so that its own order changes from run to run.
func firstViolation(e *jsonschema.ValidationError) string {
	first := slices.MinFunc(leaves(e, nil), func(a, b leaf) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text))
	})
	return fmt.Sprintf("at %s: %s", cmp.Or(first.at, "the root"), first.text)
}

func leaves(e *jsonschema.ValidationError, into []leaf) []leaf {
	if len(e.Causes) == 0 {
		if k, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
			slices.Sort(k.Properties)
		}
		return append(into, leaf{pointer(e.InstanceLocation), e.ErrorKind.LocalizedString(printer)})
	}
	for _, c := range e.Causes {
		into = leaves(c, into)
	}
	return into
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString("/" + escapePointer.Replace(t))
	}
	return b.String()
}
