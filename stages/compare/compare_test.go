package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/stats"
)

func files(t *testing.T, a, b string, opt FileOptions) FileResult {
	t.Helper()
	res, err := Files(strings.NewReader(a), strings.NewReader(b), opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// scored writes a score file: one "id score stratum" a word group.
func scored(rows ...string) string {
	var b strings.Builder
	for _, r := range rows {
		f := strings.Fields(r)
		fmt.Fprintf(&b, `{"id":%q,"score":%s,"strata":{"task":%q}}`+"\n", f[0], f[1], f[2])
	}
	return b.String()
}

func TestFilesPairById(t *testing.T) {
	a := scored("1 1 x", "2 0 x", "3 1 y", "4 1 y")
	b := scored("4 0 y", "3 1 y", "2 1 x", "1 1 x") // another order
	res := files(t, a, b, FileOptions{Stats: stats.Options{By: "task"}})
	o := res.Stats.Overall
	if o.N != 4 || *o.Delta != 0 || o.Discordant != (stats.Discordant{B: 1, C: 1}) || res.Attrition.Total != 0 {
		t.Errorf("overall %+v", o)
	}
	if x := res.Stats.Strata["x"]; x.N != 2 || *x.Delta != 0.5 {
		t.Errorf("stratum x %+v", x)
	}
}

func TestFilesErrors(t *testing.T) {
	ok := `{"id":"1","score":1}`
	for _, tc := range []struct{ a, b, want string }{
		{ok + "\n" + ok, ok, `a.jsonl:2: the id "1" stands there already`},
		{ok, `{"score":1}`, "b.jsonl:1: the row has no id"},
		{ok, `{"id":"1"}`, `b.jsonl:1: the row has no "score"; write null`},
		{ok, `{"id":"1","score":"1"}`, `b.jsonl:1: the score is "\"1\"", want a number`},
		{ok, `{"id":"1","score":true}`, "want a number"},
		{ok, `{"id":"1","score":1e999}`, "out of range"},
		{ok, `{"id":"1","score":NaN}`, "b.jsonl:1: not valid JSON"},
		{ok, `{"id":"1","score":1,"score":0}`, "b.jsonl:1: not valid JSON"},
		{ok, `{"id":"1","score":1,"value":1}`, "both"},
		{ok, `{"id":"1","score":1,"stratum":"x"}`, `unknown field "stratum"`},
		{ok, "", "b.jsonl:1: there are no rows in the file"},
		{ok, ok + "\n\n", "b.jsonl:2: the line is empty"},
		{`{"id":"1","score":1,"strata":{"t":"x"}}`, `{"id":"1","score":1,"strata":{"t":"y"}}`, `item "1": label "t" is "x" on one side and "y" on the other`},
		{`{"id":"1","score":1,"cluster":"x"}`, `{"id":"1","score":1,"cluster":"y"}`, `item "1": cluster is`},
	} {
		_, err := Files(strings.NewReader(tc.a), strings.NewReader(tc.b), FileOptions{NameA: "a.jsonl", NameB: "b.jsonl"})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s | %s: %v, want %s", tc.a, tc.b, err, tc.want)
		}
	}
	if _, err := Files(nil, nil, FileOptions{Missing: "drop"}); err == nil {
		t.Error("an unknown policy was accepted")
	}
	_, err := Files(strings.NewReader(`{"id":"1","score":7}`), strings.NewReader(`{"id":"1","score":null}`+"\n"+ok2), FileOptions{Missing: Zero})
	if err == nil || !strings.Contains(err.Error(), "needs scores in [0,1]") {
		t.Errorf("a policy over scores outside [0,1]: %v", err)
	}
}

const ok2 = `{"id":"2","score":1}`

func TestPolicies(t *testing.T) {
	a := scored("1 1 x", "2 1 x", "3 0 x", "4 1 x", "onlyA 1 x", "null 1 x", "gone 1 z")
	b := scored("1 1 x", "2 0 x", "3 1 x", "4 1 x", "onlyB 0 x", "null null x")
	att := evidence.Attrition{OnlyBaseline: []string{"gone", "onlyA"}, OnlyCandidate: []string{"onlyB"}, Unscored: []string{"null"}, Total: 4}
	by := stats.Options{By: "task"}
	none := files(t, a, b, FileOptions{Stats: by})
	zero := files(t, a, b, FileOptions{Stats: by, Missing: Zero})
	bound := files(t, a, b, FileOptions{Stats: by, Missing: Bound})
	for policy, res := range map[string]FileResult{Undetermined: none, Zero: zero, Bound: bound} {
		att.Policy = policy
		if diff := cmp.Diff(att, res.Attrition); diff != "" {
			t.Errorf("%s: %s", policy, diff)
		}
		if _, ok := res.Stats.Strata["z"]; !ok {
			t.Errorf("%s: a stratum that lost all its items vanished", policy)
		}
	}
	if o := none.Stats.Overall; o.N != 4 || *o.Delta != 0 {
		t.Errorf("undetermined: %+v", o)
	}
	if z := none.Stats.Strata["z"]; z.N != 0 || z.Lo != nil || z.Reason != stats.ReasonNoItems {
		t.Errorf("empty stratum %+v", z)
	}
	// Worst case: onlyA 1->0, gone 1->0, null 1->0, onlyB 1->0.
	if o := zero.Stats.Overall; o.N != 8 || *o.Delta != -0.5 || o.Discordant != (stats.Discordant{B: 5, C: 1}) {
		t.Errorf("zero: %+v", o)
	}
	n, w := none.Stats.Overall, bound.Stats.Overall
	if w.N != 4 || math.Abs(*n.Lo-*w.Lo-0.5) > 1e-15 || math.Abs(*w.Hi-*n.Hi-0.5) > 1e-15 {
		t.Errorf("bound: [%v,%v] from [%v,%v], want 4/8 wider at each end", *w.Lo, *w.Hi, *n.Lo, *n.Hi)
	}
	nx, wx := none.Stats.Strata["x"], bound.Stats.Strata["x"]
	if math.Abs(*nx.Lo-*wx.Lo-3.0/7) > 1e-15 || math.Abs(nx.Intervals.Bootstrap.Lo-wx.Intervals.Bootstrap.Lo-3.0/7) > 1e-15 {
		t.Errorf("bound in a stratum: %v from %v", *wx.Lo, *nx.Lo)
	}
}

// Whatever the missing scores were, the difference over all items lies within
// what zero and bound allow.
func TestPoliciesBoundTheTruth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(rt, "n")
		a, b, truth, lost := side{}, side{}, 0.0, 0
		for i := range n {
			x, y := float64(rapid.IntRange(0, 4).Draw(rt, "a"))/4, float64(rapid.IntRange(0, 4).Draw(rt, "b"))/4
			truth += (y - x) / float64(n)
			rowA, rowB := evidence.ScoreRow{ID: fmt.Sprint(i), Value: &x}, evidence.ScoreRow{ID: fmt.Sprint(i), Value: &y}
			keepA, keepB := i == 0 || rapid.Bool().Draw(rt, "keepA"), i == 0 || rapid.Bool().Draw(rt, "keepB")
			if !keepA {
				rowA.Value = nil
			}
			if !keepB {
				rowB.Value = nil
			}
			if !keepA || !keepB {
				lost++
			}
			if err := a.add(rowA); err != nil {
				rt.Fatal(err)
			}
			if err := b.add(rowB); err != nil {
				rt.Fatal(err)
			}
		}
		p, err := pair(a, b, Zero, 1)
		if err != nil {
			rt.Fatal(err)
		}
		res, err := p.statistics(stats.Options{Resamples: 10})
		if err != nil {
			rt.Fatal(err)
		}
		if worst := *res.Overall.Delta; worst > truth+1e-12 {
			rt.Fatalf("the worst case %v is better than the truth %v", worst, truth)
		}
		if p.attrition.Total != lost || res.Overall.N != n {
			rt.Fatalf("%d lost, attrition %+v, n %d", lost, p.attrition, res.Overall.N)
		}
	})
}

