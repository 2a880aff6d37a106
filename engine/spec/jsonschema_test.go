package spec

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compileJSONSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	b, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("cupel:///campaign.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("cupel:///campaign.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What Load accepts an editor accepts, and what the definitions refuse it
// refuses: the constraints survive the translation.
func TestJSONSchema(t *testing.T) {
	s := compileJSONSchema(t)
	check := func(text string) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(v)
	}
	full := jsonOf(fullTree(t), inOrder)
	if err := check(full); err != nil {
		t.Errorf("the full campaign: %v", err)
	}
	for _, edit := range [][2]string{
		{`"quantisation"`, `"quantization"`}, {`"samples": 1`, `"samples": 0`}, {`"samples": 1`, `"smaples": 1`},
		{`"baseline"`, `"base"`}, {`"kind": "capacity"`, `"kind": "capasity"`}, {`"requests": 100`, `"requests": 1.5`},
		{`"prefix": "on"`, `"prefix": "yes"`}, {`"tensor": 1`, `"tensor": 0`}, {`"topP": 1`, `"topP": 0`},
		{`0123456789abcdef0123456789abcdef01234567`, `main`}, {`"from": "bf16"`, `"form": "bf16"`},
		{`"interval"`, `"intervall"`}, {`"campaign": "support-fp8"`, `"campaign": "Support"`}, {`"weights": "fp8"`, `"wieghts": "fp8"`},
		{`"resamples": 10000`, `"resamples": 5`}, {`"health"`, `"helth"`}, {`"timeout": "15m"`, `"timeout": "15 min"`},
		{`"apiVersion"`, `"apiversion"`}, {`"speculative": "none"`, `"speculative": "off"`}, {`"rule": "lo`, `"rul": "lo`},
	} {
		if strings.Contains(full, edit[0]) && check(strings.Replace(full, edit[0], edit[1], 1)) == nil {
			t.Errorf("%s is accepted", edit[1])
		}
	}
	var many strings.Builder
	for i := range 65 {
		many.WriteString(`"c` + strings.Repeat("x", i) + `": {"from": "bf16"}, `)
	}
	if check(strings.Replace(full, `"candidates": {`, `"candidates": {`+many.String(), 1)) == nil {
		t.Error("67 candidates are accepted")
	}
}
