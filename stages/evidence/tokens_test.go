package evidence

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
)

func TestOtherTokens(t *testing.T) {
	pin := func(tokens, twice int, by, template string) *PinDoc {
		return &PinDoc{Observed: llm.Identity{TemplateSHA256: template}, Probe: llm.TokenProbe{Tokens: tokens, Twice: twice, By: by}}
	}
	unknown := &PinDoc{Probe: llm.TokenProbe{Unknown: "refused"}}
	for name, c := range map[string]struct {
		a, b *PinDoc
		want string
	}{
		"the same":                        {pin(60, 115, "usage", "x"), pin(60, 115, "usage", "x"), ""},
		"another tokenizer":               {pin(60, 115, "usage", "x"), pin(70, 135, "usage", "x"), "60 and 70 tokens"},
		"and another template":            {pin(60, 115, "usage", "x"), pin(70, 135, "usage", "y"), "60 and 70 tokens"},
		"another beginning, one template": {pin(60, 115, "usage", "x"), pin(61, 116, "usage", "x"), "60 and 61 tokens"},
		"another template":                {pin(60, 115, "usage", "x"), pin(61, 116, "usage", "y"), ""},
		"template not known":              {pin(60, 115, "usage", ""), pin(61, 116, "usage", ""), ""},
		"no template in it":               {pin(60, 120, "tokenize", ""), pin(61, 121, "tokenize", ""), "60 and 61 tokens"},
		"the shares make up for it":       {pin(60, 115, "usage", "x"), pin(60, 116, "usage", "y"), "115 and 116 tokens"},
		"counted otherwise":               {pin(60, 115, "usage", "x"), pin(55, 110, "tokenize", "x"), ""},
		"one is not known":                {pin(60, 115, "usage", "x"), unknown, ""},
		"neither is known":                {unknown, unknown, ""},
		"not observed":                    {nil, pin(60, 115, "usage", "x"), ""},
	} {
		if got := OtherTokens(c.a, c.b); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
