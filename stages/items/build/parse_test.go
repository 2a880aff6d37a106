package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/items"
)

func TestParseForms(t *testing.T) {
	user := func(s string) items.Input { return items.Input{{Role: "user", Content: s}} }
	for _, tc := range []struct {
		name, line string
		m          FieldMap
		want       items.Item
		ts         string
		cut        bool
	}{
		{name: "chat", line: `{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":"hi"}],"created":1700000000,"id":"r1"}`,
			want: items.Item{ID: "r1", System: "S", Input: user("hi")}, ts: "2023-11-14T22:13:20Z"},
		{name: "parts, developer, null content", line: `{"messages":[{"role":"developer","content":[{"type":"text","text":"S"}]},{"role":"user","content":[{"type":"text","text":"a"},{"type":"input_text","text":"b"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c1"}]},{"role":"tool","tool_call_id":"c1","content":"7"}],"tools":[{"type":"function"}]}`,
			want: items.Item{System: "S", Tools: json.RawMessage(`[{"type":"function"}]`), Input: items.Input{{Role: "user", Content: "a\nb"},
				{Role: "assistant", ToolCalls: json.RawMessage(`[{"id":"c1"}]`)}, {Role: "tool", Content: "7", ToolCallID: "c1"}}}},
		{name: "an answer at the end", line: `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}],"tools":[]}`, want: items.Item{Input: user("hi")}, cut: true},
		{name: "input and ts", line: `{"input":"hi","ts":"2024-03-01T10:00:00+02:00","id":17}`, want: items.Item{ID: "17", Input: user("hi")}, ts: "2024-03-01T08:00:00Z"},
		{name: "responses", line: `{"instructions":"S","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}`, want: items.Item{System: "S", Input: user("hi")}},
		{name: "batch", line: `{"custom_id":"b1","body":{"messages":[{"role":"user","content":"hi"}]}}`, want: items.Item{ID: "b1", Input: user("hi")}},
		{name: "completions", line: `{"prompt":"hi","timestamp":1700000000123}`, want: items.Item{Input: user("hi")}, ts: "2023-11-14T22:13:20Z"},
		{name: "two system messages stay", line: `{"system":"A","messages":[{"role":"system","content":"B"},{"role":"user","content":"hi"}]}`,
			want: items.Item{Input: append(items.Input{{Role: "system", Content: "A"}, {Role: "system", Content: "B"}}, user("hi")...)}},
		{name: "schema", line: `{"input":"hi","response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}}}`,
			want: items.Item{Input: user("hi"), Schema: json.RawMessage(`{"type":"object"}`), Scorer: items.Scorers{{Name: "json_schema"}}}},
		{name: "map", line: `{"req":{"q":["x","hi"],"a.b":"S"},"meta":{"t":"2024-03-01 10:00:00","kind":"mail","n":3,"conv":9},"gold":{"a":1}}`,
			m: FieldMap{Input: "req.q.1", System: "/req/a.b", Time: "meta.t", Answer: "gold", Cluster: "meta.conv",
				Labels: map[string]string{"task": "meta.kind", "n": "/meta/n", "none": "meta.none"}},
			want: items.Item{System: "S", Input: user("hi"), Strata: map[string]string{"task": "mail", "n": "3"}, Cluster: "9", Answer: json.RawMessage(`{"a":1}`)}, ts: "2024-03-01T10:00:00Z"},
		{name: "an id that cannot be one", line: `{"input":"hi","id":"a\nb"}`, want: items.Item{Input: user("hi")}},
	} {
		got, err := newParser(tc.m).parse([]byte(tc.line))
		tc.want.Source = "log"
		if diff := cmp.Diff(tc.want, got.item); diff != "" || err != nil || got.cut != tc.cut {
			t.Errorf("%s: %v, cut %v\n%s", tc.name, err, got.cut, diff)
		}
		want, _ := time.Parse(time.RFC3339, tc.ts)
		if !got.time.Equal(want) {
			t.Errorf("%s: time %v, want %s", tc.name, got.time, tc.ts)
		}
	}
}

var brokenLines = []struct {
	line string
	want reason
}{
	{`{"input":"hi"`, notJSON}, {`{"input":"hi"} x`, notJSON}, {`[1]`, notObject}, {`7`, notObject}, {`nonsense`, notJSON},
	{`{"input":"hi","input":"ho"}`, twice}, {`{"input":"hi","x":{"a":1,"a":2}}`, twice}, {"{\"input\":\"\xff\"}", notUTF8},
	{`{"input":"\ud800"}`, notJSON}, {`{}`, noInput}, {`{"input":null}`, noInput}, {`{"input":7}`, badInput}, {`{"input":["x"]}`, badInput},
	{`{"messages":[{"content":"x"}]}`, badInput}, {`{"messages":[{"role":"user","content":7}]}`, badInput},
	{`{"messages":[{"role":"user","content":["x"]}]}`, badInput},
	{`{"input":"hi","tools":{}}`, badTools}, {`{"messages":[{"role":"user","content":"x","tool_calls":7}]}`, badTools},
	{`{"input":"hi","system":7}`, badSystem}, {`{"input":"hi","ts":"yesterday"}`, badTime}, {`{"input":"hi","ts":-1}`, badTime},
	{`{"input":"hi","ts":{}}`, badTime}, {`{"input":"hi","ts":"NaN"}`, badTime}, {`{"input":"hi","ts":1e300}`, badTime}, {`{"input":"hi","ts":0.53}`, badTime},
	{`{"input":"hi","id":1.5}`, badID}, {`{"input":"hi","id":{}}`, badID},
	{`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]}`, notText},
	{`{"messages":[{"role":"function","content":"x"}]}`, otherRole}, {`{"input":"  "}`, emptyTurn}, {`{"input":[]}`, notAsked},
	{`{"messages":[{"role":"system","content":"x"}]}`, notAsked}, {`{"messages":[{"role":"assistant","content":"x"}]}`, notAsked},
	{`{"input":[{"type":"function_call","name":"x"}]}`, notMessage},
}

