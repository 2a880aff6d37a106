package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/items"
)

func TestSchemaFindings(t *testing.T) {
	for _, tt := range []struct{ schema, code, text string }{
		{`{"type":"string"}`, "", ""},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":false},"required":["a"],"additionalProperties":false}`, "", ""},
		{`{"type":"object","required":["x-1"],"patternProperties":{"^x-":{}},"additionalProperties":false}`, "", ""},
		{`{"minLength":5,"maxLength":3}`, "", ""}, // a number satisfies it
		{`{"minimum":0,"maximum":0,"type":"integer"}`, "", ""},
		{`{"enum":["a",1],"type":"string"}`, "", ""},
		{`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"required":["next"]}}}`, "", ""}, // not decided
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/s","type":"integer","definitions":{"s":{"type":"string"}}}`, "", ""},

		{`true`, CodeVacuous, "accepts every"},
		{`{"title":"x"}`, CodeVacuous, "accepts every"},
		{`false`, CodeSchema, "the schema is false"},
		{`{"type":"object","required":["a"],"additionalProperties":false}`, CodeSchema, `the schema requires "a", which additionalProperties: false forbids`},
		{`{"type":"object","properties":{"a":{"type":"string","enum":[1,2]}},"required":["a"]}`, CodeSchema, `requires "a", and /properties/a accepts none of the values`},
		{`{"type":"object","properties":{"a":{"type":"string","enum":[1,2]}}}`, CodeUnreachable, "no value reaches /properties/a: accepts none"},
		{`{"const":1,"type":"string"}`, CodeSchema, "accepts none"},
		{`{"enum":[]}`, CodeSchema, "accepts none"},
		{`{"type":"string","minLength":5,"maxLength":3}`, CodeSchema, "has minLength above maxLength"},
		{`{"type":"array","minItems":2,"maxItems":1}`, CodeSchema, "has minItems above maxItems"},
		{`{"type":"number","minimum":2,"maximum":1}`, CodeSchema, "has a minimum above its maximum"},
		{`{"type":"number","minimum":1,"exclusiveMaximum":1}`, CodeSchema, "has a minimum above its maximum"},
		{`{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2}`, CodeSchema, "has no whole number"},
		{`{"type":"integer","minimum":0.2,"maximum":0.8}`, CodeSchema, "has no whole number"},
		{`{"allOf":[{"type":"string"},{"type":"integer"}]}`, CodeSchema, "allOf that wants different types"},
		{`{"type":"object","allOf":[{"type":"string"}]}`, CodeSchema, "allOf that wants different types"},
		{`{"anyOf":[false,{"type":"string","const":1}]}`, CodeSchema, "no branch of anyOf"},
		{`{"oneOf":[{"type":"string"},{"type":"integer","minimum":3,"maximum":1}]}`, CodeUnreachable, "/oneOf/1: has a minimum above"},
		{`{"not":{}}`, CodeSchema, "excludes everything"},
		{`{"type":"object","properties":{"a":{}},"additionalProperties":false,"minProperties":2}`, CodeSchema, "wants 2 properties, and 1 are possible"},
		{`{"type":"object","required":["a","b"],"maxProperties":1}`, CodeSchema, "requires 2 properties, and maxProperties is 1"},
		{`{"type":"array","items":{"type":"string","const":1},"minItems":1}`, CodeSchema, "wants 1 elements, and /items accepts none"},
		{`{"type":"array","prefixItems":[{},false],"minItems":2}`, CodeSchema, "/prefixItems/1 is false"},
		{`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"string","enum":[1]}}}`, CodeSchema, "/$defs/a~1b accepts none"},
	} {
		var codes, texts []string
		for _, f := range SchemaFindings([]byte(tt.schema)) {
			codes, texts = append(codes, f.Code), append(texts, f.Text)
		}
		if strings.Join(codes, " ") != tt.code || !strings.Contains(strings.Join(texts, " "), tt.text) {
			t.Errorf("%s\n got %v %q\nwant %s %q", tt.schema, codes, texts, tt.code, tt.text)
		}
	}
}

