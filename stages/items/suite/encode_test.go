package suite

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/items"
)

func parse(t testing.TB, text string) items.Item {
	t.Helper()
	var one items.Item
	if err := items.Read(strings.NewReader(text), func(it items.Item) error { one = it; return nil }); err != nil {
		t.Fatal(err)
	}
	return one
}

func TestEncode(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"answer": 1.0, "id":"a","scorer":{"name":"numeric"},"input":[{"role":"user","content":"a<b & ü"}]}`,
			`{"id":"a","input":"a<b & ü","scorer":"numeric","answer":1.0}`},
		{`{"id":"a","input":"q","scorer":["exact",{"name":"numeric","params":{"tol":0.50}}],"answer":null,"expect_tool":[]}`,
			`{"id":"a","input":"q","scorer":["exact",{"name":"numeric","params":{"tol":0.50}}],"answer":null,"expect_tool":[]}`},
		{`{"id":"a","input":[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"id": "1"}]},{"role":"tool","content":"","tool_call_id":"1"}],"scorer":"tool_call","expect_tool":{"name":"f","arguments":{}},"facts":[]}`,
			`{"id":"a","input":[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"id":"1"}]},{"role":"tool","content":"","tool_call_id":"1"}],"scorer":"tool_call","facts":[],"expect_tool":[{"name":"f","arguments":{}}]}`},
		{`{"id":"a","strata":{"z":"1","a":"2"},"input":"q","system":"s","tools":[ ],"scorer":"exact","answer":"x","tol":1e-3,"schema":{"type": "object"},"source":"log","weight":0.25,"cluster":"c"}`,
			`{"id":"a","strata":{"a":"2","z":"1"},"input":"q","tools":[],"system":"s","scorer":"exact","answer":"x","tol":1e-3,"schema":{"type":"object"},"source":"log","weight":0.25,"cluster":"c"}`},
	} {
		it := parse(t, tt.in)
		got, err := Encode(&it)
		if err != nil || string(got) != tt.want+"\n" {
			t.Errorf("%v\n got %s\nwant %s", err, got, tt.want)
		}
	}
}

// TestEncodeKnowsAllFields: a field that an item gets later is written, compared
// and, in a diff, named.
func TestEncodeKnowsAllFields(t *testing.T) {
	names := func(typ reflect.Type) (out []string) {
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			out = append(out, name)
		}
		return out
	}
	want := names(reflect.TypeFor[items.Item]())
	if got := names(reflect.TypeFor[line]()); !cmp.Equal(got, want) {
		t.Errorf("line and items.Item differ: %s", cmp.Diff(want, got))
	}
	diffed := []string{"id"}
	for _, f := range fields {
		diffed = append(diffed, f.name)
	}
	if !cmp.Equal(diffed, want) {
		t.Errorf("diff and items.Item differ: %s", cmp.Diff(want, diffed))
	}
}

// FuzzEncode: what an item says survives writing and reading, and writing is
// the same for the same item.
func FuzzEncode(f *testing.F) {
	f.Add(`{"id":"a","input":"q","scorer":"exact","answer":"x"}`)
	f.Add(`{"id":"a","input":[{"role":"system","content":"s"},{"role":"user","content":"\u2028"}],"scorer":["a",{"name":"b","params":{"k":[1,{"x":1e999}]}}],"facts":[],"expect_tool":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var all []items.Item
		if items.Read(strings.NewReader(text), func(it items.Item) error { all = append(all, it); return nil }) != nil {
			return
		}
		for _, it := range all {
			first, err := Encode(&it)
			if err != nil {
				t.Fatal(err)
			}
			again := parse(t, string(first))
			second, err := Encode(&again)
			if err != nil || string(first) != string(second) {
				t.Fatalf("%v\n%s\n%s", err, first, second)
			}
			if d := cmp.Diff(compact(it), compact(again)); d != "" {
				t.Fatalf("lost in writing: %s", d)
			}
		}
	})
}

// compact makes raw values comparable: white space in them means nothing.
func compact(it items.Item) map[string]any {
	out := map[string]any{"id": it.ID, "strata": len(it.Strata), "input": len(it.Input), "facts": it.Facts, "tool": len(it.ExpectTool), "noTool": it.ExpectTool == nil,
		"source": it.Source, "weight": it.Weight, "cluster": it.Cluster, "system": it.System, "scorers": len(it.Scorer)}
	for name, raw := range map[string]json.RawMessage{"answer": it.Answer, "tol": it.Tol, "schema": it.Schema, "tools": it.Tools} {
		var v any
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.UseNumber()
		if raw != nil && dec.Decode(&v) == nil {
			out[name] = v
		}
	}
	return out
}