func TestFilesOfAScoreStep(t *testing.T) {
	a := `{"id":"1","strata":{"task":"x"},"cluster":"k","weight":3,"value":1,"reason":"ok","scorer":"exact/1","n":1,"truncated":0,"failed":0}
{"id":"2","strata":{"task":"y"},"cluster":"k","weight":1,"value":1,"reason":"ok","scorer":"exact/1","n":1,"truncated":0,"failed":0}
`
	b := strings.Replace(a, `"value":1,"reason":"ok"`, `"value":0.5,"reason":"no"`, 1)
	res := files(t, a, b, FileOptions{Stats: stats.Options{By: "task"}})
	if res.Stats.Overall.Clusters == nil || res.Stats.Weighted == nil {
		t.Fatalf("clusters and weights were dropped: %+v", res.Stats)
	}
	if got := res.Stats.Weighted.Delta; got != -0.375 {
		t.Errorf("weighted by traffic: %v, want 3/4 of -0.5", got)
	}
}

func TestAttritionListsAtMost100(t *testing.T) {
	var a strings.Builder
	for i := range 250 {
		fmt.Fprintf(&a, `{"id":"%03d","score":1}`+"\n", i)
	}
	res := files(t, a.String(), `{"id":"000","score":1}`, FileOptions{})
	if res.Attrition.Total != 249 || len(res.Attrition.OnlyBaseline) != 100 || res.Attrition.OnlyBaseline[0] != "001" {
		t.Errorf("%+v", res.Attrition)
	}
}

