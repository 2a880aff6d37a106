package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

var specHash = step.SpecDigest(canonicalSpec)

func campaign() *spec.Campaign {
	return &spec.Campaign{
		Campaign: "support-fp8", Decision: spec.Decision{Question: "Serve fp8?", Kind: "quantisation"},
		Candidates: map[string]spec.Candidate{"bf16": {Role: "baseline"}, "fp8": {Role: "candidate"}, "nvfp4": {Role: "candidate"}},
		Measure: map[string]spec.Workload{
			"support": {Kind: "quality", Quality: &spec.Quality{}},
			"again":   {Kind: "noise-floor", NoiseFloor: &spec.NoiseFloor{Candidate: "bf16", Suite: "support"}},
			"steady":  {Kind: "capacity", Capacity: &spec.Capacity{Concurrency: []int{1, 8}, Trials: 2}},
		},
	}
}

// inputsOf makes every input of the record step that the fixture has a
// document for; nvfp4 was refused, so nothing after its preflight is there.
func inputsOf(t *testing.T, s step.Step) map[string][]byte {
	t.Helper()
	rec, _ := fixture(t)
	var p recordParams
	if err := json.Unmarshal(s.Params, &p); err != nil {
		t.Fatal(err)
	}
	in := map[string][]byte{}
	for i, src := range p.Sources {
		c := rec.Candidates[src.Candidate]
		switch {
		case src.What == "pin":
			in[src.Input] = encode(t, c.Pin)
		case src.What == "preflight":
			in[src.Input] = encode(t, c.Preflight)
		case src.Candidate == "nvfp4":
		case src.What == "summary":
			in[src.Input] = encode(t, c.Scores["support"])
		case src.What == "metrics":
			in[src.Input] = encode(t, c.Load["steady"])
		case src.What == "comparison":
			in[src.Input] = encode(t, rec.Comparisons[1])
		case src.What == "noise":
			in[src.Input] = encode(t, rec.Noise[0])
		case src.Output == evidence.OutTimings:
			in[src.Input] = fmt.Appendf(nil, `{"id":"a","times":{"start_unix_ns":%d}}`+"\n", 1_795_800_000_000_000_000+i)
		case src.Output == evidence.OutCell:
			in[src.Input] = []byte(`{"protocol":"capacity-v3","start_unix_ns":9}` + "\n" + `{"index":0,"times":{"start_unix_ns":1795910399000000000}}` + "\n")
		default:
			in[src.Input] = []byte("{}\n")
		}
	}
	return in
}

func recordOf(t *testing.T, edit func(map[string][]byte)) (evidence.Record, []byte) {
	t.Helper()
	s := Steps(specHash)(campaign())[0]
	job := &fakeJob{def: s, inputs: inputsOf(t, s)}
	if edit != nil {
		edit(job.inputs)
	}
	if err := (RecordRunner{}).Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	out := job.outputs[evidence.OutRecord]
	if out == nil || !out.closed || out.mediaType != "application/json" {
		t.Fatalf("record.json: %+v", out)
	}
	var rec evidence.Record
	if err := json.Unmarshal(out.Bytes(), &rec); err != nil {
		t.Fatal(err)
	}
	return rec, out.Bytes()
}

func unknowns(rec evidence.Record) map[string]string {
	out := map[string]string{}
	for _, u := range rec.Unknown {
		out[u.Field] = u.Reason
	}
	return out
}

func TestRecordGathersEverything(t *testing.T) {
	rec, raw := recordOf(t, nil)
	if rec.Schema != RecordSchema || rec.SpecHash != specHash || rec.Baseline != "bf16" || rec.Question != "Serve fp8?" {
		t.Errorf("header %+v", rec)
	}
	if rec.Date != "2026-11-28" {
		t.Errorf("date %q, want the day of the newest request, not of a cell's header", rec.Date)
	}
	want := map[string][]string{"bf16": {"functional", "capacity", "quality"}, "fp8": {"functional", "capacity", "quality"}, "nvfp4": {}}
	if diff := cmp.Diff(want, rec.Labels); diff != "" {
		t.Error(diff)
	}
	if len(rec.Comparisons) != 1 || len(rec.Noise) != 1 {
		t.Errorf("%d comparisons and %d noise floors, want one each", len(rec.Comparisons), len(rec.Noise))
	}
	for _, e := range rec.Evidence {
		if strings.Contains(e.Step, "nvfp4") || e.Digest.IsZero() {
			t.Errorf("evidence of what was not measured: %+v", e)
		}
	}
	// Two candidates: responses, timings, what was kept, scores and four cells with scrapes
	// each; and the baseline's second run.
	if len(rec.Evidence) != 2*12+4 {
		t.Errorf("%d raw outputs, want 28", len(rec.Evidence))
	}
	if _, again := recordOf(t, nil); !bytes.Equal(raw, again) {
		t.Error("the same inputs gave two records")
	}
}

