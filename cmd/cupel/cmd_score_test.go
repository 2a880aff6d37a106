package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rescored is what one run of cupel score left.
type rescored struct {
	code   int
	stderr string
	doc    scoreDoc
	rows   map[string]scoredRow
}

// rescore scores outputs, a text or a file of stages/foreign, against items.
func rescore(t *testing.T, itemLines, outputs string, args ...string) rescored {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join("..", "..", "stages", "foreign", "testdata", outputs)
	if _, err := os.Stat(name); err != nil || outputs == "" {
		name = filepath.Join(dir, "outputs")
		put(t, name, outputs)
	}
	put(t, filepath.Join(dir, "items.jsonl"), itemLines)
	args = append([]string{"score", name, "--items", filepath.Join(dir, "items.jsonl"), "-o", filepath.Join(dir, "out"), "-q"}, args...)
	var stdout, stderr bytes.Buffer
	r := rescored{rows: map[string]scoredRow{}}
	r.code = run(context.Background(), args, nil, &stdout, &stderr)
	r.stderr = stderr.String()
	if r.code != 0 {
		return r
	}
	b, err := os.ReadFile(filepath.Join(dir, "out", summaryFile))
	if err == nil {
		err = json.Unmarshal(b, &r.doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(filepath.Join(dir, "out", scoresFile)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var row scoredRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		r.rows[row.ID] = row
	}
	return r
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func exactItem(id, answer string) string {
	return fmt.Sprintf(`{"id":%q,"input":"q","scorer":"exact","answer":%q}`+"\n", id, answer)
}

// value is a score as a test writes it: null without one.
func value(v *float64) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(*v)
}

// The public mistakes that concern stored outputs and their rescoring, each
// with what is right. The numbers are those of the trackers.
func TestScoreMistakes(t *testing.T) {
	ab := exactItem("a", "x") + exactItem("b", "x")
	cases := []struct {
		name           string
		items, outputs string
		args           []string
		want           string // id=value (reason), of all items
		told           string // what check finds
		check          func(rescored) string
	}{
		{name: "lm-eval #3921: every row names the scorer's version", items: ab, outputs: plainRows("a", "x", "b", "y"),
			want: `a=1 b=0`, told: "exact/1", check: func(r rescored) string { return r.rows["a"].Scorer }},
		{name: "lm-eval #3214: $29.00 is 29", items: `{"id":"1","input":"q","scorer":"numeric","answer":29}` + "\n", outputs: "lm-eval.jsonl", want: `1=1`},
		{name: "lm-eval #3438: the last number counts, not one of the rationale", items: `{"id":"0","input":"q","scorer":"numeric","answer":5}` + "\n", outputs: "lm-eval.jsonl", want: `0=1`},
		{name: "lm-eval #3382: a cut answer is counted as cut", items: ab, outputs: `{"id":"a","output":"x","finish":"length"}` + "\n" + `{"id":"b","output":"x","finish":"stop"}`,
			want: `a=1 b=1`, told: "1 0.5", check: func(r rescored) string {
				return fmt.Sprintf("%d %s", r.rows["a"].Truncated, value(r.doc.Scores.Overall.TruncationRate.Value))
			}},
		{name: "lm-eval: no finish reason is not none cut", items: ab, outputs: plainRows("a", "x", "b", "x"),
			want: `a=1 b=1`, told: "null not-reported", check: func(r rescored) string {
				return value(r.doc.Scores.Overall.TruncationRate.Value) + " " + r.doc.Scores.Overall.TruncationRate.Reason
			}},
		{name: "lm-eval #3656: None is not an empty answer", items: ab, outputs: `{"id":"a","output":null}` + "\n" + `{"id":"b","output":""}`, want: `a=null (no-output) b=0`},
		{name: "lm-eval #3035: log-likelihoods are no text", items: exactItem("3", "x") + exactItem("4", "x"),
			outputs: `{"doc_id":3,"resps":[[["-1","False"]],[["-2","True"]]],"filtered_resps":[["-1","False"],["-2","True"]],"filter":"none","metrics":["acc"],"acc":1}` + "\n" +
				`{"doc_id":4,"resps":[["x"]],"filtered_resps":["x"],"filter":"none","metrics":["acc"],"acc":1}`, want: `3=null (not-text) 4=1`},
		{name: "lm-eval take_first: repeats are averaged, none is dropped", items: exactItem("3", "x"),
			outputs: `{"doc_id":3,"resps":[["x","y","x","y"]],"filtered_resps":["x"],"filter":"none","metrics":["acc"],"acc":1}`, want: `3=0.5 (worst of 4: "y", want "x")`},
		{name: "inspect #3916: 25 does not end in the answer 5", items: `{"id":"a","input":"q","scorer":"numeric","answer":5}` + "\n", outputs: plainRows("a", "25"), want: `a=0`},
		{name: "inspect .5g: 2000000 is not 1999999", items: `{"id":"a","input":"q","scorer":"numeric","answer":1999999}` + "\n", outputs: plainRows("a", "2000000"), want: `a=0`},
		{name: "inspect 0.3.245: a score that is none is not wrong", items: exactItem("1", "x"),
			outputs: inspectLog(`{"id":1,"epoch":1,"output":{"choices":[{"message":{"content":"x"},"stop_reason":"stop"}]},"scores":{"judge":{"value":NaN}}}`),
			want:    `1=1`, told: "null 0 1 0", check: func(r rescored) string {
				d := r.doc.Theirs["judge"]
				return fmt.Sprintf("%s %d %d %d", value(r.rows["1"].Theirs["judge"]), d.Compared, d.OnlyOurs, d.Lower)
			}},
		{name: "inspect #4602: completed and scored are counted apart", items: exactItem("1", "x") + exactItem("2", "x"),
			outputs: inspectLog(`{"id":1,"epoch":1,"output":{"choices":[{"message":{"content":"x"},"stop_reason":"stop"}]}}`, `{"id":2,"epoch":1,"error":{"message":"died"},"output":{"choices":[]}}`),
			want:    `1=1 2=null (tool-error)`, told: "2 2 1", check: func(r rescored) string {
				return fmt.Sprint(r.doc.Source.Answers, r.doc.Scores.Overall.Items, r.doc.Scores.Overall.Scored)
			}},
		{name: "inspect 0.3.221: fewer epochs than the others is no value", items: exactItem("1", "x") + exactItem("2", "x"),
			outputs: inspectLog(epoch(1, 1), epoch(1, 2), epoch(2, 1)), want: `1=1 2=null (no-answer (1 of 2 answers are there))`},
		{name: "inspect 0.3.241: letters become numbers once", items: exactItem("1", "y"),
			outputs: inspectLog(`{"id":1,"epoch":1,"output":{"choices":[{"message":{"content":"x"},"stop_reason":"stop"}]},"scores":{"m":{"value":{"a":"C","b":0.5}}}}`),
			want:    `1=0`, told: "1 0.5", check: func(r rescored) string {
				return value(r.rows["1"].Theirs["m.a"]) + " " + value(r.rows["1"].Theirs["m.b"])
			}},
		{name: "inspect #4459: ids belong to content", items: exactItem("gsm-2", "It is $29.00"), outputs: "lm-eval.jsonl", args: []string{"--id", "doc.id"}, want: `gsm-2=1`},
		{name: "inspect 0.3.206: two scorers of one log stay two", items: exactItem("1", "x"),
			outputs: inspectLog(`{"id":1,"epoch":1,"output":{"choices":[{"message":{"content":"x"},"stop_reason":"stop"}]},"scores":{"match":{"value":"C"},"match1":{"value":"I"}}}`),
			want:    `1=1`, told: "1 1", check: func(r rescored) string { return fmt.Sprint(r.doc.Theirs["match"].Agree, r.doc.Theirs["match1"].Lower) }},
		{name: "promptfoo #360: repeats are one item, not more items", items: exactItem("a", "x"), outputs: plainRows("a", "x", "a", "y", "a", "y", "a", "y"), want: `a=0.25 (worst of 4: "y", want "x")`},
		{name: "a row that stands twice costs its own item", items: ab + exactItem("c", "x"), outputs: plainRows("a", "x", "b", "x", "a", "x", "c", "y"),
			want: `a=null (duplicate-answer (2 answers are there, most items have 1)) b=1 c=0`, told: `[a] 1 1 1 of 3 items have more than the 1 answers that most have, the first "a"`,
			check: func(r rescored) string {
				warned, _, _ := strings.Cut(r.doc.Warnings[0], ":")
				return fmt.Sprint(r.doc.Duplicated, " ", r.doc.Answers, " ", r.doc.Unscored["duplicate-answer"], " ", warned)
			}},
		{name: "an item with fewer answers than the others has no value", items: ab + exactItem("c", "x"), outputs: plainRows("a", "x", "b", "x", "c", "x", "a", "x", "c", "y"),
			want: `a=1 b=null (no-answer (1 of 2 answers are there)) c=0.5 (worst of 2: "y", want "x")`},
		{name: "of two frequent numbers the larger is expected", items: ab, outputs: plainRows("a", "x", "b", "x", "a", "x"),
			want: `a=1 b=null (no-answer (1 of 2 answers are there))`},
		{name: "promptfoo #3629: no assertion is not passed", items: exactItem("no-assert", "other"), outputs: "promptfoo.json",
			want: `no-assert=0`, told: "null", check: func(r rescored) string { return value(r.rows["no-assert"].Theirs["score"]) }},
		{name: "promptfoo #10023: weight 0 hides no value", items: `{"id":"weight0-metric","input":"q","scorer":"numeric","answer":1}` + "\n", outputs: "promptfoo.json",
			want: `weight0-metric=1`, told: "01", check: func(r rescored) string {
				return value(r.rows["weight0-metric"].Theirs["score"]) + value(r.rows["weight0-metric"].Theirs["pass"])
			}},
		{name: "deepeval #2451: a blank output is not right", items: `{"id":"a","input":"q","scorer":"required_facts","facts":["x"]}` + "\n", outputs: plainRows("a", "  "), want: `a=0`},
		{name: "ragas #3028: failed rows stay in the denominator", items: ab + exactItem("c", "x"), outputs: `{"id":"a","output":"x"}` + "\n" + `{"id":"b","error":"late","output":null}`,
			want: `a=1 b=null (tool-error) c=null (no-answer)`, told: "3 1 1 1", check: func(r rescored) string {
				return fmt.Sprint(r.doc.Scores.Overall.Items, r.doc.Scores.Overall.Scored, r.doc.Unscored["tool-error"], r.doc.Unscored["no-answer"])
			}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := rescore(t, c.items, c.outputs, c.args...)
			if r.code != 0 {
				t.Fatalf("exit code %d: %s", r.code, r.stderr)
			}
			if got := r.brief(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if c.check == nil {
				return
			}
			if got := c.check(r); got != c.told {
				t.Errorf("told %s, want %s", got, c.told)
			}
		})
	}
}

// brief lists the rows; reasons only where there is no value or more answers.
func (r rescored) brief() string {
	var out []string
	for _, id := range sortedNames(r.rows) {
		row := r.rows[id]
		s := id + "=" + value(row.Value)
		if row.Value == nil || row.N > 1 && *row.Value < 1 {
			s += " (" + row.Reason + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func plainRows(idsAndTexts ...string) string {
	var b strings.Builder
	for i := 0; i < len(idsAndTexts); i += 2 {
		fmt.Fprintf(&b, `{"id":%q,"output":%q}`+"\n", idsAndTexts[i], idsAndTexts[i+1])
	}
	return b.String()
}

func epoch(id, n int) string {
	return fmt.Sprintf(`{"id":%d,"epoch":%d,"output":{"choices":[{"message":{"content":"x"},"stop_reason":"stop"}]}}`, id, n)
}

func inspectLog(samples ...string) string {
	return `{"version":2,"status":"success","eval":{},"samples":[` + strings.Join(samples, ",") + `]}`
}

// What is wrong with outputs is an error, and no file is left.
func TestScoreRefused(t *testing.T) {
	ab := exactItem("a", "x") + exactItem("b", "x")
	cases := []struct {
		name, items, outputs string
		args                 []string
		code                 int
		want                 string
	}{
		{"inspect 0.3.221: a sample twice", exactItem("1", "x"), inspectLog(epoch(1, 1), epoch(1, 1)), nil, 2, `item "1" has two answers with sample 0 and repeat 0`},
		{"deepeval #2529: an order twice", ab, `{"id":"a","output":"x","repeat":0}` + "\n" + `{"id":"a","output":"y","repeat":0}`, nil, 2, "two answers"},
		{"a batch answered twice", ab, `{"custom_id":"a","response":null,"error":{"message":"m"}}` + "\n" + `{"custom_id":"a","response":null,"error":{"message":"m"}}`, nil, 2, "two answers"},
		{"an item twice", exactItem("a", "x") + exactItem("a", "x"), plainRows("a", "x"), nil, 2, `"a" stands`},
		{"the line of a bad item", exactItem("a", "x") + "{}\n", plainRows("a", "x"), nil, 2, "items.jsonl:2"},
		{"ids that match nothing", ab, plainRows("c", "x"), nil, 3, `none of the 1 answers belongs to an item: an answer's id is "c" (id), an item's is "a"`},
		{"nothing but failures", ab, `{"id":"a","output":null}`, nil, 3, "none of the 2 items has a value: 1 no-answer, 1 no-output"},
		{"every scorer fails", `{"id":"a","input":"q","scorer":"numeric","answer":"no number"}` + "\n", plainRows("a", "1"), nil, 3, "1 scorer-error"},
		{"no outputs kept", ab, "guidellm.json", nil, 3, "the file holds no outputs"},
		{"an unknown scorer", ab, plainRows("a", "x"), []string{"--scorers", `nothing={}`}, 2, "nothing"},
		{"an unknown parameter", ab, plainRows("a", "x"), []string{"--scorers", `exact={"x":1}`}, 2, `unknown parameter "x"`},
		{"a scorer that no item uses", ab, plainRows("a", "x"), []string{"--scorers", `numeric={"tol":1}`}, 2, "no item uses the scorer numeric; --replace"},
		{"a scorer without parameters", ab, plainRows("a", "x"), []string{"--scorers", "exact"}, 2, "exact has no parameters; write"},
		{"nothing to replace with", ab, plainRows("a", "x"), []string{"--replace"}, 2, "--replace: there is nothing"},
		{"a scorer twice", ab, plainRows("a", "x"), []string{"--scorers", `exact={"trim":true}`, "--scorers", `exact={"trim":false}`}, 2, "named twice"},
		{"parameters with a name twice", ab, plainRows("a", "x"), []string{"--scorers", `exact={"trim":true,"trim":false}`}, 2, "duplicate"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := rescore(t, c.items, c.outputs, c.args...)
			if r.code != c.code || !strings.Contains(r.stderr, c.want) {
				t.Errorf("exit code %d, stderr %s; want %d and %q", r.code, r.stderr, c.code, c.want)
			}
		})
	}
}

// Where promptfoo's own run and ours differ, on its real output (row 40 of the
// list of mistakes). ours, then theirs.
func TestPromptfooDisagreements(t *testing.T) {
	schema := func(id, params, s string) string {
		return fmt.Sprintf(`{"id":%q,"input":"q","scorer":{"name":"json_schema","params":{%s}},"schema":%s}`+"\n", id, params, s)
	}
	text := schema("fence-is-json", "", "true") + schema("fence-contains-json", `"extract":true`, "true") +
		schema("is-json-dup-keys", "", "true") + schema("is-json-bigint", "", `{"properties":{"a":{"const":9007199254740992}}}`) +
		schema("is-json-NaN", "", "true") + schema("is-json-scalar", "", "true") + schema("is-json-trailing-comma", "", "true") +
		schema("contains-json-trailing-comma", `"extract":true`, "true") + schema("contains-json-unquoted", `"extract":true`, "true") +
		`{"id":"equals-str-1.0-vs-1","input":"q","scorer":"numeric","answer":1}` + "\n" +
		exactItem("equals-trailing-space", "Paris") + `{"id":"icontains-NFD","input":"q","scorer":"contains","answer":"caf\u00e9"}` + "\n"
	r := rescore(t, text, "promptfoo.json")
	got := map[string]string{}
	for id, row := range r.rows {
		got[id] = value(row.Value) + " " + value(row.Theirs["pass"])
	}
	want := map[string]string{
		"fence-is-json": "0 0", "fence-contains-json": "1 1", "is-json-NaN": "0 0", "is-json-scalar": "1 1", "is-json-trailing-comma": "0 0",
		"is-json-dup-keys":             "0 1", // duplicate names are no JSON object
		"is-json-bigint":               "0 1", // 2^53+1 is not 2^53
		"contains-json-trailing-comma": "0 1",
		"contains-json-unquoted":       "0 1",
		"equals-str-1.0-vs-1":          "1 0",
		"equals-trailing-space":        "1 0",
		"icontains-NFD":                "1 0",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ours and theirs (-want +got):\n%s", d)
	}
	if d := r.doc.Theirs["pass"]; d.Agree != 5 || d.Higher != 4 || d.Lower != 3 {
		t.Errorf("counted %+v", d)
	}
	if r.doc.Unknown != 6 {
		t.Errorf("%d answers belong to no item, want 6", r.doc.Unknown)
	}
}

// Scoring twice leaves the same bytes, whatever stood there (inspect 0.3.221),
// and --scorers changes what it names and nothing else.
func TestScoreAgain(t *testing.T) {
	dir := t.TempDir()
	outputs, list := filepath.Join(dir, "o.jsonl"), filepath.Join(dir, "i.jsonl")
	put(t, outputs, plainRows("a", "10.4", "b", "y"))
	put(t, list, `{"id":"a","strata":{"task":"t"},"input":"q","scorer":"numeric","answer":10}`+"\n"+exactItem("b", "Y"))
	score := func(args ...string) (string, string) {
		args = append([]string{"score", outputs, "--items", list, "-q", "-o", filepath.Join(dir, "out")}, args...)
		var stderr bytes.Buffer
		if code := run(context.Background(), args, nil, &bytes.Buffer{}, &stderr); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, &stderr)
		}
		files, err := os.ReadDir(filepath.Join(dir, "out"))
		if err != nil || len(files) != 2 {
			t.Fatalf("files %v, error %v", files, err)
		}
		rows, _ := os.ReadFile(filepath.Join(dir, "out", scoresFile))
		sum, _ := os.ReadFile(filepath.Join(dir, "out", summaryFile))
		return string(rows), string(sum)
	}
	rows, sum := score()
	if again, sumAgain := score(); again != rows || sumAgain != sum {
		t.Error("scoring again gives other bytes")
	}
	put(t, filepath.Join(dir, "s.json"), `{"numeric":{"tol":1}}`)
	changed, _ := score("--scorers", filepath.Join(dir, "s.json"))
	if !strings.Contains(rows, `"id":"a","strata":{"task":"t"},"value":0`) || !strings.Contains(changed, `"id":"a","strata":{"task":"t"},"value":1`) {
		t.Errorf("before %s\nafter %s", rows, changed)
	}
	replaced, _ := score("--replace", "--scorers", `exact={"ignore_case":true}`)
	if !strings.Contains(replaced, `"id":"b","strata":{},"value":1`) {
		t.Errorf("replaced: %s", replaced)
	}
}

// BenchmarkScore scores 10,000 rows with four checks each; ns/op / 10,000 is
// the cost of a row, its item included.
func BenchmarkScore(b *testing.B) {
	const n = 10_000
	dir := b.TempDir()
	var list, outputs strings.Builder
	for i := range n {
		fmt.Fprintf(&list, `{"id":"i%05d","strata":{"task":"t%d"},"input":"q","scorer":["contains","regex","json_schema","numeric"],"answer":"%d","schema":{"type":"object","required":["item","total"],"properties":{"total":{"type":"integer","minimum":0}}}}`+"\n", i, i%12, 1000+i%9000)
		fmt.Fprintf(&outputs, `{"id":"i%05d","output":"{\"item\": \"x\", \"total\": %d}"}`+"\n", i, 1000+i%9000+i%10/9)
	}
	for name, text := range map[string]string{"items.jsonl": list.String(), "outputs.jsonl": outputs.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		args := []string{"score", filepath.Join(dir, "outputs.jsonl"), "--items", filepath.Join(dir, "items.jsonl"), "-o", filepath.Join(dir, "out"), "-q"}
		if code := run(b.Context(), args, nil, &bytes.Buffer{}, &bytes.Buffer{}); code != 0 {
			b.Fatalf("exit code %d", code)
		}
	}
}
