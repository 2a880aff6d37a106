package preflight

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// mustCompile compiles one of this package's own schemas.
func mustCompile(text string) *jsonschema.Schema {
	const at = "cupel:///schema.json"
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		panic("preflight: a schema: " + err.Error())
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // reads nothing
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(at, doc); err != nil {
		panic("preflight: a schema: " + err.Error())
	}
	return c.MustCompile(at)
}

var printer = message.NewPrinter(language.English)

// firstCause is the first leaf of a validation error by place and text: the
// library walks maps, so that its own order changes from run to run.
func firstCause(err error) string {
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return clip(err.Error(), answerLimit)
	}
	type leaf struct{ at, text string }
	var leaves []leaf
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			walk(c)
		}
		if len(e.Causes) == 0 {
			leaves = append(leaves, leaf{"/" + strings.Join(e.InstanceLocation, "/"), e.ErrorKind.LocalizedString(printer)})
		}
	}
	walk(v)
	first := slices.MinFunc(leaves, func(a, b leaf) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text)) })
	return fmt.Sprintf("at %s: %s", clip(first.at, 64), clip(first.text, answerLimit))
}