// A row of an earlier set costs its share of the time that it had the endpoint
// for; a second trial has no cost, and most generations keep nothing.
func TestRecordOfKeptRows(t *testing.T) {
	const first, second = "measure/bf16/support/generate:", "measure/bf16/support/generate-2:"
	rec, _ := recordOf(t, func(in map[string][]byte) {
		for _, gen := range []string{first, second} {
			if _, there := in[gen+evidence.OutKept]; !there {
				t.Fatalf("%s%s is no input", gen, evidence.OutKept)
			}
		}
		in[first+evidence.OutTimings] = []byte(`{"id":"a","times":{"start_unix_ns":1795800000000000000,"end_ns":4000000000}}` + "\n")
		in[first+evidence.OutKept] = []byte(`{"rows":1,"asked":2,"from":[{"key":"` + strings.Repeat("a", 64) + `","record":3,"rows":1}],"beside":[{"start":1795800002000000000,"end":1795800009000000000}]}`)
		in[second+evidence.OutKept] = []byte(`{"rows":1,"asked":0,"from":[],"beside":[{"start":1795800000000000000,"end":1795800004000000000}]}`)
		for name := range in {
			if strings.HasSuffix(name, "fp8/support/generate:"+evidence.OutKept) {
				delete(in, name)
			}
		}
	})
	if busy := rec.Candidates["bf16"].Costs["support"].BusyS; busy.Value == nil || *busy.Value != 3 {
		t.Errorf("busy %+v, want 3 s", busy)
	}
	if k := rec.Candidates["bf16"].Kept; len(k) != 1 || k["support"].Rows != 1 || k["support"].Asked != 2 || k["support"].Oldest != "2026-11-27" || k["support"].From[0].Record != 3 {
		t.Errorf("kept %+v", k)
	}
	if k := rec.Candidates["fp8"].Kept; k != nil {
		t.Errorf("fp8 kept %+v", k)
	}
	for field := range unknowns(rec) {
		if strings.Contains(field, "kept") || strings.Contains(field, "fp8") && strings.Contains(field, "generate") {
			t.Errorf("%s is unknown", field)
		}
	}
}

func TestRecordOfRefusedCandidate(t *testing.T) {
	rec, _ := recordOf(t, nil)
	c := rec.Candidates["nvfp4"]
	if c.Preflight == nil || c.Preflight.Passed || c.Stopped != "preflight json: the answer is no JSON value" {
		t.Errorf("%+v", c)
	}
	got := unknowns(rec)
	for _, field := range []string{"candidates.nvfp4.scores.support", "candidates.nvfp4.load.steady", "comparisons.nvfp4.support"} {
		if got[field] != "nvfp4 was stopped: "+c.Stopped {
			t.Errorf("%s: %q", field, got[field])
		}
	}
}

func TestRecordWithoutInputs(t *testing.T) {
	rec, _ := recordOf(t, func(in map[string][]byte) { clear(in) })
	if rec.Date != "" || len(rec.Evidence) != 0 || rec.Comparisons == nil || rec.Noise == nil {
		t.Errorf("%+v", rec)
	}
	got := unknowns(rec)
	for field, want := range map[string]string{
		"date": "nothing was measured", "candidates.fp8.pin": "the candidate was not observed",
		"candidates.fp8.preflight":       "the candidate was not checked",
		"comparisons.fp8.support":        "fp8 was not checked, so it was not measured",
		"noise.again":                    "bf16 was not checked, so it was not measured",
		"candidates.bf16.scores.support": "bf16 was not checked, so it was not measured",
	} {
		if got[field] != want {
			t.Errorf("%s: %q, want %q", field, got[field], want)
		}
	}
	fields := make([]string, len(rec.Unknown))
	for i, u := range rec.Unknown {
		fields[i] = u.Field
	}
	if !slices.IsSorted(fields) {
		t.Error("unknown fields are not sorted")
	}
}

func TestRecordErrorsNameTheInput(t *testing.T) {
	s := Steps(specHash)(campaign())[0]
	for _, input := range []string{
		evidence.PinStep("fp8") + ":" + evidence.OutPin,
		evidence.CellStep("fp8", "steady", "c=8", 2) + ":" + evidence.OutCell,
		evidence.CompareStep("fp8", "support") + ":" + evidence.OutComparison,
	} {
		in := inputsOf(t, s)
		if _, ok := in[input]; !ok {
			t.Fatalf("no input %s among %v", input, slices.Sorted(maps.Keys(in)))
		}
		in[input] = []byte(`{"torn`)
		err := (RecordRunner{}).Run(context.Background(), &fakeJob{def: s, inputs: in})
		if err == nil || !strings.Contains(err.Error(), input) {
			t.Errorf("%s: %v", input, err)
		}
	}
}

func TestSteps(t *testing.T) {
	steps := Steps(specHash)(campaign())
	if len(steps) != 2 || steps[0].Kind != RecordKind || steps[1].Kind != FindingKind || !steps[0].Pure || !steps[1].Pure {
		t.Fatalf("%+v", steps)
	}
	for name, in := range steps[0].Inputs {
		if !in.Optional || name != in.Step+":"+in.Output {
			t.Errorf("%s: %+v", name, in)
		}
	}
	other, err := step.NewPreimage(Steps(step.Sum([]byte("other")))(campaign())[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := step.NewPreimage(steps[0], nil)
	if err != nil || bytes.Equal(mine.Params, other.Params) {
		t.Errorf("the spec hash is not among the parameters: %v", err)
	}
}

func TestKeptCaveats(t *testing.T) {
	got := keptCaveats("fp8", map[string]evidence.KeptRows{"b": {Rows: 1960, Asked: 40, Oldest: "2026-03-01"}, "a": {Rows: 1}})
	want := []caveat{{"fp8, a", "1 of 1 answer kept from an earlier set"}, {"fp8, b", "1,960 of 2,000 answers kept from an earlier set; the oldest was asked for on 2026-03-01"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
