package items

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/stages/llm"
)

const good = `{"id":"a","input":"2+2?","scorer":"numeric","answer":4}`

func readAll(text string) (all []Item, err error) {
	err = Read(strings.NewReader(text), func(it Item) error { all = append(all, it); return nil })
	return all, err
}

// with returns the good item with one field replaced or added.
func with(field, value string) string {
	if field == "id" {
		return strings.Replace(good, `"a"`, value, 1)
	}
	for _, old := range []string{`"input":"2+2?"`, `"scorer":"numeric"`, `"answer":4`} {
		if strings.HasPrefix(old, `"`+field+`":`) {
			return strings.Replace(good, old, `"`+field+`":`+value, 1)
		}
	}
	return strings.TrimSuffix(good, "}") + `,"` + field + `":` + value + "}"
}

func TestReadErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "items.jsonl:1: there are no items in the file"},
		{good + "\n\n" + good, "items.jsonl:2: the line is empty; delete it"},
		{"\xef\xbb\xbf" + good, "items.jsonl:1: the line begins with a byte order mark; save the file as UTF-8 without one"},
		{good + "\n" + good, `items.jsonl:2: the id "a" stands on line 1 already; items are paired by id, so each needs its own`},
		{good + " {}", "items.jsonl:1: not valid JSON at character"},
		{`{"id":"a","id":"b"}`, `items.jsonl:1: not valid JSON at /id`},
		{with("id", "\"\xff\""), "invalid UTF-8"},
		{"[1]", "found a JSON list, want an object"},
		{with("id", `""`), "the item has no id; give it one"},
		{with("id", `"a\nb"`), "control character"},
		{with("id", `"`+strings.Repeat("x", 513)+`"`), "the id has 513 bytes"},
		{with("stratum", `"x"`), `unknown field "stratum" at /stratum; write "strata": {"task": …}`},
		{with("reference", `4`), `unknown field "reference" at /reference; the reference is called "answer"`},
		{with("zzz", `4`), `unknown field "zzz" at /zzz; known fields: id, strata, input,`},
		{with("input", `""`), "input message 1: the content is empty"},
		{with("input", `null`), `"input" is missing or empty`},
		{with("input", `[]`), `"input" is missing or empty`},
		{with("input", `[{"role":"robot","content":"x"}]`), `input message 1: role "robot" is not one of`},
		{with("input", `[{"role":"system","content":"x"}]`), "nothing is asked"},
		{with("input", `[{"role":"user","content":"x","name":"y"}]`), `unknown field "name" at /input/0/name`},
		{with("input", `[{"role":"user","content":["x"]}]`), "/input/0/content: found a JSON list, want a string"},
		{with("input", `[{"role":"system","content":"x"},{"role":"user","content":"y"}],"system":"z"`), `"system" is given too`},
		{`{"id":"a","input":"x","answer":1}`, `the item has no scorer; name one, such as "scorer": "exact"`},
		{with("scorer", `[]`), "the item has no scorer"},
		{with("scorer", `{"params":{}}`), "scorer 1 has no name"},
		{with("scorer", `["exact",{"name":"x","param":{}}]`), `unknown field "param" at /scorer/1/param`},
		{`{"id":"a","input":"x","scorer":"exact"}`, `nothing to score an answer against; give it "answer", "facts"`},
		{with("tol", `"0.1"`), "tol: \"0.1\" is not allowed here; a tolerance is a number"},
		{with("tol", `-1`), "tol: -1 is not allowed here"},
		{with("schema", `[]`), "schema: [] is not allowed here"},
		{with("expect_tool", `{"arguments":{}}`), "expect_tool: call 1 has no name"},
		{with("expect_tool", `{"name":"f","arguments":"{}"}`), "expect_tool: arguments of f"},
		{with("strata", `{"task":""}`), `strata: label "task" has the value ""; leave out what is not known`},
		{with("strata", `{"task":3}`), "/strata/task: found a JSON number, want a string"},
		{with("source", `"web"`), `source "web" is not one of log, expert, public`},
		{with("weight", `0`), "weight 0 is not a finite number above 0"},
		{with("tools", `{}`), "tools: {} is not allowed here"},
	} {
		_, err := readAll(tc.text)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.80s\n got %v\nwant %s", tc.text, err, tc.want)
		}
	}
}