func TestFlips(t *testing.T) {
	mk := func(values map[string]float64) side {
		s := side{}
		for id, v := range values {
			s[id] = evidence.ScoreRow{ID: id, Value: &v, Reason: "r" + id, Strata: map[string]string{"task": "x"}}
		}
		return s
	}
	a := mk(map[string]float64{"lost2": 1, "lost1": 1, "half": 1, "won": 0, "same": 1, "none": 1})
	b := mk(map[string]float64{"lost2": 0, "lost1": 0, "half": 0.5, "won": 1, "same": 1})
	b["none"] = evidence.ScoreRow{ID: "none"}
	var got []string
	for _, f := range flips(a, b, "task") {
		got = append(got, f.ID)
		if f.Stratum != "x" || f.ReasonA != "r"+f.ID {
			t.Errorf("%+v", f)
		}
	}
	if diff := cmp.Diff([]string{"lost1", "lost2", "half", "won"}, got); diff != "" {
		t.Error(diff)
	}
	many, other := side{}, side{}
	for i := range 1500 {
		id, zero, one := fmt.Sprintf("%04d", i), 0.0, 1.0
		many[id], other[id] = evidence.ScoreRow{ID: id, Value: &one}, evidence.ScoreRow{ID: id, Value: &zero}
	}
	if got := flips(many, other, ""); len(got) != maxFlips || got[0].ID != "0000" {
		t.Errorf("%d flips, first %s", len(got), got[0].ID)
	}
}

