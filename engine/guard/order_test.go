package guard

import (
	"errors"
	"strings"
	"testing"
)

// A number is compared as a number: as a text, 110 comes before 98.
func TestNumbersAreNotComparedAsTexts(t *testing.T) {
	const text, order = "makes a text of a number", "only numbers have an order here"
	for rule, want := range map[string]string{
		"string(c.g.cell.w) <= string(b.g.cell.w)":                    text,
		"string(c.g.cell.w) == string(b.g.cell.w)":                    text,
		"string(c.rate) <= string(b.rate)":                            text, // with an id or without
		"string(c.rate) < '5'":                                        text,
		"string(c.rate).size() <= string(b.rate).size()":              text,
		"size(string(c.rate)) <= size(string(b.rate))":                text,
		"string(c.rate).matches('^[0-9][.]')":                         text,
		"string(c.rate).startsWith('1')":                              text,
		"string(c.rate) in ['1', '2']":                                text,
		"double(string(c.rate)) < 2.0":                                text,
		"bytes(string(c.rate)) <= bytes(string(b.rate))":              text,
		"bytes(c.name) <= bytes(b.name)":                              order,
		"string(timestamp(int(c.rate))) <= 'x'":                       order,
		"string(timestamp(int(c.rate))) == 'x'":                       text,
		"string(duration(string(c.rate) + 's')) == 'x'":               text,
		"string(int(c.rate)) == string(int(b.rate))":                  text,
		"string(uint(c.rate)) == '1'":                                 text,
		"timestamp(int(c.rate)) <= timestamp(int(b.rate))":            order,
		"duration('3s') < duration('4s') && c.rate < 1.0":             order,
		"c.name < b.name":                                             order,
		"c.name <= 'x'":                                               order,
		"(c.rate < 1.0) < (b.rate < 1.0)":                             order,
		"[c.name].exists(x, x < 'b')":                                 order,
		"[c.rate].map(x, string(x)).exists(s, s == '1')":              text,
		"[c.rate].exists(x, string(x) <= '5')":                        order,
		"[c.rate].exists(x, string(x) == '5')":                        text,
		"{'a': string(c.rate)}['a'] < 'b'":                            order,
		"(n > 1.0 ? string(c.rate) : 'a') < 'b'":                      order,
		"c.g.cell.w <= b.g.cell.w && string(c.rate) <= string(1.0)":   text,
		"dyn(c.rate) < dyn(b.rate)":                                   "no type that could be checked",
		"c.name == b.name && string(c.name) != ''":                    "",
		"string(c.rate < 1.0) == 'true'":                              "",
		"c.rate <= b.rate && int(c.rate) <= 3 && size(c.name) < 4":    "",
		"uint(c.rate) < 5u && double('3.5') > c.rate && c.rate <= 5":  "",
		"c.name.startsWith('x') && bytes(c.name) == b'x' && n != 1.0": "",
	} {
		rule = spelled.Replace(rule)
		_, err := idEnv(t).Compile(rule)
		var ce *CompileError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", rule, err)
		case want != "" && (!errors.As(err, &ce) || !strings.Contains(ce.Error()+ce.Problems[len(ce.Problems)-1].Msg, want)):
			t.Errorf("%s: %v, want %s", rule, err, want)
		}
	}
}

func TestATextOfANumberHasAPlace(t *testing.T) {
	_, err := idEnv(t).Compile("n > 1.0 &&\n  candidate.rate == double(string(baseline.rate))")
	var ce *CompileError
	if !errors.As(err, &ce) || len(ce.Problems) != 1 {
		t.Fatal(err)
	}
	if p := ce.Problems[0]; p.Line != 2 || ce.Caret(p) != "  candidate.rate == double(string(baseline.rate))\n                                 ^" ||
		p.Sentence() != `string() of a double makes a text of a number, and texts compare by their characters: "110" comes before "98"; compare the number itself` {
		t.Errorf("%+v\n%s", p, ce.Caret(p))
	}
}