func TestParseReasons(t *testing.T) {
	p := newParser(FieldMap{})
	for _, tc := range brokenLines {
		if _, err := p.parse([]byte(tc.line)); err != tc.want {
			t.Errorf("%s: %v, want %v", tc.line, err, tc.want)
		}
	}
	p = newParser(FieldMap{Labels: map[string]string{"a": "x"}})
	if _, err := p.parse([]byte(`{"input":"hi","x":[]}`)); err != badLabel {
		t.Errorf("a label that is a list: %v", err)
	}
}

func TestParseMap(t *testing.T) {
	got, err := ParseMap([]string{"input=a.b", "time=/t", "label.task=k", "label.x=y", "id=i", "answer=g"})
	want := FieldMap{Input: "a.b", Time: "/t", ID: "i", Answer: "g", Labels: map[string]string{"task": "k", "x": "y"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for _, bad := range []string{"input", "input=", "inputs=x", "label.=x", "id=a id=b", "label.a=x label.a=y"} {
		if _, err := ParseMap(strings.Fields(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestWindows(t *testing.T) {
	const week = 7 * 24 * time.Hour
	for _, tc := range []struct {
		at     string
		window time.Duration
		start  string
	}{
		{"2024-03-06T12:00:00Z", week, "2024-03-04T00:00:00Z"},
		{"2024-03-04T00:00:00Z", week, "2024-03-04T00:00:00Z"},
		{"2024-03-03T23:59:59Z", week, "2024-02-26T00:00:00Z"},
		{"1970-01-01T00:00:00Z", week, "1969-12-29T00:00:00Z"},
		{"2024-03-06T12:34:56Z", time.Hour, "2024-03-06T12:00:00Z"},
	} {
		at, _ := time.Parse(time.RFC3339, tc.at)
		if got := windowStart(windowOf(at, tc.window), tc.window).Format(time.RFC3339); got != tc.start {
			t.Errorf("%s in windows of %v begins %s, want %s", tc.at, tc.window, got, tc.start)
		}
	}
}

// Whatever the line, an error is one of the reasons, and an accepted request with
// a reference is an item that the strict reader takes.
func FuzzParse(f *testing.F) {
	for _, tc := range brokenLines {
		f.Add([]byte(tc.line))
	}
	f.Add([]byte(`{"custom_id":"b1","body":{"messages":[{"role":"system","content":"S"},{"role":"user","content":"hi"}],"tools":[{"a":[1]}]},"ts":"2024-01-01"}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1"}]},{"role":"tool","content":""}],"k":{"v":true}}`))
	p := newParser(FieldMap{Labels: map[string]string{"k": "k.v"}})
	f.Fuzz(func(t *testing.T, line []byte) {
		given := bytes.Clone(line)
		r, err := p.parse(line)
		if !bytes.Equal(given, line) {
			t.Fatalf("%q was written to", given)
		}
		if err != nil {
			var why reason
			if !errors.As(err, &why) {
				t.Fatalf("%q: %v is not a reason", line, err)
			}
			return
		}
		if r.item.ID == "" {
			r.item.ID = contentID(&r.item)
		}
		readable(t, r.item)
	})
}

// readable checks that the strict reader takes an item once it has a reference.
func readable(t testing.TB, it items.Item) {
	t.Helper()
	it.Scorer, it.Answer = nil, json.RawMessage(`"x"`)
	b, err := appendItem(nil, &it)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte(`"scorer":[]`), []byte(`"scorer":["exact"]`), 1)
	if err := items.Read(bytes.NewReader(b), func(items.Item) error { return nil }); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
}

// Lines are the same however the reader cuts them, and are those of the text.
func FuzzLines(f *testing.F) {
	f.Add("a\nbb\r\n\nccc", uint8(2))
	f.Add("\xef\xbb\xbfa\n0123456789\n\n", uint8(8))
	f.Fuzz(func(t *testing.T, text string, most uint8) {
		read := func(r io.Reader) (out []string) {
			ls := newLines(r, int(most)+2)
			for {
				line, long, err := ls.next()
				if err == io.EOF {
					return out
				}
				if err != nil {
					t.Fatal(err)
				}
				if len(line) > int(most)+4 {
					t.Fatalf("%d bytes are held of a line of at most %d", len(line), int(most)+2)
				}
				if long {
					line = []byte("long")
				}
				out = append(out, string(line))
			}
		}
		whole := read(strings.NewReader(text))
		if diff := cmp.Diff(whole, read(iotest.OneByteReader(strings.NewReader(text)))); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
		want := strings.Split(strings.TrimPrefix(strings.TrimSuffix(text, "\n"), "\xef\xbb\xbf"), "\n")
		if text == "" {
			want = nil
		}
		if len(want) != len(whole) {
			t.Fatalf("%q: %d lines, want %d", text, len(whole), len(want))
		}
		for i, line := range want {
			if line = strings.TrimSuffix(line, "\r"); len(line) > int(most)+2 {
				line = "long"
			}
			if whole[i] != line && !(i == 0 && whole[i] == "long") { // a mark counts
				t.Fatalf("%q: line %d is %q, want %q", text, i+1, whole[i], line)
			}
		}
	})
}