// TestSchemaCost: references that double at every level are followed once.
func TestSchemaCost(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%[2]d"}]},`, i, i+1)
	}
	if got := SchemaFindings([]byte(`{"$ref":"#/$defs/d0","$defs":{` + b.String() + `"d60":{"type":"string","const":1}}}`)); len(got) != 1 || got[0].Code != CodeSchema {
		t.Error(got)
	}
}

// FuzzSchemaFindings: what is called impossible accepts none of these values.
func FuzzSchemaFindings(f *testing.F) {
	for _, s := range []string{`{"type":"string","enum":[1]}`, `{"allOf":[{"$ref":"#"}]}`, `{"oneOf":[{"minimum":1e400}]}`, `{"type":["null","x"],"not":{"a":1}}`, `{"items":[{}],"minItems":1.5}`} {
		f.Add([]byte(s), "1")
	}
	f.Fuzz(func(t *testing.T, schema []byte, value string) {
		found := SchemaFindings(schema)
		if len(found) == 0 || found[0].Code != CodeSchema {
			return
		}
		doc, v := fromJSON(string(schema)), fromJSON(value)
		sch := compileSchema(doc)("")
		if sch == nil || strings.Contains(string(schema), "$schema") {
			return
		}
		for _, v := range []any{v, nil, true, "x", map[string]any{}, []any{}} {
			if sch.Validate(v) == nil {
				t.Fatalf("%s accepts %v: %v", schema, v, found)
			}
		}
	})
}

func TestChoices(t *testing.T) {
	for _, tt := range []struct {
		input, answer string
		want          []string
	}{
		{"Which?\nA) red\nB) blue\nC) green", "B", nil},
		{"Which?\nA) red\nB) Red.\nC) green", "C", []string{"options A and B say the same"}},
		{"Which? (A) one (B) two (C) one", "A", []string{"options A and C say the same"}},
		{"Which?\nA. x\nB. y", "C", []string{"the answer is C, and the options are AB"}},
		{"Q1\nA: a\nB: b\nAnswer: A\nQ2\nA: c\nB: c", "A", []string{"options A and B say the same"}},
		{"Q1\nA: a\nB: b\nC: c\nAnswer: C\nQ2\nA: d\nB: e", "C", []string{"the answer is C, and the options are AB"}},
		{"Is A. Smith right?", "A", nil},
	} {
		it := items.Item{ID: "i", Input: items.Input{{Role: "user", Content: tt.input}}, Scorer: items.Scorers{{Name: "choice"}}, Answer: []byte(`"` + tt.answer + `"`)}
		var got []string
		for _, f := range choices(&it) {
			got = append(got, f.Text)
		}
		if !cmp.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.input, got, tt.want)
		}
	}
}

