package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/llm"
)

// read collects the rows of a file.
func read(t testing.TB, content []byte, o Options) ([]Row, Report, error) {
	t.Helper()
	var rows []Row
	rep, err := Read("file", bytes.NewReader(content), int64(len(content)), o, func(r *Row) error {
		rows = append(rows, *r)
		return nil
	})
	return rows, rep, err
}

func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// brief is a row as a test compares it.
func brief(r Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%d/%d %q", r.ID, r.Sample, r.Repeat, r.Text)
	for _, c := range r.ToolCalls {
		fmt.Fprintf(&b, " call %s%s", c.Name, c.Arguments)
	}
	if r.Finish != "" {
		b.WriteString(" " + r.Finish)
	}
	if r.Failure != nil {
		b.WriteString(" !" + string(r.Failure.Class))
	}
	if r.OnlyTheirs {
		b.WriteString(" only-theirs")
	}
	for _, th := range r.Theirs {
		if th.Value != nil {
			fmt.Fprintf(&b, " %s=%v", th.Name, *th.Value)
		} else {
			fmt.Fprintf(&b, " %s?%s", th.Name, th.Reason)
		}
	}
	return b.String()
}

// Every real artifact is read as its tool meant it.
func TestArtifacts(t *testing.T) {
	cases := []struct {
		file    string
		format  string
		idFrom  string
		answers int
		first   string
		unknown string // part of what is said not to be known
		note    string
	}{
		{"popularity.eval", "inspect", "id", 10, `5/0/0 "Yes" stop`, "", ""},
		{"log_formats.eval", "inspect", "id", 1, `1/0/0 "No" stop match=0`, "", ""},
		{"mmlu-summary-choices.eval", "inspect", "id", 1, `1/0/0 "ANSWER: C" stop choice=0`, "", ""},
		{"inspect.json", "inspect-json", "id", 1, `1/0/0 "No" stop match=0`, "", ""},
		{"promptfoo.json", "promptfoo", "testCase.description", 18, "fence-is-json/0/-1 \"```json\\n{\\\"a\\\":1}\\n```\" score=0 pass=0", "finish reason", "repeats"},
		{"promptfoo.jsonl", "promptfoo-jsonl", "vars.id", 8, `i000000/0/-1 "{\"item\": \"alpha\", \"total\": 1000}" score=1 pass=1`, "token counts", "repeats"},
		{"lm-eval.jsonl", "lm-eval", "doc_id", 3, `0/0/0 " 2+3 = 5. #### 5" exact_match,strict-match=1`, "finish reason", "raw response"},
		{"batch.jsonl", "openai-batch", "custom_id", 6, `sum-1/0/0 "The sum is 3." stop`, "token counts: not in 1 of 6", ""},
		{"plain.jsonl", "plain", "id", 4, `a/0/-1 "5"`, "finish reason", "fields that were not used: latency"},
		{"cupel.jsonl", "cupel", "id", 2, `a/0/0 "5" stop`, "", ""},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			rows, rep, err := read(t, load(t, c.file), Options{Workers: 3})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Format != c.format || rep.IDFrom != c.idFrom || rep.Answers != c.answers {
				t.Errorf("format %s, ids from %s, %d answers; want %s, %s, %d", rep.Format, rep.IDFrom, rep.Answers, c.format, c.idFrom, c.answers)
			}
			if got := brief(rows[0]); got != c.first {
				t.Errorf("first row %s, want %s", got, c.first)
			}
			if got := strings.Join(rep.Unknown, "; "); !strings.Contains(got, c.unknown) {
				t.Errorf("not known: %s; want %q in it", got, c.unknown)
			}
			if got := strings.Join(rep.Notes, "; "); !strings.Contains(got, c.note) {
				t.Errorf("notes: %s; want %q in it", got, c.note)
			}
		})
	}
}

func TestGuideLLMWithoutOutputs(t *testing.T) {
	_, _, err := read(t, load(t, "guidellm.json"), Options{})
	if !errors.Is(err, ErrNoOutputs) {
		t.Errorf("error %v, want ErrNoOutputs", err)
	}
}

