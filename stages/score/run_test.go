package score

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
)

// fakeJob is a step.Job in memory.
type fakeJob struct {
	step.Job
	params  json.RawMessage
	inputs  map[string]string
	outputs map[string]*bytes.Buffer
}

func (j *fakeJob) Params(v any) error {
	dec := json.NewDecoder(bytes.NewReader(j.params))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

func (j *fakeJob) Open(name string) (io.ReadCloser, error) {
	text, ok := j.inputs[name]
	if !ok {
		return nil, step.ErrNoInput
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (j *fakeJob) Create(name, _ string) (io.WriteCloser, error) {
	j.outputs[name] = &bytes.Buffer{}
	return nopCloser{j.outputs[name]}, nil
}

func (j *fakeJob) Progress(int, int, string) {}

func runJob(t testing.TB, params, itemLines, responses string) (*fakeJob, error) {
	t.Helper()
	job := &fakeJob{
		params:  json.RawMessage(params),
		inputs:  map[string]string{inItems: itemLines, inResponses: responses},
		outputs: map[string]*bytes.Buffer{},
	}
	return job, Run(t.Context(), job)
}

const fourItems = `{"id":"b","strata":{"task":"x"},"input":"q","scorer":"exact","answer":"yes","weight":2}
{"id":"a","strata":{"task":"x"},"input":"q","scorer":["contains","numeric"],"answer":"3","cluster":"k"}
{"id":"c","strata":{"task":"y"},"input":"q","scorer":"required_facts","facts":[]}
{"id":"d","input":"q","scorer":"exact","answer":"yes"}
`

func response(id string, sample int, rest string) string {
	return fmt.Sprintf(`{"id":%q,"sample":%d,"repeat":0,"request":"%064d",%s}`+"\n", id, sample, 0, rest)
}

func rows(t *testing.T, job *fakeJob) map[string]evidence.ScoreRow {
	t.Helper()
	out, last := map[string]evidence.ScoreRow{}, ""
	err := items.ReadRows("scores", job.outputs[evidence.OutScores], func(r evidence.ScoreRow) error {
		if r.ID <= last {
			t.Errorf("row %s comes after %s", r.ID, last)
		}
		out[r.ID], last = r, r.ID
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRun(t *testing.T) {
	job, err := runJob(t, `{"stratify":"task","answers":2}`, fourItems,
		response("a", 0, `"text":"3","usage":{"prompt_tokens":5,"output_tokens":1}`)+
			response("a", 1, `"text":"4, not 3.","finish":"length","usage":{"prompt_tokens":5,"output_tokens":1}`)+
			response("b", 0, `"text":"yes"`)+
			response("b", 1, `"text":"","failure":{"class":"timeout","message":"m"}`)+
			response("c", 0, `"text":"x"`)+response("c", 1, `"text":"x"`)+
			response("d", 0, `"text":"yes"`))
	if err != nil {
		t.Fatal(err)
	}
	got := rows(t, job)
	one := 1.0
	want := map[string]evidence.ScoreRow{
		"a": {ID: "a", Strata: map[string]string{"task": "x"}, Cluster: "k", Value: &one, Reason: "contains: 1 of 1 texts", Scorer: "contains/1+numeric/1", N: 2, Truncated: 1},
		"b": {ID: "b", Strata: map[string]string{"task": "x"}, Weight: 2, Reason: "timeout (1 of 2 answers have a value)", Scorer: "exact/1", N: 1, Failed: 1},
		"c": {ID: "c", Strata: map[string]string{"task": "y"}, Reason: `scorer-error: scorer required_facts: "facts" is an empty list (0 of 2 answers have a value)`, Scorer: "required_facts/1"},
		"d": {ID: "d", Strata: map[string]string{}, Reason: "no-answer (1 of 2 answers are there)", Scorer: "exact/1", N: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var sum evidence.ScoreSummary
	if err := json.Unmarshal(job.outputs[evidence.OutSummary].Bytes(), &sum); err != nil {
		t.Fatal(err)
	}
	o := sum.Overall
	if o.Items != 4 || o.Scored != 1 || *o.Mean.Value != 1 || math.Abs(*o.TruncationRate.Value-1.0/7) > 1e-15 || o.Failures["timeout"] != 1 {
		t.Errorf("overall %+v", o)
	}
	if o.OutputTokens.Value != nil || o.OutputTokens.Reason != "not-reported" {
		t.Errorf("a sum of token counts that were not all reported: %+v", o.OutputTokens)
	}
	y := sum.Strata["y"]
	if len(sum.Strata) != 2 || y.Mean.Value != nil || y.Mean.Reason != ReasonUnscored || *y.FailureRate.Value != 0 {
		t.Errorf("strata %+v", sum.Strata)
	}
	if diff := cmp.Diff(map[string]string{"contains": "1", "exact": "1", "numeric": "1", "required_facts": "1"}, sum.Scorers); diff != "" {
		t.Error(diff)
	}
}

// The reasons of held-out items quote neither answers nor references.
func TestRunHeldOut(t *testing.T) {
	job, err := runJob(t, `{"stratify":"task","answers":1,"split":"held-out"}`, fourItems,
		response("b", 0, `"text":"","failure":{"class":"timeout","message":"m"}`)+
			response("a", 0, `"text":"4, not 3."`)+response("c", 0, `"text":"x"`))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"a": withheld, "b": "timeout", "c": ScorerError + withheld, "d": NoAnswer} {
		if got := rows(t, &fakeJob{outputs: map[string]*bytes.Buffer{evidence.OutScores: bytes.NewBuffer(bytes.Clone(job.outputs[evidence.OutScores].Bytes()))}})[id]; got.Reason != want {
			t.Errorf("%s: %q, want %q", id, got.Reason, want)
		}
	}
	if _, err := runJob(t, `{"stratify":"task","answers":1,"split":"held-out"}`, `{"id":"a","input":"q","scorer":"exact","answer":"secret`, ""); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestRunMean(t *testing.T) {
	job, err := runJob(t, `{"stratify":"task","answers":3,"where":{"task":["x"]},"limit":1}`, fourItems,
		response("b", 0, `"text":"yes"`)+response("b", 1, `"text":"no"`)+response("b", 2, `"text":"yes"`))
	if err != nil {
		t.Fatal(err)
	}
	got := rows(t, job)
	if len(got) != 1 || *got["b"].Value != 2.0/3 || got["b"].Reason != `worst of 3: "no", want "yes"` {
		t.Errorf("%+v", got)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, tc := range []struct{ params, responses, want string }{
		{`{"stratify":"task","answers":1}`, response("z", 0, `"text":""`), `responses.jsonl:1: there is an answer to item "z", which is not selected`},
		{`{"stratify":"task","answers":1,"limit":1}`, response("a", 0, `"text":""`), `item "a", which is not selected`},
		{`{"stratify":"task","answers":1}`, response("a", 0, `"text":""`) + response("a", 1, `"text":""`), "more than the 1 answers"},
		{`{"stratify":"task","answers":1}`, response("a", 0, `"txt":""`), `unknown field "txt"`},
		{`{"stratify":"task","answers":1,"scorers":{"nope":{}}}`, "", `unknown scorer "nope"`},
	} {
		if _, err := runJob(t, tc.params, fourItems, tc.responses); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %s: %v, want %s", tc.params, tc.responses, err, tc.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job := &fakeJob{params: json.RawMessage(`{"stratify":"task","answers":1}`), outputs: map[string]*bytes.Buffer{},
		inputs: map[string]string{inItems: fourItems, inResponses: response("a", 0, `"text":""`)}}
	if err := Run(ctx, job); err == nil || len(job.outputs) > 0 {
		t.Errorf("a cancelled run: %v, outputs %v", err, job.outputs)
	}
}

func TestSteps(t *testing.T) {
	q := &spec.Quality{Suite: spec.Suite{Items: spec.File{Path: "/i", Digest: step.Sum([]byte("i"))}}, Samples: 2, Repeats: 3, Stratify: "task"}
	c := &spec.Campaign{
		Candidates: map[string]spec.Candidate{"base": {Role: "baseline"}, "cand": {Role: "candidate"}},
		Measure: map[string]spec.Workload{
			"qual": {Quality: q}, "load": {Capacity: &spec.Capacity{}},
			"floor": {NoiseFloor: &spec.NoiseFloor{Candidate: "base", Suite: "qual"}},
			"again": {NoiseFloor: &spec.NoiseFloor{Candidate: "base", Suite: "qual"}},
		},
	}
	var names []string
	for _, s := range Steps(c) {
		names = append(names, s.Name+" <- "+s.Inputs[inResponses].Step)
		if !s.Pure || s.Kind != Kind || s.Inputs[inItems].Blob != q.Suite.Items.Digest {
			t.Errorf("step %+v", s)
		}
		if _, err := step.NewPreimage(s, nil); err != nil {
			t.Error(err)
		}
		if !strings.Contains(string(s.Params), `"answers":6`) {
			t.Errorf("params %s", s.Params)
		}
	}
	want := []string{
		"score/base/qual/scores-2 <- measure/base/qual/generate-2",
		"score/base/qual/scores <- measure/base/qual/generate",
		"score/cand/qual/scores <- measure/cand/qual/generate",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestCheck(t *testing.T) {
	open := func(text string) func(spec.File) (io.ReadCloser, error) {
		return func(spec.File) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	}
	fine := `{"id":"a","strata":{"task":"x"},"input":"q","scorer":"exact","answer":"3"}` + "\n"
	for _, tc := range []struct {
		q     spec.Quality
		items string
		want  []string
	}{
		{spec.Quality{Stratify: "task"}, fine, nil},
		{spec.Quality{Stratify: "task", Scorers: map[string]map[string]any{"exact": {"trim": false}}}, fine, nil},
		{spec.Quality{Stratify: "task"}, fourItems, []string{`measure.w: i.jsonl:3: item c: scorer required_facts: "facts" is an empty list`}},
		{spec.Quality{Stratify: "task"}, "{}\n{}\n", []string{"measure.w: i.jsonl:1: ", "measure.w: i.jsonl:2: "}},
		{spec.Quality{Stratify: "tusk"}, fine, []string{`measure.w: stratify: no selected item has the label "tusk"`}},
		{spec.Quality{Stratify: "task"}, `{"id":"a","input":"q","scorer":"exact","answer":"3"}` + "\n", nil},
		{spec.Quality{Stratify: "tusk"}, `{"id":"a","input":"q","scorer":"exact","answer":"3"}` + "\n", []string{`measure.w: stratify: no selected item has the label "tusk"`}},
		{spec.Quality{Stratify: "task"}, `{"id":"a","strata":{"topic":"x"},"input":"q","scorer":"exact","answer":"3"}` + "\n", []string{`measure.w: stratify: no selected item has the label "task"`}},
		{spec.Quality{Stratify: "task", Where: map[string][]string{"task": {"y"}}}, fine, []string{"measure.w: where: none of the 1 items is selected"}},
		{spec.Quality{Stratify: "task", Scorers: map[string]map[string]any{"numeric": {"tol": 1}}}, fine, []string{"measure.w: scorers.numeric: no item uses this scorer"}},
		{spec.Quality{Stratify: "task", Scorers: map[string]map[string]any{"exakt": {}}}, fine, []string{`measure.w: scorers: unknown scorer "exakt"`}},
		{spec.Quality{Stratify: "task", Scorers: map[string]map[string]any{"exact": {"a": 1}}}, fine, []string{`measure.w: scorers.exact: unknown parameter "a"`}},
	} {
		tc.q.Suite.Items.Name = "i.jsonl"
		got := Check(&spec.Campaign{Measure: map[string]spec.Workload{"w": {Quality: &tc.q}}}, open(tc.items))
		if len(got) != len(tc.want) {
			t.Errorf("%+v: %v, want %v", tc.q, got, tc.want)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i].Error(), tc.want[i]) {
				t.Errorf("%v, want %s", got[i], tc.want[i])
			}
		}
	}
}

// manyRows makes an item file and its answers with all scorers in it.
func manyRows(n int) (itemLines, responses string) {
	kinds := []struct{ fields, text string }{
		{`"scorer":"exact","answer":"yes"`, `"text":"yes"`},
		{`"scorer":"numeric","answer":1234.5`, `"text":"As computed from 3 parts, the total is 1,234.50 euros."`},
		{`"scorer":"json_schema","schema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, `"text":"{\"a\":1,\"b\":[1,2,3]}"`},
		{`"scorer":"json_equal","answer":{"a":1,"b":"x"}`, `"text":"{\"b\":\"x\",\"a\":1.0}"`},
		{`"scorer":"tool_call","expect_tool":{"name":"f","arguments":{"city":"Oslo"}}`, `"text":"","tool_calls":[{"name":"f","arguments":"{\"city\":\"Oslo\"}"}]`},
		{`"scorer":"required_facts","facts":["Oslo","1905"]`, `"text":"Oslo became the capital again in 1905, they say."`},
	}
	var a, b strings.Builder
	for i := range n {
		k := kinds[i%len(kinds)]
		fmt.Fprintf(&a, `{"id":"item-%06d","strata":{"task":"t%d"},"input":"What is it that is asked here, in a sentence or two?",%s}`+"\n", i, i%6, k.fields)
		b.WriteString(response(fmt.Sprintf("item-%06d", i), 0, k.text+`,"finish":"stop","usage":{"prompt_tokens":20,"output_tokens":7}`))
	}
	return a.String(), b.String()
}

// 100,000 rows within the memory that the design promises, and all of them
// right.
func TestRunMemory(t *testing.T) {
	itemLines, responses := manyRows(100_000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	job, err := runJob(t, `{"stratify":"task","answers":1}`, itemLines, responses)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows in %v", 100_000, time.Since(start))
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 200<<20 {
		t.Errorf("the process grew by %d MiB, more than 200", grown>>20)
	}
	var sum evidence.ScoreSummary
	if err := json.Unmarshal(job.outputs[evidence.OutSummary].Bytes(), &sum); err != nil {
		t.Fatal(err)
	}
	if sum.Overall.Scored != 100_000 || *sum.Overall.Mean.Value != 1 {
		t.Errorf("overall %+v", sum.Overall)
	}
}

func BenchmarkRun100k(b *testing.B) {
	itemLines, responses := manyRows(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := runJob(b, `{"stratify":"task","answers":1}`, itemLines, responses); err != nil {
			b.Fatal(err)
		}
	}
}