func TestLeaks(t *testing.T) {
	instruction := "Answer the following question with one word only and give no explanation at all. "
	l := NewLeaks()
	for i := range 100 {
		it := items.Item{ID: fmt.Sprint("i", i), Input: items.Input{{Role: "user", Content: instruction + fmt.Sprintf("In which town of region %d is the bridge named after person %d?", i, i*7)}}}
		l.Add(&it)
	}
	short := items.Item{ID: "short", Input: items.Input{{Role: "user", Content: "Capital of Chad?"}}}
	l.Add(&short)
	for _, tt := range []struct {
		name, file, text string
		want             []string
	}{
		{"nothing", "p.txt", "Be brief and say what the weather is.", nil},
		{"the instruction that all share", "p.txt", instruction, nil},
		{"exact", "p.txt", "Example: " + instruction + "In which town of region 3 is the bridge named after person 21? Answer: X", []string{"i3"}},
		{"other case and spacing", "p.txt", "in which TOWN of\nregion 3 — is the bridge named after person 21?!", []string{"i3"}},
		{"few-shot in JSON lines, escaped", "shots.jsonl", `{"messages":[{"role":"user","content":"In wh\u0069ch town of region 5 is\nthe bridge named after person 35?"}]}`, []string{"i5"}},
		{"a campaign", "c.yaml", "candidates:\n  a:\n    systemPrompt: >\n      In which town of region 9\n      is the bridge named after person 63?\n", []string{"i9"}},
		{"JSON inside of JSON", "log.json", `{"body":"{\"q\":\"In which town of region 6 is the bridge named after\\u0020person 42?\"}"}`, []string{"i6"}},
		{"another of the same form", "p.txt", "In which town of region 300 is the bridge named after person 2100?", nil},
		{"short, alone on a line", "p.txt", "Q: x\ncapital of chad\nA: N'Djamena", []string{"short"}},
		{"short, inside a sentence", "p.txt", "Tell me the capital of Chad and of Mali please.", nil},
		{"not the YAML that it says", "c.yaml", "a: [\nIn which town of region 8 is the bridge named after person 56?", []string{"i8"}},
	} {
		texts := NewTexts()
		if err := texts.AddFile(newTmp(t).write(tt.file, tt.text)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, leak := range l.In(texts) {
			got = append(got, leak.ID)
		}
		if !cmp.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("a: *x\n- &x", uint8(0))
	f.Add(`{"a":"[\"{\\\"`, uint8(1))
	f.Fuzz(func(t *testing.T, text string, kind uint8) {
		texts := NewTexts()
		if err := texts.AddFile(newTmp(t).write([]string{"x.yaml", "x.jsonl", "x.txt"}[kind%3], text)); err != nil {
			t.Fatal(err)
		}
		l := NewLeaks()
		it := items.Item{ID: "i", Input: items.Input{{Role: "user", Content: text}}}
		l.Add(&it)
		if found := l.In(texts); kind%3 == 2 && len(words(text)) > 0 && len(found) != 1 {
			t.Fatalf("a text is not found in itself: %q", text)
		}
	})
}

func TestLintRun(t *testing.T) {
	d := newTmp(t)
	d.write("items.jsonl", strings.Join([]string{
		`{"id":"a","input":"What is  one?","scorer":"exact","answer":"1"}`,
		`{"id":"b","input":"what is ONE?","scorer":"exact","answer":"1"}`,
		`{"id":"c","input":"What is one?","scorer":"exact","answer":"2"}`,
		`{"id":"d","input":"q d","scorer":"exact","answer":" "}`,
		`{"id":"e","input":"q e","scorer":"exact","answer":["x",""]}`,
		`{"id":"f","input":"q f","scorer":"required_facts","facts":["x",""]}`,
		`{"id":"g","input":"q g","scorer":"json_equal","answer":[]}`,
		`{"id":"a","input":"q h","scorer":"exact","answer":"x"}`,
		`{"id":"i","input":"q i","answer":"x"}`,
		`{"id":"j","input":"q j","scorer":"json_schema","schema":{"type":"object","required":["a"],"additionalProperties":false}}`,
	}, "\n"))
	var seen []string
	l := Linter{Seen: func(it *items.Item, heldOut bool) { seen = append(seen, it.ID) }}
	if err := l.Run(d.open("items.jsonl"), nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range l.List() {
		got = append(got, f.Code+" "+strings.Join(f.IDs, ","))
	}
	want := []string{"conflict a,c", "duplicate a,b", "empty-reference d", "empty-reference e", "empty-reference f", "line ", "line ", "schema-impossible j"}
	if !cmp.Equal(got, want) || l.Wrong != len(want) || len(seen) != 8 {
		t.Errorf("%d %v\n%s", l.Wrong, seen, cmp.Diff(want, got))
	}
}

func TestFindingsBound(t *testing.T) {
	var f Findings
	for range 50 {
		f.Add(Finding{Code: CodeNear, Warning: true})
	}
	f.Add(Finding{Code: CodeSelf})
	if l := f.List(); len(l) != MaxFindings+1 || l[0].Code != CodeSelf || f.Counts()[CodeNear] != 50 || f.Wrong != 1 {
		t.Errorf("%d %v %d", len(l), f.Counts(), f.Wrong)
	}
}