func TestAgreement(t *testing.T) {
	row := func(id string, sample int, rest string) string {
		return fmt.Sprintf(`{"id":%q,"sample":%d,"repeat":0,"request":"%064d",%s}`+"\n", id, sample, 0, rest)
	}
	a := row("1", 0, `"text":"x"`) + row("1", 1, `"text":"x"`) + row("2", 0, `"text":"","tool_calls":[{"id":"r1","name":"f","arguments":"{}"}]`) + row("3", 0, `"text":"x","failure":{"class":"timeout","message":""}`) + row("4", 0, `"text":"x"`)
	b := row("2", 0, `"text":"","tool_calls":[{"id":"r2","name":"f","arguments":"{}"}]`) + row("1", 0, `"text":"x","reasoning":"z"`) + row("1", 1, `"text":"y"`) + row("3", 0, `"text":"x"`) + row("5", 0, `"text":"x"`)
	got, err := agreement(strings.NewReader(a), strings.NewReader(b))
	if err != nil || got != (evidence.TextAgreement{Compared: 3, Identical: 2}) {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := agreement(strings.NewReader(row("1", 0, `"text":""`)+row("1", 0, `"text":""`)), strings.NewReader("")); err == nil {
		t.Error("two answers for one key were accepted")
	}
}

// fakeJob is a step.Job in memory.
type fakeJob struct {
	step.Job
	step    step.Step
	inputs  map[string]string
	outputs map[string]*bytes.Buffer
}

func (j *fakeJob) Params(v any) error {
	dec := json.NewDecoder(bytes.NewReader(j.step.Params))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

func (j *fakeJob) Step() step.Step { return j.step }

// Open refuses, as the engine does, what the step does not declare.
func (j *fakeJob) Open(name string) (io.ReadCloser, error) {
	if _, declared := j.step.Inputs[name]; !declared {
		return nil, fmt.Errorf("%s is not among the inputs", name)
	}
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

func campaign() *spec.Campaign {
	return &spec.Campaign{
		Candidates: map[string]spec.Candidate{"base": {Role: "baseline"}, "cand": {Role: "candidate"}},
		Measure: map[string]spec.Workload{
			"qual":  {Quality: &spec.Quality{Stratify: "task", Samples: 1, Repeats: 1}},
			"floor": {NoiseFloor: &spec.NoiseFloor{Candidate: "base", Suite: "qual"}},
		},
		Decide: spec.Decide{Statistics: spec.Statistics{Confidence: 0.95, Interval: "auto", Missing: "undetermined", Bootstrap: spec.Bootstrap{Resamples: 1000, Seed: 1, Generator: "fast"}}},
	}
}

func TestSteps(t *testing.T) {
	steps := Steps(campaign())
	if len(steps) != 2 || steps[0].Name != "compare/noise/floor" || steps[1].Name != "compare/cand/qual" {
		t.Fatalf("%+v", steps)
	}
	want := map[string]step.Input{
		inBaselineScores:     {Step: "score/base/qual/scores", Output: "scores.jsonl"},
		inCandidateScores:    {Step: "score/cand/qual/scores", Output: "scores.jsonl"},
		inBaselineSummary:    {Step: "score/base/qual/scores", Output: "summary.json"},
		inCandidateSummary:   {Step: "score/cand/qual/scores", Output: "summary.json"},
		inBaselineResponses:  {Step: "measure/base/qual/generate", Output: "responses.jsonl"},
		inCandidateResponses: {Step: "measure/cand/qual/generate", Output: "responses.jsonl"},
		inNoise:              {Step: "compare/noise/floor", Output: "noise.json", Optional: true},
	}
	if diff := cmp.Diff(want, steps[1].Inputs); diff != "" {
		t.Error(diff)
	}
	if got := steps[0].Inputs[inCandidateScores].Step; got != "score/base/qual/scores-2" {
		t.Errorf("the floor's second run is %s", got)
	}
	for _, s := range steps {
		if _, err := step.NewPreimage(s, nil); err != nil || !s.Pure {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

const (
	scoresA = `{"id":"1","strata":{"task":"x"},"value":1,"reason":"ok","scorer":"exact/1","n":1,"truncated":0,"failed":0}
{"id":"2","strata":{"task":"x"},"value":1,"reason":"ok","scorer":"exact/1","n":1,"truncated":0,"failed":0}
`
	scoresB = `{"id":"1","strata":{"task":"x"},"value":0,"reason":"bad","scorer":"exact/1","n":1,"truncated":0,"failed":0}
{"id":"2","strata":{"task":"x"},"value":null,"reason":"timeout","scorer":"exact/1","n":0,"truncated":0,"failed":1}
`
	answer  = `{"id":"1","sample":0,"repeat":0,"request":"0000000000000000000000000000000000000000000000000000000000000000","text":"x"}` + "\n"
	summary = `{"stratify":"task","overall":{"items":2,"scored":2},"strata":{},"scorers":{"exact":"1"}}`
)

func TestRunBothKinds(t *testing.T) {
	steps := Steps(campaign())
	inputs := map[string]string{
		inBaselineScores: scoresA, inCandidateScores: scoresB, inBaselineSummary: summary, inCandidateSummary: summary,
		inBaselineResponses: answer, inCandidateResponses: answer,
	}
	noise := &fakeJob{step: steps[0], inputs: inputs, outputs: map[string]*bytes.Buffer{}}
	if err := RunNoise(t.Context(), noise); err != nil {
		t.Fatal(err)
	}
	var floor evidence.NoiseFloor
	if err := json.Unmarshal(noise.outputs[evidence.OutNoise].Bytes(), &floor); err != nil {
		t.Fatal(err)
	}
	if floor.Candidate != "base" || floor.Workload != "qual" || floor.Stats.Overall.N != 1 || !strings.Contains(floor.Note, "1 items have no score") {
		t.Errorf("%+v", floor)
	}
	for _, withNoise := range []bool{false, true} {
		if withNoise {
			inputs[inNoise] = noise.outputs[evidence.OutNoise].String()
		}
		job := &fakeJob{step: steps[1], inputs: inputs, outputs: map[string]*bytes.Buffer{}}
		if err := Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		var doc evidence.Comparison
		if err := json.Unmarshal(job.outputs[evidence.OutComparison].Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Baseline != "base" || doc.Candidate != "cand" || *doc.Stats.Overall.Delta != -1 || len(doc.Flips) != 1 ||
			doc.Agreement.Identical != 1 || doc.BaselineScores.Overall.Items != 2 || (doc.Noise != nil) != withNoise {
			t.Errorf("%+v", doc)
		}
		if diff := cmp.Diff(evidence.Attrition{Unscored: []string{"2"}, Total: 1, Policy: Undetermined}, doc.Attrition); diff != "" {
			t.Error(diff)
		}
		again := &fakeJob{step: steps[1], inputs: inputs, outputs: map[string]*bytes.Buffer{}}
		if err := Run(t.Context(), again); err != nil || again.outputs[evidence.OutComparison].String() != job.outputs[evidence.OutComparison].String() {
			t.Errorf("a second run gave other bytes: %v", err)
		}
	}
	delete(inputs, inBaselineSummary)
	job := &fakeJob{step: steps[1], inputs: inputs, outputs: map[string]*bytes.Buffer{}}
	if err := Run(t.Context(), job); err == nil || len(job.outputs) > 0 {
		t.Errorf("a missing input: %v, outputs %v", err, job.outputs)
	}
}

// Under bonferroni three candidates share the risk of 5 %, and the noise floor,
// which compares none of them, does not. By hand: without any difference Tango's
// limit is -q^2/(n+q^2), with q = 2.39397980 at 98.33 % and 1.95996398 at 95 %.
func TestBonferroni(t *testing.T) {
	c := campaign()
	c.Candidates["second"], c.Candidates["third"] = spec.Candidate{Role: "candidate"}, spec.Candidate{Role: "candidate"}
	c.Decide.Statistics.Multiplicity = "bonferroni"
	var rows strings.Builder
	for i := range 100 {
		fmt.Fprintf(&rows, `{"id":"%03d","strata":{"task":"x"},"value":1,"reason":"","scorer":"exact/1","n":1,"truncated":0,"failed":0}`+"\n", i)
	}
	inputs := map[string]string{inBaselineScores: rows.String(), inCandidateScores: rows.String(), inBaselineSummary: summary, inCandidateSummary: summary,
		inBaselineResponses: answer, inCandidateResponses: answer}
	for _, s := range Steps(c) {
		job := &fakeJob{step: s, inputs: inputs, outputs: map[string]*bytes.Buffer{}}
		run, out, q := Run, evidence.OutComparison, 2.39397980
		if s.Kind == KindNoise {
			run, out, q = RunNoise, evidence.OutNoise, 1.95996398
		}
		if err := run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		var doc struct{ Stats stats.Result }
		if err := json.Unmarshal(job.outputs[out].Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		for name, sum := range map[string]stats.Summary{"overall": doc.Stats.Overall, "x": doc.Stats.Strata["x"]} {
			if want := -q * q / (100 + q*q); math.Abs(*sum.Lo-want) > 1e-8 {
				t.Errorf("%s, %s: lo = %v at %v, want %v", s.Name, name, *sum.Lo, sum.Confidence, want)
			}
		}
	}
}

// A campaign need not have a noise floor.
func TestRunWithoutNoiseFloor(t *testing.T) {
	c := campaign()
	delete(c.Measure, "floor")
	job := &fakeJob{step: Steps(c)[0], outputs: map[string]*bytes.Buffer{}, inputs: map[string]string{
		inBaselineScores: scoresA, inCandidateScores: scoresA, inBaselineSummary: summary, inCandidateSummary: summary,
		inBaselineResponses: answer, inCandidateResponses: answer}}
	if err := Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(job.outputs[evidence.OutComparison].String(), `"noise"`) {
		t.Error("a floor that nobody measured is in the comparison")
	}
}

// Under the policy zero an item that fails in both runs of the baseline is no
// difference between them.
func TestFloorUnderZero(t *testing.T) {
	c := campaign()
	c.Decide.Statistics.Missing = Zero
	var rows strings.Builder
	for i := range 60 {
		value := "1"
		if i < 24 {
			value = "null"
		}
		fmt.Fprintf(&rows, `{"id":"%03d","strata":{"task":"x"},"value":%s,"reason":"","scorer":"exact/1","n":1,"truncated":0,"failed":0}`+"\n", i, value)
	}
	job := &fakeJob{step: Steps(c)[0], outputs: map[string]*bytes.Buffer{}, inputs: map[string]string{
		inBaselineScores: rows.String(), inCandidateScores: rows.String(), inBaselineResponses: answer, inCandidateResponses: answer}}
	if err := RunNoise(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	var floor evidence.NoiseFloor
	if err := json.Unmarshal(job.outputs[evidence.OutNoise].Bytes(), &floor); err != nil {
		t.Fatal(err)
	}
	if floor.Drift || *floor.Stats.Overall.Delta != 0 {
		t.Errorf("drift %v, delta %v", floor.Drift, *floor.Stats.Overall.Delta)
	}
}

// A floor whose own interval excludes 0 is drift.
func TestDrift(t *testing.T) {
	var a, b strings.Builder
	for i := range 100 {
		row := `{"id":"%03d","strata":{"task":"x"},"value":%d,"reason":"","scorer":"exact/1","n":1,"truncated":0,"failed":0}` + "\n"
		fmt.Fprintf(&a, row, i, 1)
		fmt.Fprintf(&b, row, i, min(1, i/20))
	}
	for second, want := range map[string]bool{a.String(): false, b.String(): true} {
		job := &fakeJob{step: Steps(campaign())[0], outputs: map[string]*bytes.Buffer{}, inputs: map[string]string{
			inBaselineScores: a.String(), inCandidateScores: second, inBaselineResponses: answer, inCandidateResponses: answer}}
		if err := RunNoise(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		var floor evidence.NoiseFloor
		if err := json.Unmarshal(job.outputs[evidence.OutNoise].Bytes(), &floor); err != nil || floor.Drift != want {
			t.Errorf("drift %v, want %v (%v)", floor.Drift, want, err)
		}
	}
}

func FuzzFiles(f *testing.F) {
	f.Add(scored("1 1 x", "2 0 y"), scored("1 0 x", "3 0.5 y"))
	f.Add(`{"id":"1","score":null}`, scoresA)
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, policy := range []string{Undetermined, Zero, Bound} {
			res, err := Files(strings.NewReader(a), strings.NewReader(b), FileOptions{Missing: policy, Stats: stats.Options{By: "task", Resamples: 20}})
			if err != nil {
				continue
			}
			if _, err := json.Marshal(res); err != nil {
				t.Fatalf("the result cannot be written: %v", err)
			}
		}
	})
}

func BenchmarkFiles100k(b *testing.B) {
	var x, y strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&x, `{"id":"item-%06d","score":%d,"strata":{"task":"t%d"}}`+"\n", i, i%2, i%6)
		fmt.Fprintf(&y, `{"id":"item-%06d","score":%d,"strata":{"task":"t%d"}}`+"\n", i, (i/3)%2, i%6)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Files(strings.NewReader(x.String()), strings.NewReader(y.String()), FileOptions{Stats: stats.Options{By: "task", Resamples: 1000}}); err != nil {
			b.Fatal(err)
		}
	}
}