// Rows of each format, by what is special about them.
func TestRows(t *testing.T) {
	cases := []struct {
		name string
		text string
		opt  Options
		want []string
	}{
		{"plain: null is not empty", `{"id":"a","output":null}`, Options{}, []string{`a/0/-1 "" !no-output`}},
		{"plain: empty is an answer", `{"id":"a","output":""}`, Options{}, []string{`a/0/-1 ""`}},
		{"plain: a value that is no text", `{"id":"a","output":{"b": 1.0}}`, Options{}, []string{`a/0/-1 "{\"b\":1.0}"`}},
		{"plain: error", `{"id":"a","output":"x","error":{"message":"late"}}`, Options{}, []string{`a/0/-1 "" !tool-error`}},
		{"plain: lone surrogate", `{"id":"a","output":"x\ud800"}`, Options{}, []string{`a/0/-1 "x` + "\uFFFD" + `"`}},
		{"plain: tool calls", `{"id":"a","output":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}`, Options{}, []string{`a/0/-1 "" call f{}`}},
		{"plain: numbered repeats", `{"id":"a","output":"x","repeat":4,"sample":1}`, Options{}, []string{`a/1/4 "x"`}},
		{"plain: another id", `{"id":"a","output":"x","case":{"key":7}}`, Options{ID: "case.key"}, []string{`7/0/-1 "x"`}},
		{"plain: yes is a score", `{"id":"a","output":"x","score":{"x":true,"y":"C","z":null}}`, Options{}, []string{`a/0/-1 "x" score.x=1 score.y=1 score.z?not a number (null or NaN)`}},
		{"lm-eval: repeats", `{"doc_id":3,"resps":[["a","b"]],"filtered_resps":["a"],"filter":"none","metrics":["acc"],"acc":0.5}`, Options{},
			[]string{`3/0/0 "a" acc,none=0.5`, `3/0/1 "b"`}},
		{"lm-eval: filtered text", `{"doc_id":3,"resps":[["so 4"]],"filtered_resps":["4"],"filter":"strict","metrics":[]}`, Options{Filter: "strict"}, []string{`3/0/0 "4"`}},
		{"lm-eval: log-likelihoods", `{"doc_id":3,"resps":[[["-1.5","False"]],[["-0.5","True"]]],"filtered_resps":[["-1.5","False"],["-0.5","True"]],"filter":"none","metrics":["acc"],"acc":1}`, Options{},
			[]string{`3/0/0 "" !not-text acc,none=1`}},
		{"lm-eval: an older version names no metrics", `{"doc_id":3,"doc":{"id":"q"},"target":"5","resps":[["5"]],"filtered_resps":["5"],"exact_match":1.0}`, Options{ID: "doc.id"},
			[]string{`q/0/0 "5" exact_match,none=1`}},
		{"batch: choices are samples", `{"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"message":{"content":"x"},"finish_reason":"stop"},{"message":{"content":"y"},"finish_reason":"length"}]}}}`, Options{},
			[]string{`a/0/0 "x" stop`, `a/1/0 "y" length`}},
		{"batch: completions", `{"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"text":"x","finish_reason":"stop"}]}}}`, Options{}, []string{`a/0/0 "x" stop`}},
		{"batch: null content", `{"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}}}`, Options{}, []string{`a/0/0 "" stop !no-output`}},
		{"batch: a refusal is an answer", `{"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]}}}`, Options{}, []string{`a/0/0 "I cannot" stop`}},
		{"promptfoo: a failed assertion is an answer", `{"testIdx":4,"promptIdx":0,"response":{"output":"x"},"error":"Expected y","failureReason":1,"score":0,"success":false,"gradingResult":{"componentResults":[{}]}}`, Options{},
			[]string{`4/0/-1 "x" score=0 pass=0`}},
		{"promptfoo: an error is none", `{"testIdx":4,"promptIdx":0,"error":"API error","failureReason":2,"score":0,"success":false}`, Options{},
			[]string{`4/0/-1 "" !tool-error score?no assertion pass?no assertion`}},
		{"guidellm: answers", `{"metadata":{"guidellm_version":"0.4"},"benchmarks":[{"requests":{"successful":[{"request_id":"r1","output":"x","output_tokens":3,"prompt_tokens":2}],"errored":[{"request_id":"r2","error":"boom"}],"incomplete":[{"request_id":"r3","output":"half"}]}}]}`, Options{},
			[]string{`r1/0/-1 "x"`, `r2/0/-1 "" !tool-error`, `r3/0/-1 "" !tool-error`}},
		{"inspect: several parts, reasoning apart", `{"version":2,"status":"success","eval":{},"samples":[{"id":"s","epoch":2,"output":{"choices":[{"message":{"content":[{"type":"reasoning","reasoning":"hm"},{"type":"text","text":"4"}]},"stop_reason":"max_tokens"}]},"scores":{"match":{"value":NaN}}}]}`, Options{},
			[]string{`s/0/1 "4" length match?not a number (null or NaN)`}},
		{"inspect: tool calls and a failed sample", `{"version":2,"status":"error","eval":{},"samples":[{"id":1,"epoch":1,"output":{"choices":[{"message":{"content":"","tool_calls":[{"id":"c","function":"f","arguments":{"x": 1}}]},"stop_reason":"tool_calls"}]}},{"id":2,"epoch":1,"error":{"message":"died"},"output":{"choices":[]}}]}`, Options{},
			[]string{`1/0/0 "" call f{"x":1} tool_calls`, `2/0/0 "" !tool-error`}},
		{"inspect: a long output is attached", `{"version":2,"status":"success","eval":{},"samples":[{"id":1,"epoch":1,"attachments":{"ab":"long"},"output":{"choices":[{"message":{"content":"attachment://ab"},"stop_reason":"stop"}]}}]}`, Options{},
			[]string{`1/0/0 "long" stop`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rows, _, err := read(t, []byte(c.text), c.opt)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rows {
				got = append(got, brief(r))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
		})
	}
}

// What is wrong is an error that says where; nothing is left out quietly.
func TestRefused(t *testing.T) {
	cases := []struct {
		name, text string
		opt        Options
		want       string
	}{
		{"empty", "", Options{}, "there is no answer in the file"},
		{"blank", "\n \n", Options{}, "no known format"},
		{"a list", "[]", Options{}, "does not begin with a JSON object"},
		{"other rows", `{"prompt":"x","answer":"y"}`, Options{}, "the first row has the fields answer, prompt"},
		{"no id", `{"output":"x"}`, Options{}, "the row has no id"},
		{"an id that is no id", `{"id":1.5,"output":"x"}`, Options{}, "not a whole number"},
		{"an empty id", `{"id":"","output":"x"}`, Options{}, "the id is empty"},
		{"the line of a bad row", "{\"id\":\"a\",\"output\":\"x\"}\n\n{\"id\":\"b\",\"output\":}\n", Options{}, "file:3: not valid JSON"},
		{"a name twice", `{"id":"a","output":"x","output":"y"}`, Options{}, "file:1: a name stands twice"},
		{"a name twice, later", "{\"id\":\"a\",\"output\":\"x\"}\n{\"id\":\"a\",\"output\":\"x\",\"id\":\"b\"}\n", Options{}, "file:2: a name stands twice"},
		{"unknown fields of our own form", `{"id":"a","sample":0,"repeat":0,"request":"` + strings.Repeat("0", 64) + `","text":"x","extra":1}`, Options{}, "file:1: "},
		{"lm-eval: one filter twice", "{\"doc_id\":1,\"resps\":[[\"a\"]],\"filter\":\"f\",\"metrics\":[]}\n{\"doc_id\":1,\"resps\":[[\"a\"]],\"filter\":\"f\",\"metrics\":[]}\n", Options{}, `stands twice under the filter f`},
		{"lm-eval: filters of other responses", "{\"doc_id\":1,\"resps\":[[\"a\"]],\"filter\":\"f\",\"metrics\":[]}\n{\"doc_id\":1,\"resps\":[[\"b\"]],\"filter\":\"g\",\"metrics\":[]}\n", Options{}, `other responses under the filter g`},
		{"lm-eval: a metric that is not there", `{"doc_id":1,"resps":[["a"]],"filter":"f","metrics":["acc"]}`, Options{}, `names a metric "acc"`},
		{"two candidates", "{\"id\":\"a\",\"output\":\"x\",\"candidate\":\"p\"}\n{\"id\":\"a\",\"output\":\"x\",\"candidate\":\"q\"}\n", Options{}, "choose one with --candidate"},
		{"ids of two kinds", "{\"testIdx\":0,\"promptIdx\":0,\"vars\":{\"id\":\"x\"},\"response\":{\"output\":\"a\"}}\n{\"testIdx\":1,\"promptIdx\":0,\"response\":{\"output\":\"a\"}}\n", Options{}, "has its id in vars.id and answer 2 in testIdx"},
		{"batch without either", `{"custom_id":"a","response":null}`, Options{}, "neither a response nor an error"},
		{"inspect epoch 0", `{"version":2,"status":"success","eval":{},"samples":[{"id":1,"epoch":0}]}`, Options{}, "sample 1: epoch 0"},
		{"inspect lost attachment", `{"version":2,"status":"success","eval":{},"samples":[{"id":1,"epoch":1,"output":{"choices":[{"message":{"content":"attachment://ab"}}]}}]}`, Options{}, "does not have"},
		{"a document cut short", `{"version":2,"status":"success","eval":{},"samples":[{"id":1,"epoch":1,"output":{"choices":[]}}`, Options{}, "file: "},
		{"text after a document", `{"version":2,"status":"success","eval":{},"samples":[]} {}`, Options{}, "text after the document"},
		{"nested too deep", `{"id":"a","output":` + strings.Repeat("[", 20000), Options{}, "file:1: not valid JSON at character 10019: exceeded max depth"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := read(t, []byte(c.text), c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestCandidate(t *testing.T) {
	text := "{\"id\":\"a\",\"output\":\"x\",\"candidate\":\"p\"}\n{\"id\":\"a\",\"output\":\"y\",\"candidate\":\"q\"}\n"
	rows, rep, err := read(t, []byte(text), Options{Candidate: "q"})
	if err != nil || len(rows) != 1 || rows[0].Text != "y" {
		t.Fatalf("rows %v, error %v", rows, err)
	}
	if got := strings.Join(rep.Notes, "; "); !strings.Contains(got, "1 answers of p were left out") {
		t.Errorf("notes %q", got)
	}
}

// The second filter of lm-eval is the same answer again, not a repeat.
func TestFilters(t *testing.T) {
	rows, rep, err := read(t, load(t, "lm-eval.jsonl"), Options{})
	if err != nil || rep.Answers != 3 || len(rows) != 6 {
		t.Fatalf("%d rows, %d answers, error %v", len(rows), rep.Answers, err)
	}
	for i, r := range rows {
		if r.OnlyTheirs != (i >= 3) {
			t.Errorf("row %d: only theirs %v", i, r.OnlyTheirs)
		}
	}
}

// A chosen filter's text is scored, wherever its rows stand in the file.
func TestChosenFilter(t *testing.T) {
	for filter, want := range map[string]string{"strict-match": "5|[invalid]|[invalid]", "flexible-extract": "5|$29.00|60."} {
		rows, rep, err := read(t, load(t, "lm-eval.jsonl"), Options{Filter: filter})
		var got []string
		for _, r := range rows {
			if !r.OnlyTheirs {
				got = append(got, r.Text)
			}
		}
		if err != nil || strings.Join(got, "|") != want || rep.Answers != 3 || len(rows) != 6 || strings.Contains(fmt.Sprint(rep.Notes), "raw") {
			t.Errorf("%s: %q, %+v, error %v", filter, got, rep, err)
		}
	}
	_, _, err := read(t, load(t, "lm-eval.jsonl"), Options{Filter: "none"})
	if err == nil || !strings.Contains(err.Error(), "no row is of the filter none; there are flexible-extract, strict-match") {
		t.Errorf("error %v", err)
	}
}

// An error of the caller comes back as it is, and an HTTP status has its class.
func TestCallerAndClass(t *testing.T) {
	stop := errors.New("stop")
	_, err := Read("file", bytes.NewReader(load(t, "plain.jsonl")), int64(len(load(t, "plain.jsonl"))), Options{Workers: 2}, func(*Row) error { return stop })
	if err != stop {
		t.Errorf("error %v", err)
	}
	for status, want := range map[int]llm.Class{400: llm.ClassRejected, 401: llm.ClassAuth, 404: llm.ClassNotFound, 429: llm.ClassOverload, 500: llm.ClassServerError, 503: llm.ClassOverload} {
		if got := classOf(status); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
	var at *items.Error
	_, _, err = read(t, []byte("{\"id\":\"a\",\"output\":\"x\"}\n{\n"), Options{})
	if !errors.As(err, &at) || at.Line != 2 {
		t.Errorf("error %v, want line 2", err)
	}
}