func TestReadForms(t *testing.T) {
	all, err := readAll(with("expect_tool", `{"name":"f"}`) + "\r\n" +
		`{"id":"b","system":"S","input":[{"role":"user","content":"x"}],"scorer":[{"name":"exact","params":{"trim":false}},"contains"],"answer":null,"expect_tool":[],"facts":[],"weight":0.5}` + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := all[0].Turns(); !cmp.Equal(got, []Message{{Role: "user", Content: "2+2?"}}) {
		t.Errorf("turns of a string: %v", got)
	}
	if got := all[1].Turns(); len(got) != 2 || got[0].Role != "system" || got[0].Content != "S" {
		t.Errorf("turns with a system text: %v", got)
	}
	if got := all[0].ExpectTool; len(got) != 1 || got[0].Name != "f" || got[0].Arguments != nil {
		t.Errorf("one expected call: %v", got)
	}
	b := all[1]
	if b.ExpectTool == nil || b.Facts == nil || string(b.Answer) != "null" || all[0].Facts != nil {
		t.Errorf("empty and null differ from absent: %#v", b)
	}
	if len(b.Scorer) != 2 || string(b.Scorer[0].Params["trim"]) != "false" || b.Scorer[1].Name != "contains" {
		t.Errorf("scorers: %v", b.Scorer)
	}
	m := b.Turns()[0]
	_ = llm.Message{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID, ToolCalls: m.ToolCalls} // an item holds what a request can say
}

func TestReadStopsWithTheCallersError(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	err := Read(strings.NewReader(good+"\n"+with("id", `"b"`)), func(Item) error { n++; return stop })
	if err != stop || n != 1 {
		t.Fatalf("got %v after %d items", err, n)
	}
}

func TestLineLimit(t *testing.T) {
	line := func(size int) string {
		head := `{"id":"a","scorer":"exact","answer":"x","input":"`
		return head + strings.Repeat("y", size-len(head)-2) + `"}`
	}
	if _, err := readAll(line(MaxLine) + "\n"); err != nil {
		t.Errorf("a line of exactly the limit: %v", err)
	}
	_, err := readAll(line(MaxLine + 1))
	if err == nil || !strings.Contains(err.Error(), "items.jsonl:1: the line is longer than 8 MiB") {
		t.Errorf("a line above the limit: %v", err)
	}
}

func TestReadErrorOfTheFile(t *testing.T) {
	broken := errors.New("disk")
	err := Read(io.MultiReader(strings.NewReader(good+"\n"), errReader{broken}), func(Item) error { return nil })
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "items.jsonl:2: ") {
		t.Fatal(err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestLintListsAllAndCaps(t *testing.T) {
	text := good + "\n{}\nnot json\n" + with("id", `"b"`) + "\n"
	got := Lint(strings.NewReader(text), func(it Item) []error {
		if it.ID == "b" {
			return []error{errors.New("bad scorer")}
		}
		return nil
	})
	want := []string{"items.jsonl:2: the item has no id", "items.jsonl:3: not valid JSON", "items.jsonl:4: item b: bad scorer"}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i].Error(), want[i]) {
			t.Errorf("problem %d: %v, want %s", i, got[i], want[i])
		}
	}
	many := Lint(strings.NewReader(strings.Repeat("{}\n", 30)), nil)
	if len(many) != MaxProblems+1 || many[MaxProblems].Error() != "and 10 more" {
		t.Errorf("cap: %d problems, last %v", len(many), many[len(many)-1])
	}
	if got := Lint(strings.NewReader(""), nil); len(got) != 1 {
		t.Errorf("empty file: %v", got)
	}
}

func TestSelect(t *testing.T) {
	item := func(id, task, lang string) Item {
		return Item{ID: id, Strata: map[string]string{"task": task, "lang": lang}}
	}
	all := []Item{item("1", "x", "en"), item("2", "x", "de"), item("3", "y", "en"), item("4", "x", "en"), item("5", "y", "de"), {ID: "6"}, {ID: "7"}}
	for _, tc := range []struct {
		where map[string][]string
		limit int
		want  string
	}{
		{nil, 0, "1 2 3 4 5 6 7"},
		{nil, 1, "1 3 6"},
		{map[string][]string{"lang": {"en"}}, 0, "1 3 4"},
		{map[string][]string{"lang": {"en", "de"}, "task": {"x"}}, 2, "1 2"},
		{map[string][]string{"lang": {"fr"}}, 0, ""},
		{map[string][]string{"lang": {}}, 0, ""},
	} {
		var ids []string
		for _, it := range Select(all, tc.where, tc.limit, "task") {
			ids = append(ids, it.ID)
		}
		if got := strings.Join(ids, " "); got != tc.want {
			t.Errorf("where %v limit %d: %q, want %q", tc.where, tc.limit, got, tc.want)
		}
	}
}

// Selecting what is selected already changes nothing, and no stratum exceeds
// the limit.
func TestSelectProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Item
		for i := range rapid.IntRange(0, 30).Draw(t, "n") {
			all = append(all, Item{ID: fmt.Sprint(i), Strata: map[string]string{"task": rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "task")}})
		}
		limit := rapid.IntRange(0, 5).Draw(t, "limit")
		once := Select(all, nil, limit, "task")
		if diff := cmp.Diff(once, Select(once, nil, limit, "task")); diff != "" {
			t.Fatal(diff)
		}
		count := map[string]int{}
		for _, it := range once {
			if count[it.Stratum("task")]++; limit > 0 && count[it.Stratum("task")] > limit {
				t.Fatalf("more than %d of stratum %s", limit, it.Stratum("task"))
			}
		}
	})
}

// Whatever is read, an error names a line that exists, and accepted items meet
// what their readers rely on.
func FuzzRead(f *testing.F) {
	f.Add(good)
	f.Add(good + "\n" + with("id", `"b"`) + "\n")
	f.Add(with("expect_tool", `[{"name":"f","arguments":{"a":1}}]`))
	f.Add(with("scorer", `["exact",{"name":"x","params":{"a":[1]}}]`))
	f.Add(`{"id":"a","input":[{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[]}],"scorer":"x","facts":["a"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		err := Read(strings.NewReader(text), func(it Item) error {
			if seen[it.ID] || it.ID == "" || len(it.Scorer) == 0 || len(it.Turns()) == 0 {
				t.Errorf("accepted %#v", it)
			}
			seen[it.ID] = true
			return nil
		})
		var at *Error
		if err != nil && (!errors.As(err, &at) || at.Line < 1 || at.Line > strings.Count(text, "\n")+1) {
			t.Errorf("error without its line: %v", err)
		}
		if problems := Lint(strings.NewReader(text), nil); (err == nil) != (len(problems) == 0) {
			t.Errorf("Read says %v, Lint says %v", err, problems)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, `{"id":"item-%06d","strata":{"task":"t%d","difficulty":"hard"},"input":%q,"scorer":"exact","answer":"x","source":"log"}`+"\n", i, i%6, strings.Repeat("word ", 60))
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if err := Read(strings.NewReader(text.String()), func(Item) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
