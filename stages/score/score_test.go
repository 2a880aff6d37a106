package score

import (
	"errors"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/llm"
)

// itemOf reads an item from the fields that a case gives.
func itemOf(t testing.TB, scorer, fields string) *items.Item {
	t.Helper()
	var it items.Item
	line := `{"id":"i","input":"q","scorer":` + scorer + `,` + fields + `}`
	if err := items.Read(strings.NewReader(line), func(i items.Item) error { it = i; return nil }); err != nil {
		t.Fatalf("case %s: %v", fields, err)
	}
	return &it
}

func compiler(t testing.TB) *Compiler {
	t.Helper()
	c, err := NewCompiler(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// scoreText scores one text by an item.
func scoreText(t testing.TB, scorer, fields, text string) Score {
	t.Helper()
	f, err := compiler(t).Compile(itemOf(t, scorer, fields))
	if err != nil {
		t.Fatalf("case %s %s: %v", scorer, fields, err)
	}
	return f.Score(Output{Text: text})
}

func withParams(name, params string) string {
	return `{"name":"` + name + `","params":{` + params + `}}`
}

// scorerCase is one line of a scorer's table. issue names the public report of
// a wrong score that the case comes from.
type scorerCase struct {
	issue          string
	params, fields string
	text           string
	want           float64
	reason         string // part of it
}

func runCases(t *testing.T, name string, cases []scorerCase) {
	t.Helper()
	for _, tc := range cases {
		s := scoreText(t, withParams(name, tc.params), tc.fields, tc.text)
		if !s.Scored || s.Value != tc.want || !strings.Contains(s.Reason, tc.reason) {
			t.Errorf("%s %s {%s} %s %q: %+v, want %v %q", name, tc.issue, tc.params, tc.fields, tc.text, s, tc.want, tc.reason)
		}
	}
}

func TestExact(t *testing.T) {
	paris := `"answer":"Paris"`
	runCases(t, "exact", []scorerCase{
		{text: "Paris", fields: paris, want: 1, reason: `equals "Paris"`},
		{text: " Paris\n", fields: paris, want: 1, issue: "promptfoo trailing space"},
		{text: " Paris", params: `"trim":false`, fields: paris, want: 0},
		{text: "paris", fields: paris, want: 0, reason: `"paris", want "Paris"`},
		{text: "PARIS", params: `"ignore_case":true`, fields: paris, want: 1},
		{text: "STRASSE", params: `"ignore_case":true`, fields: `"answer":"straße"`, want: 1},
		{text: "cafe\u0301", fields: `"answer":"caf\u00e9"`, want: 1, issue: "promptfoo NFD"},
		{text: "\uff21\uff22", fields: `"answer":"AB"`, want: 0},
		{text: "\uff21\uff22", params: `"form":"nfkc"`, fields: `"answer":"AB"`, want: 1},
		{text: "Paris, France", fields: paris, want: 0},
		{text: "Paris.", params: `"ignore_punctuation":true`, fields: paris, want: 1},
		{text: "3.14", params: `"ignore_punctuation":true`, fields: `"answer":"314"`, want: 0, issue: "inspect #4620"},
		{text: "-5", params: `"ignore_punctuation":true`, fields: `"answer":"5"`, want: 0, issue: "inspect #3916"},
		{text: "!", params: `"ignore_punctuation":true`, fields: `"answer":"?"`, want: 0},
		{text: "A", params: `"ignore_articles":true`, fields: `"answer":"A"`, want: 1, issue: "HELM #4315"},
		{text: "the", params: `"ignore_articles":true`, fields: `"answer":"A"`, want: 0, issue: "HELM #2298"},
		{text: "the cat", params: `"ignore_articles":true`, fields: `"answer":"cat"`, want: 1},
		{text: "a  b", params: `"collapse_space":true`, fields: `"answer":"a b"`, want: 1},
		{text: "dog bites man", fields: `"answer":"man bites dog"`, want: 0, issue: "inspect word sets"},
		{text: "no no", fields: `"answer":"no"`, want: 0, issue: "inspect word sets, multiplicity"},
		{text: "two", fields: `"answer":["one","two"]`, want: 1},
		{text: "three", fields: `"answer":["one","two"]`, want: 0, reason: "none of 2 accepted"},
		{text: "null", fields: `"answer":["null"]`, want: 1},
	})
}

func TestNumeric(t *testing.T) {
	answer := func(n string) string { return `"answer":` + n }
	runCases(t, "numeric", []scorerCase{
		{text: "42", fields: answer("42"), want: 1, reason: "42"},
		{text: "Step 1: add. Result 42", fields: answer("42"), want: 1, issue: "seed: first number"},
		{text: "Step 1: add. Result 42", params: `"which":"first"`, fields: answer("1"), want: 1},
		{text: "1 or 42", params: `"which":"only"`, fields: answer("42"), want: 0, reason: "2 numbers"},
		{text: "10-3 = 7", fields: answer("7"), want: 1, issue: "seed"},
		{text: "7 = 10-3", fields: answer("3"), want: 1},
		{text: "1e5", fields: answer("100000"), want: 1, issue: "seed"},
		{text: ".5", fields: answer("0.5"), want: 1, issue: "seed"},
		{text: "−5", fields: answer("-5"), want: 1, issue: "seed U+2212"},
		{text: "–5", fields: answer("-5"), want: 1},
		{text: "1,5", fields: answer("15"), want: 0, reason: "no number", issue: "seed"},
		{text: "1,5", fields: answer("5"), want: 0},
		{text: "values 1, 2", fields: answer("2"), want: 1, issue: "seed"},
		{text: "72, in total,", fields: answer("72"), want: 1, issue: "HELM #4337"},
		{text: "10-20", fields: answer("1020"), want: 0, issue: "HELM #4337"},
		{text: "10–20", fields: answer("20"), want: 1},
		{text: "12:30", fields: answer("1230"), want: 0, issue: "HELM #4337"},
		{text: "5 6", fields: answer("56"), want: 0, issue: "HELM #4337"},
		{text: "$29.00", fields: answer("29"), want: 1, issue: "lm-eval #3214"},
		{text: "16.00", fields: answer("16"), want: 1, issue: "inspect #214"},
		{text: "16.00", fields: answer("4"), want: 0, issue: "inspect #214"},
		{text: "(42).", fields: answer("42"), want: 1, issue: "inspect #4742"},
		{text: "42!", fields: answer("42"), want: 1, issue: "inspect #4742"},
		{text: "(3.14)", fields: answer("3.14"), want: 1, issue: "inspect #4620"},
		{text: "25", fields: answer("5"), want: 0, issue: "inspect #3916"},
		{text: "-5", fields: answer("5"), want: 0, issue: "inspect #3916"},
		{text: "711", fields: answer("11"), want: 0, issue: "PostTrainBench #44"},
		{text: "2000000", fields: answer("1999999"), want: 0, issue: "inspect .5g"},
		{text: "123461", fields: answer("123456"), want: 0, issue: "inspect .5g"},
		{text: "9007199254740993", fields: answer("9007199254740992"), want: 0, issue: "promptfoo float64"},
		{text: "9007199254740993", fields: answer("9007199254740993"), want: 1},
		{text: "0.1", fields: answer("0.10000000000000000001"), want: 0},
		{text: "100 and 20%", fields: answer("20"), want: 1, issue: "inspect #1622"},
		{text: "20 %", params: `"percent":"fraction"`, fields: answer("0.2"), want: 1},
		{text: "100 and 20%", params: `"percent":"refuse"`, fields: answer("100"), want: 1},
		{text: "20\\%", params: `"percent":"fraction"`, fields: `"answer":"20%"`, want: 1, issue: "lm-eval #1204 one code path"},
		{text: "1,234,567", fields: answer("1234567"), want: 1},
		{text: "1'234", fields: answer("1234"), want: 1},
		{text: "1\u202f234", fields: answer("1234"), want: 1},
		{text: "1{,}234", fields: answer("1234"), want: 1},
		{text: "1,234,56", fields: answer("56"), want: 0},
		{text: "0,123", fields: answer("123"), want: 0},
		{text: "1234,567", fields: answer("567"), want: 0},
		{text: "1.2.3", fields: answer("3"), want: 0, reason: "no number"},
		{text: "-$5", fields: answer("-5"), want: 1},
		{text: "$-5", fields: answer("-5"), want: 1},
		{text: "€ 5", fields: answer("5"), want: 1},
		{text: "5€", fields: answer("5"), want: 1},
		{text: "\\$5", fields: answer("5"), want: 1},
		{text: "+5", fields: answer("5"), want: 1},
		{text: "- 5 apples", fields: answer("5"), want: 1},
		{text: "x=-5", fields: answer("-5"), want: 1},
		{text: "\\boxed{-42}", fields: answer("-42"), want: 1},
		{text: "**42**", fields: answer("42"), want: 1},
		{text: "答案是42个", fields: answer("42"), want: 1},
		{text: "４２", fields: answer("42"), want: 1},
		{text: "42kg", fields: answer("42"), want: 1},
		{text: "42 by GPT-4", fields: answer("42"), want: 1},
		{text: "42 H2O", fields: answer("42"), want: 1},
		{text: "42, the 3rd", fields: answer("42"), want: 1},
		{text: "5k", fields: answer("5"), want: 0},
		{text: "0x1F", fields: answer("1"), want: 0},
		{text: "2^10 = 1024", fields: answer("1024"), want: 1},
		{text: "2^10", fields: answer("10"), want: 0},
		{text: "1024 = 2^{10}", fields: answer("1024"), want: 1},
		{text: "5 m²", fields: answer("5"), want: 1},
		{text: "10²", fields: answer("10"), want: 0},
		{text: "1.5e-3", fields: answer("0.0015"), want: 1},
		{text: "1.5 × 10^5", fields: answer("150000"), want: 1},
		{text: "1.5x10^-3", fields: answer("0.0015"), want: 1},
		{text: "1.5 \\times 10^{5}", fields: answer("150000"), want: 1},
		{text: "2·10⁻²", fields: answer("0.02"), want: 1},
		{text: "5 x 10 = 50", fields: answer("50"), want: 1},
		{text: "3/4", fields: answer("4"), want: 0},
		{text: "3/4", params: `"fractions":true`, fields: answer("0.75"), want: 1},
		{text: "-1 1/2", params: `"fractions":true`, fields: answer("-1.5"), want: 1},
		{text: "1½", params: `"fractions":true`, fields: answer("1.5"), want: 1},
		{text: "½", fields: answer("0.5"), want: 0},
		{text: "-\\frac{1}{3}", params: `"fractions":true`, fields: `"answer":"-1/3"`, want: 1},
		{text: "\\frac{1}{3}", fields: answer("3"), want: 0},
		{text: "1/0", params: `"fractions":true`, fields: answer("0"), want: 0, reason: "no number"},
		{text: "2024/05/01", params: `"fractions":true`, fields: answer("1"), want: 0},
		{text: "41.5", params: `"tol":0.5`, fields: answer("42"), want: 1},
		{text: "41.49", params: `"tol":0.5`, fields: answer("42"), want: 0},
		{text: "41.5", fields: answer("42") + `,"tol":0.5`, want: 1},
		{text: "101", params: `"rtol":0.01`, fields: answer("100"), want: 1},
		{text: "1e999999999", fields: answer("1"), want: 0, reason: "out of range"},
		{text: strings.Repeat("9", 5000), fields: answer("9"), want: 0, reason: "out of range"},
		{text: "it is infinity or NaN", fields: answer("1"), want: 0, reason: "no number"},
		{text: "answer...5", fields: answer("5"), want: 1},
	})
}

const person = `"schema":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},"required":["name","age"],"additionalProperties":false}`

func TestJSONSchema(t *testing.T) {
	runCases(t, "json_schema", []scorerCase{
		{text: ` {"name":"x","age":3} `, fields: person, want: 1, reason: "valid"},
		{text: `{"name":"x","age":3.0}`, fields: person, want: 1, issue: "gorilla #1049"},
		{text: `{"name":"x","age":"3"}`, fields: person, want: 0, reason: "at /age: got string, want integer"},
		{text: `{"name":"x"}`, fields: person, want: 0, reason: "at the root: missing property 'age'"},
		{text: `{"name":"x","age":3,"z":1,"y":2}`, fields: person, want: 0, reason: "additional properties 'y', 'z' not allowed"},
		{text: "```json\n{\"name\":\"x\",\"age\":3}\n```", fields: person, want: 0, reason: "code fence"},
		{text: "```json\n{\"name\":\"x\",\"age\":3}\n```", params: `"extract":true`, fields: person, want: 1},
		{text: `Sure: {"name":"x","age":3}. Bye`, params: `"extract":true`, fields: person, want: 1},
		{text: `Sure: {"name":"x","age":3}`, fields: person, want: 0, reason: "not JSON at character"},
		{text: `{name: 1}`, fields: person, want: 0, reason: "not JSON at", issue: "promptfoo contains-json"},
		{text: `{"name":"x","age":3,}`, fields: person, want: 0, reason: "not JSON at", issue: "promptfoo contains-json"},
		{text: `{"name":"x","name":"y","age":3}`, fields: person, want: 0, reason: "a name occurs twice"},
		{text: `{"name":"x","age":3} {}`, fields: person, want: 0, reason: "text after the value"},
		{text: `{"name":"x","age":1e999999999}`, fields: person, want: 0, reason: "out of range"},
		{text: `{"name":"x","age":NaN}`, fields: person, want: 0, reason: "not JSON at"},
		{text: "\"\xff\"", fields: `"schema":true`, want: 0, reason: "invalid UTF-8"},
		{text: `1`, fields: `"schema":false`, want: 0, reason: "false schema"},
		{text: `"x"`, fields: `"schema":{"format":"email"}`, want: 1},
		{text: `"x"`, params: `"formats":true`, fields: `"schema":{"format":"email"}`, want: 0, reason: "email"},
		{text: `{"a":{"b":1}}`, fields: `"schema":{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","additionalProperties":{"$ref":"#/$defs/n"}}}}`, want: 0, reason: "at /a/b"},
	})
}

func TestJSONEqual(t *testing.T) {
	runCases(t, "json_equal", []scorerCase{
		{text: `{"b":[1,2],"a":null}`, fields: `"answer":{"a":null,"b":[1,2]}`, want: 1, reason: "equal"},
		{text: `1.0`, fields: `"answer":1`, want: 1, issue: "promptfoo 1.0"},
		{text: `1e0`, fields: `"answer":1`, want: 1},
		{text: `-0`, fields: `"answer":0`, want: 1},
		{text: `9007199254740993`, fields: `"answer":9007199254740992`, want: 0, issue: "promptfoo const"},
		{text: `true`, fields: `"answer":1`, want: 0, issue: "deepeval True == 1", reason: "the value: true, want 1"},
		{text: `1`, fields: `"answer":true`, want: 0},
		{text: `"1"`, fields: `"answer":1`, want: 0},
		{text: `{}`, fields: `"answer":{"a":null}`, want: 0, reason: "/a is missing"},
		{text: `{"a":null}`, fields: `"answer":{}`, want: 0, reason: "/a is not expected"},
		{text: `{"a":null}`, params: `"extra":true`, fields: `"answer":{}`, want: 1},
		{text: `[2,1]`, fields: `"answer":[1,2]`, want: 0, reason: "/0: 2, want 1"},
		{text: `[2,1]`, params: `"sets":true`, fields: `"answer":[1,2]`, want: 1},
		{text: `[1,1,2]`, params: `"sets":true`, fields: `"answer":[1,2,2]`, want: 0, issue: "multiplicity"},
		{text: `[{"a":1,"b":2},{"a":1}]`, params: `"sets":true,"extra":true`, fields: `"answer":[{"a":1},{"a":1,"b":2}]`, want: 1, issue: "greedy pairing would fail"},
		{text: `[1]`, fields: `"answer":[1,2]`, want: 0, reason: "has 1 elements, want 2"},
		{text: "\"cafe\u0301\"", fields: `"answer":"caf\u00e9"`, want: 1},
		{text: "{\"cafe\u0301\":1}", fields: `"answer":{"caf\u00e9":1}`, want: 1},
		{text: `"A "`, params: `"trim":true,"ignore_case":true`, fields: `"answer":"a"`, want: 1},
		{text: `"A "`, fields: `"answer":"A"`, want: 0},
		{text: "```\n[1]\n```", params: `"extract":true`, fields: `"answer":[1]`, want: 1},
		{text: `null`, fields: `"answer":null`, want: 1},
		{text: `{"a":{"x/y":[{"b":2}]}}`, fields: `"answer":{"a":{"x/y":[{"b":3}]}}`, want: 0, reason: "/a/x~1y/0/b: 2, want 3"},
	})
}

func TestRequiredFacts(t *testing.T) {
	facts := func(list string) string { return `"facts":` + list }
	runCases(t, "required_facts", []scorerCase{
		{text: "The cat sat.", fields: facts(`["cat","dog"]`), want: 0.5, reason: `1 of 2 facts; missing "dog"`},
		{text: "category", fields: facts(`["cat"]`), want: 0, issue: "seed substring"},
		{text: "category", params: `"substring":true`, fields: facts(`["cat"]`), want: 1},
		{text: "CAT", fields: facts(`["cat"]`), want: 1},
		{text: "CAT", params: `"match_case":true`, fields: facts(`["cat"]`), want: 0},
		{text: "new\n  york", fields: facts(`["New York"]`), want: 1},
		{text: "15", fields: facts(`["5"]`), want: 0},
		{text: "3.14", fields: facts(`["3"]`), want: 0},
		{text: "3.14", fields: facts(`["14"]`), want: 0},
		{text: "it is 3.", fields: facts(`["3"]`), want: 1},
		{text: "-5", fields: facts(`["5"]`), want: 0},
		{text: "A-5", fields: facts(`["5"]`), want: 1},
		{text: "category cat", fields: facts(`["cat"]`), want: 1},
		{text: "C++ and c", fields: facts(`["c++"]`), want: 1},
		{text: "私は東京に住む", fields: facts(`["東京"]`), want: 1},
		{text: "cafe\u0301", fields: facts(`["caf\u00e9"]`), want: 1},
		{text: "cafe\u0301", fields: facts(`["caf"]`), want: 0},
	})
}

func TestContains(t *testing.T) {
	runCases(t, "contains", []scorerCase{
		{text: "xPARISx", fields: `"answer":"PARIS"`, want: 1},
		{text: "paris", fields: `"answer":"PARIS"`, want: 0, reason: "0 of 1 texts"},
		{text: "paris", params: `"ignore_case":true`, fields: `"answer":"PARIS"`, want: 1},
		{text: "parisian", params: `"words":true`, fields: `"answer":"paris"`, want: 0},
	})
	runCases(t, "contains_all", []scorerCase{
		{text: "a b", fields: `"answer":["a","b"]`, want: 1},
		{text: "a", fields: `"answer":["a","b"]`, want: 0, reason: `missing "b"`},
	})
	runCases(t, "contains_any", []scorerCase{
		{text: "b", fields: `"answer":["a","b"]`, want: 1},
		{text: "c", fields: `"answer":["a","b"]`, want: 0},
	})
}

func TestChoice(t *testing.T) {
	b := `"answer":"B"`
	runCases(t, "choice", []scorerCase{
		{text: "B", fields: b, want: 1, reason: "B"},
		{text: "(B).", fields: b, want: 1},
		{text: "**B**", fields: b, want: 1},
		{text: "b", fields: b, want: 0, reason: "no choice"},
		{text: "A", fields: `"answer":"A"`, want: 1, issue: "HELM #4315"},
		{text: "A cat is B.", fields: b, want: 0, reason: "no choice"},
		{text: "The answer is A. No: the answer is B", fields: b, want: 1},
		{text: "Answer: (B)", fields: b, want: 1},
		{text: "The answer is Berlin", fields: b, want: 0, reason: "no choice"},
		{text: "\\boxed{B}", fields: b, want: 1},
		{text: "C", fields: b, want: 0, reason: "C, want B"},
		{text: "E", fields: b, want: 0, reason: "no choice"},
		{text: "E", params: `"letters":"ABCDE"`, fields: `"answer":"E"`, want: 1},
		{text: "pick=B", params: `"pattern":"pick=([A-D])"`, fields: b, want: 1},
	})
	runCases(t, "regex", []scorerCase{
		{text: "order 123", fields: `"answer":"\\d{3}"`, want: 1},
		{text: "order 123", params: `"whole":true`, fields: `"answer":"\\d{3}"`, want: 0, reason: "no match"},
		{text: " 123\n", params: `"whole":true`, fields: `"answer":"\\d{2}|\\d{3}"`, want: 1},
		{text: "ABC", params: `"ignore_case":true`, fields: `"answer":["x","b"]`, want: 1},
	})
}

// The article's scorers, with the values that they give in Python.
func TestCompat(t *testing.T) {
	runCases(t, "compat/numeric", []scorerCase{
		{text: "Step 1: ... 42", fields: `"answer":1`, want: 1},
		{text: "10-3 = 7", fields: `"answer":10`, want: 1},
		{text: "1e5", fields: `"answer":1`, want: 1},
		{text: ".5", fields: `"answer":5`, want: 1},
		{text: "−5", fields: `"answer":5`, want: 1},
		{text: "1,5", fields: `"answer":15`, want: 1, reason: "15"},
		{text: "values 1, 2", fields: `"answer":1`, want: 1},
		{text: "0.1", fields: `"answer":0.1000005`, want: 1},
		{text: "0.1", fields: `"answer":0.1000005,"tol":0`, want: 0},
		{text: "none", fields: `"answer":1`, want: 0, reason: "no number"},
		{text: "٤٢", fields: `"answer":42`, want: 1},
		{text: strings.Repeat("9", 400), fields: `"answer":1`, want: 0},
	})
	runCases(t, "compat/required_facts", []scorerCase{
		{text: "Category", fields: `"facts":["CAT","dog"]`, want: 0.5, reason: "1/2"},
		{text: "", fields: `"facts":[""]`, want: 1},
	})
	runCases(t, "compat/json_schema", []scorerCase{
		{text: `{"name":"x","name":"y","age":3}`, fields: person, want: 1, reason: "valid"},
		{text: "```{}```", fields: person, want: 0, reason: "invalid: "},
		{text: `{"name":1,"age":3}`, fields: person, want: 0, reason: "invalid: at /name"},
		{text: ``, fields: person, want: 0, reason: "invalid: "},
	})
}

// What every scorer makes of nothing: no scorer gives a value above 0 for an
// empty answer, unless nothing is what is expected.
func TestEmptyOutput(t *testing.T) {
	for _, tc := range []struct {
		scorer, fields string
		want           float64
	}{
		{`"exact"`, `"answer":"x"`, 0},
		{`"numeric"`, `"answer":0`, 0},
		{`"contains"`, `"answer":"x"`, 0},
		{`"choice"`, `"answer":"A"`, 0},
		{`"regex"`, `"answer":"x"`, 0},
		{`"contains_all"`, `"answer":["x"]`, 0},
		{`"contains_any"`, `"answer":["x"]`, 0},
		{`"required_facts"`, `"facts":["x"]`, 0},
		{`"json_schema"`, `"schema":true`, 0},
		{`"json_equal"`, `"answer":""`, 0},
		{`"tool_call"`, `"expect_tool":{"name":"f"}`, 0},
		{`"tool_call"`, `"expect_tool":[]`, 1},
		{`"compat/json_schema"`, `"schema":true`, 0},
		{`"compat/numeric"`, `"answer":0`, 0},
		{`"compat/required_facts"`, `"facts":["x"]`, 0},
	} {
		for _, text := range []string{"", " \n"} {
			if s := scoreText(t, tc.scorer, tc.fields, text); !s.Scored || s.Value != tc.want || s.Reason == "" {
				t.Errorf("%s %s %q: %+v, want %v", tc.scorer, tc.fields, text, s, tc.want)
			}
		}
	}
}

// Items that no answer can be scored against are errors, not zeros.
func TestItemErrors(t *testing.T) {
	for _, tc := range []struct{ scorer, fields, want string }{
		{`"exact"`, `"answer":""`, `"answer" holds an empty text`},
		{`"exact"`, `"answer":[]`, `"answer" is an empty list`},
		{`"exact"`, `"answer":["a","a"]`, `"answer" holds "a" twice`},
		{`"exact"`, `"answer":4`, "want a string or a list of strings; numbers are compared by the scorer numeric"},
		{`"exact"`, `"answer":["a",null]`, "want a string or a list of strings"},
		{`"exact"`, `"facts":["a"]`, `the item has no "answer"`},
		{`"numeric"`, `"answer":"1 or 2"`, "holds 2 numbers, want one"},
		{`"numeric"`, `"answer":"x"`, "holds 0 numbers"},
		{`"numeric"`, `"answer":null`, "want a number"},
		{`"numeric"`, `"answer":1e99999`, "out of range"},
		{`"required_facts"`, `"facts":[]`, `"facts" is an empty list`},
		{`"required_facts"`, `"facts":["a"," "]`, "empty text"},
		{`"required_facts"`, `"facts":["a","A"]`, `holds "a" twice`},
		{`"contains"`, `"answer":["a","b"]`, "use contains_all or contains_any"},
		{`"json_schema"`, `"answer":1`, `the item has no "schema"`},
		{`"json_schema"`, `"schema":{"type":"objekt"}`, "not a JSON Schema: at /type"},
		{`"json_schema"`, `"schema":{"$ref":"file:///etc/passwd"}`, "may not refer to another document"},
		{`"json_schema"`, `"schema":{"$ref":"https://127.0.0.1/x"}`, "may not refer to another document"},
		{`"json_schema"`, `"schema":{"pattern":"("}`, "schema"},
		{`"choice"`, `"answer":"E"`, `"answer" "E" is not one of the letters ABCD`},
		{withParams("choice", `"pattern":"x"`), `"answer":"A"`, "one group"},
		{withParams("choice", `"letters":"AA"`), `"answer":"A"`, "letters"},
		{`"regex"`, `"answer":"("`, "missing closing )"},
		{`"regex"`, `"answer":"x*"`, "matches an empty answer"},
		{`"json_equal"`, `"facts":["a"]`, `the item has no "answer"`},
		{`"tool_call"`, `"answer":1`, `the item has no "expect_tool"`},
		{`"compat/required_facts"`, `"facts":[]`, `"facts" is missing or empty`},
		{`"compat/numeric"`, `"answer":"4"`, "want a number"},
		{`"exakt"`, `"answer":"x"`, `unknown scorer "exakt"; known: choice, code, compat/json_schema,`},
		{withParams("exact", `"trimm":true`), `"answer":"x"`, `unknown parameter "trimm"; known: collapse_space, form,`},
		{withParams("exact", `"trim":1`), `"answer":"x"`, "parameter trim: 1 is not a boolean"},
		{withParams("exact", `"trim":null`), `"answer":"x"`, "parameter trim is null"},
		{withParams("exact", `"form":"NFC"`), `"answer":"x"`, `parameter form: "NFC" is not one of nfc, nfkc`},
		{withParams("numeric", `"which":"middle"`), `"answer":1`, "which"},
		{withParams("numeric", `"tol":"1"`), `"answer":1`, `parameter tol: "1" is not a number`},
		{withParams("numeric", `"tol":-1`), `"answer":1`, "tol: -1 is negative"},
		{withParams("compat/numeric", `"x":1`), `"answer":1`, `unknown parameter "x"; there is none`},
	} {
		_, err := compiler(t).Compile(itemOf(t, tc.scorer, tc.fields))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %s: %v, want %q", tc.scorer, tc.fields, err, tc.want)
		}
	}
}

func call1(name, args string) llm.ToolCall { return llm.ToolCall{Name: name, Arguments: args} }

func TestToolCall(t *testing.T) {
	weather := `"expect_tool":{"name":"weather","arguments":{"city":"Oslo","days":2}}`
	two := `"expect_tool":[{"name":"f","arguments":{"a":1,"b":1}},{"name":"f","arguments":{"a":1,"b":2}}]`
	for _, tc := range []struct {
		issue, params, fields, text string
		calls                       []llm.ToolCall
		want                        float64
		reason                      string
	}{
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"days":2.0,"city":"Oslo"}`)}, want: 1, reason: "1 of 1 calls"},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"days":"2","city":"Oslo"}`)}, want: 0, reason: `weather: days: "2", want 2`},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"days":3,"city":"Oslo"}`)}, params: `"partial":true`, want: 0.5},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"city":"Oslo"}`)}, want: 0, reason: "argument days is missing"},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"city":"Oslo","days":2,"unit":"C"}`)}, want: 0, reason: "argument unit is not expected"},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"city":"Oslo","days":2,"unit":"C"}`)}, params: `"extra_args":true`, want: 1},
		{fields: weather, calls: []llm.ToolCall{call1("wether", `{"city":"Oslo","days":2}`)}, want: 0, reason: "missing call weather; extra call wether"},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"city":"Oslo",`)}, want: 0, reason: "arguments are not JSON"},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"city":"Oslo","city":"Rome","days":2}`)}, want: 0, reason: "a name occurs twice"},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"days":1,"city":"x"}`)}, params: `"partial":true`, want: 0},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"city":"Oslo","days":2}`), call1("weather", `{"city":"Oslo","days":2}`)}, want: 0, reason: "extra call weather"},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"city":"Oslo","days":2}`), call1("log", `{}`)}, params: `"extra_calls":true`, want: 1},
		{fields: weather, calls: []llm.ToolCall{call1("weather", `{"city":"Oslo","days":2}`), call1("log", `{}`)}, params: `"partial":true`, want: 0.5},
		{fields: `"expect_tool":{"name":"f","arguments":{"x":1}}`, calls: []llm.ToolCall{call1("f", `{"x":true}`)}, want: 0, issue: "deepeval True == 1"},
		{fields: `"expect_tool":{"name":"f","arguments":{"x":9007199254740993}}`, calls: []llm.ToolCall{call1("f", `{"x":9007199254740992}`)}, want: 0},
		{fields: `"expect_tool":{"name":"f","arguments":{"x":[1.5,2.0]}}`, calls: []llm.ToolCall{call1("f", `{"x":[1.5,2]}`)}, want: 1, issue: "gorilla #1049"},
		{fields: `"expect_tool":{"name":"f"}`, calls: []llm.ToolCall{call1("f", `{"x":true}`)}, want: 1},
		{fields: `"expect_tool":{"name":"f","arguments":{}}`, calls: []llm.ToolCall{call1("f", ``)}, want: 1},
		{fields: `"expect_tool":{"name":"f","arguments":{}}`, calls: []llm.ToolCall{call1("f", `{"x":1}`)}, want: 0},
		{fields: two, calls: []llm.ToolCall{call1("f", `{"a":1,"b":2}`), call1("f", `{"a":1,"b":1}`)}, want: 1, issue: "deepeval #3338: greedy depends on order"},
		{fields: two, calls: []llm.ToolCall{call1("f", `{"a":1,"b":2}`), call1("f", `{"a":1,"b":1}`)}, params: `"order":true`, want: 0},
		{fields: two, calls: []llm.ToolCall{call1("f", `{"a":1,"b":2}`), call1("f", `{"a":1,"b":9}`)}, params: `"partial":true`, want: 0.75},
		{fields: two, calls: []llm.ToolCall{call1("f", `{"a":1,"b":9}`), call1("f", `{"a":1,"b":2}`)}, params: `"partial":true`, want: 0.75, issue: "deepeval #3338"},
		{fields: `"expect_tool":[{"name":"f"},{"name":"f"}]`, calls: []llm.ToolCall{call1("f", `{}`), call1("f", `{}`)}, want: 1, issue: "deepeval #3141"},
		{fields: `"expect_tool":[{"name":"f"},{"name":"f"}]`, calls: []llm.ToolCall{call1("f", `{}`)}, params: `"partial":true`, want: 0.5, issue: "deepeval #3141"},
		{fields: `"expect_tool":{"name":"f"}`, text: "I would call f", want: 0, issue: "deepeval #2243", reason: "no tool call"},
		{fields: weather, text: `{"tool":"weather","args":{"city":"Oslo","days":2}}`, want: 1},
		{fields: weather, text: `{"name":"weather","arguments":{"city":"Oslo","days":2}}`, want: 1},
		{fields: weather, text: `[{"name":"weather","arguments":{"city":"Oslo","days":2}}]`, want: 1},
		{fields: weather, text: `{"tool":"weather","name":"weather","args":{"city":"Oslo","days":2}}`, want: 0, reason: "not both"},
		{fields: weather, text: `{"tool":"weather","args":"{}"}`, want: 0, reason: "has no arguments"},
		{fields: weather, text: `{"tool":"weather","args":{},"x":1}`, want: 0, reason: `the name "x"`},
		{fields: weather, text: `Sure! {"tool":"weather","args":{"city":"Oslo","days":2}}`, want: 0, reason: "not JSON"},
		{fields: weather, text: `{"tool":"weather","args":{"city":"Oslo","days":2}}`, params: `"text":false`, want: 0, reason: "missing call weather"},
		{fields: `"expect_tool":[]`, text: "The weather is fine.", want: 1, reason: "no tool was called"},
		{fields: `"expect_tool":[]`, text: `{"tool":"weather","args":{}}`, want: 0, reason: "extra call weather"},
		{fields: `"expect_tool":[]`, calls: []llm.ToolCall{call1("f", `{}`)}, params: `"partial":true`, want: 0},
	} {
		f, err := compiler(t).Compile(itemOf(t, withParams("tool_call", tc.params), tc.fields))
		if err != nil {
			t.Fatal(err)
		}
		s := f.Score(Output{Text: tc.text, ToolCalls: tc.calls})
		if !s.Scored || s.Value != tc.want || !strings.Contains(s.Reason, tc.reason) {
			t.Errorf("%s {%s} %s %q %v: %+v, want %v %q", tc.issue, tc.params, tc.fields, tc.text, tc.calls, s, tc.want, tc.reason)
		}
	}
}

func TestScorerListTakesTheMinimum(t *testing.T) {
	fields := `"answer":"cat","facts":["cat","dog"]`
	list := `["contains","required_facts"]`
	s := scoreText(t, list, fields, "cat")
	if !s.Scored || s.Value != 0.5 || !strings.HasPrefix(s.Reason, "required_facts: ") {
		t.Errorf("minimum: %+v", s)
	}
	if s := scoreText(t, list, fields, "cat dog"); s.Value != 1 {
		t.Errorf("all hold: %+v", s)
	}
}

func TestOverridesGoOverTheItem(t *testing.T) {
	c, err := NewCompiler(map[string]map[string]any{"numeric": {"tol": 1.5}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Compile(itemOf(t, withParams("numeric", `"tol":0,"which":"first"`), `"answer":10,"tol":0.5`))
	if err != nil {
		t.Fatal(err)
	}
	if s := f.Score(Output{Text: "11.5 or 99"}); s.Value != 1 {
		t.Errorf("the override's tol and the item's which: %+v", s)
	}
	if _, err := NewCompiler(map[string]map[string]any{"nope": {}}); err == nil {
		t.Error("an unknown scorer was accepted")
	}
}

func TestScorerErrorHasNoValue(t *testing.T) {
	for name, f := range map[string]Func{
		"panic":   func(Output) (float64, string, error) { panic("x") },
		"above 1": func(Output) (float64, string, error) { return 1.5, "", nil },
		"error":   func(Output) (float64, string, error) { return 1, "", errors.New("x") },
	} {
		if s := run(f, Output{}); s.Scored || !strings.HasPrefix(s.Reason, ScorerError) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestEveryScorerIsDocumented(t *testing.T) {
	for _, s := range Scorers {
		if s.Version < 1 || s.Doc == "" {
			t.Errorf("%s has no version or no text", s.Name)
		}
		for _, p := range s.Params {
			if p.Doc == "" || p.Name == "" || p.Default == "" {
				t.Errorf("%s: parameter %+v is not documented", s.Name, p)
			}
		}
	}
	if len(byName) != len(Scorers) {
		t.Error("two scorers share a name")
	}
}
