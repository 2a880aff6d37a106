package decide

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

var update = flag.Bool("update", false, "write golden files")

// fakeJob hands out one input and keeps one output.
type fakeJob struct {
	step.Job
	def   step.Step
	input []byte
	out   *bytes.Buffer
}

func (j *fakeJob) Params(v any) error {
	d := json.NewDecoder(bytes.NewReader(j.def.Params))
	d.DisallowUnknownFields()
	return d.Decode(v)
}
func (j *fakeJob) Open(name string) (io.ReadCloser, error) {
	if name != "record" {
		return nil, step.ErrNoInput
	}
	return io.NopCloser(bytes.NewReader(j.input)), nil
}
func (j *fakeJob) InputDigest(string) step.Digest { return step.Sum(j.input) }
func (j *fakeJob) Create(name, _ string) (io.WriteCloser, error) {
	if name != evidence.OutDecision {
		return nil, os.ErrInvalid
	}
	return nopWriter{j.out}, nil
}
func (j *fakeJob) Logf(string, ...any) {}

type nopWriter struct{ io.Writer }

func (nopWriter) Close() error { return nil }

func runStep(t testing.TB, c *spec.Campaign, r *evidence.Record) []byte {
	t.Helper()
	input, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	job := &fakeJob{def: Steps(c)[0], input: input, out: new(bytes.Buffer)}
	if err := Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	return job.out.Bytes()
}

func TestGoldenDecision(t *testing.T) {
	got := runStep(t, campaign(), fourCandidates(t))
	golden := filepath.Join("testdata", "decision.json")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
	if again := runStep(t, campaign(), fourCandidates(t)); !bytes.Equal(got, again) {
		t.Error("the same record gave two decisions")
	}
}

func TestFates(t *testing.T) {
	d := Decide(PolicyOf(campaign()), fourCandidates(t), step.Digest{})
	got := map[string]string{}
	for _, c := range d.Candidates {
		got[c.Candidate] = string(c.Verdict) + " " + c.Label + " " + c.Worst
	}
	want := map[string]string{
		"fp8": "pass challenger arithmetic", "awq": "undetermined no-promotion arithmetic",
		"int4": "fail rejected arithmetic", "nvfp4": "fail rejected ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d.Verdict != evidence.Fail {
		t.Errorf("overall %s, want the worst, fail", d.Verdict)
	}
}

func TestStepIsPureAndPlain(t *testing.T) {
	s := Steps(campaign())[0]
	if s.Name != evidence.DecideStep || !s.Pure || s.Inputs["record"].Step != evidence.RecordStep || s.Inputs["record"].Output != evidence.OutRecord {
		t.Errorf("%+v", s)
	}
	if bytes.Contains(s.Params, []byte("allowed_signers")) {
		t.Error("who may sign is among the parameters")
	}
	if _, err := step.NewPreimage(s, nil); err != nil {
		t.Error(err)
	}
}

// one evaluates one guard on fp8 and returns its results.
func one(t testing.TB, g spec.Guard, change func(*evidence.Record)) []evidence.GuardResult {
	t.Helper()
	c, r := campaign(), fourCandidates(t)
	c.Decide.Guards = map[string]spec.Guard{"g": g}
	if change != nil {
		change(r)
	}
	d := Decide(PolicyOf(c), r, step.Digest{})
	i := slices.IndexFunc(d.Candidates, func(c evidence.CandidateDecision) bool { return c.Candidate == "fp8" })
	return d.Candidates[i].Guards
}

func comparisonOf(r *evidence.Record, candidate string) *evidence.Comparison {
	i := slices.IndexFunc(r.Comparisons, func(c evidence.Comparison) bool { return c.Candidate == candidate })
	return &r.Comparisons[i]
}

func TestExpansion(t *testing.T) {
	for _, tt := range []struct {
		guard spec.Guard
		want  []string
	}{
		{spec.Guard{On: "support", Rule: "lo > -0.5"}, []string{"="}},
		{spec.Guard{On: "support", Strata: "all", Rule: "lo > -0.5"}, []string{"=", "arithmetic=", "extract="}},
		{spec.Guard{On: "support", Strata: "each", Rule: "lo > -0.5"}, []string{"arithmetic=", "extract="}},
		{spec.Guard{On: "support", Strata: "extract", Rule: "lo > -0.5"}, []string{"extract="}},
		{spec.Guard{On: "load", Rule: "candidate.request_rate > 1.0"}, []string{"=c=1", "=c=4"}},
		{spec.Guard{On: "load", Concurrency: []int{4, 4}, Rule: "candidate.request_rate > 1.0"}, []string{"=c=4"}},
		{spec.Guard{On: "load", Cells: []string{"c=1"}, Rule: "candidate.request_rate > 1.0 && cell == 'c=1' && concurrency == 1.0"}, []string{"=c=1"}},
	} {
		var got []string
		for _, r := range one(t, tt.guard, nil) {
			got = append(got, r.Stratum+"="+r.Cell)
			if r.Verdict != evidence.Pass {
				t.Errorf("%+v: %s, %s", tt.guard, r.Verdict, r.Reason)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v: %s", tt.guard, diff)
		}
	}
}

// Each of these would pass, or fail, if nobody looked.
func TestDoubtsAreUndetermined(t *testing.T) {
	good := spec.Guard{On: "support", Rule: "lo > -0.5"}
	small := func(interval string, tab table) func(*evidence.Record) {
		return func(r *evidence.Record) {
			*comparisonOf(r, "fp8") = comparison(t, "fp8", map[string]table{"arithmetic": tab}, stats.Options{Interval: interval})
		}
	}
	for name, tt := range map[string]struct {
		guard  spec.Guard
		change func(*evidence.Record)
		reason string
	}{
		"no comparison": {good, func(r *evidence.Record) { r.Comparisons = nil }, "there is no comparison of fp8 with bf16 on support"},
		"baseline stopped": {good, func(r *evidence.Record) {
			r.Comparisons, r.Candidates["bf16"] = nil, evidence.CandidateRecord{Stopped: "no memory"}
		}, "bf16 was stopped: no memory"},
		"no stratum": {spec.Guard{On: "support", Strata: "poems", Rule: "lo > -0.5"}, nil, "no items of stratum poems"},
		"stratum lost": {spec.Guard{On: "support", Strata: "each", Rule: "lo > -0.5"}, func(r *evidence.Record) {
			delete(comparisonOf(r, "fp8").Stats.Strata, "arithmetic")
		}, "no items of stratum arithmetic"},
		"no strata at all": {spec.Guard{On: "support", Strata: "each", Rule: "lo > -0.5"}, func(r *evidence.Record) {
			c := comparisonOf(r, "fp8")
			c.Stats.Strata, c.BaselineScores.Strata, c.CandidateScores.Strata = nil, nil, nil
		}, "nothing to evaluate"},
		"attrition":          {good, func(r *evidence.Record) { comparisonOf(r, "fp8").Attrition.Total = 1203 }, "attrition: 1,203 items"},
		"attrition, failing": {spec.Guard{On: "support", Rule: "lo > 0.5"}, func(r *evidence.Record) { comparisonOf(r, "fp8").Attrition.Total = 3 }, "attrition: 3 items"},
		"drift":              {good, func(r *evidence.Record) { r.Noise[0].Drift = true }, "drift: "},
		"absent floor":       {spec.Guard{On: "support", Rule: "noise.lo > -1.0 || lo > -0.5"}, func(r *evidence.Record) { r.Noise = nil }, "noise.lo is absent: no-noise-floor"},
		"floor of another":   {spec.Guard{On: "support", Rule: "noise.lo > -1.0"}, func(r *evidence.Record) { r.Noise[0].Candidate = "int4" }, "no-noise-floor"},
		"no usage":           {spec.Guard{On: "support", Rule: "candidate.prompt_tokens < 1e9"}, nil, "no-usage (the engine did not report token counts"},
		"not all tokens":     {spec.Guard{On: "support", Rule: "!(candidate.prompt_tokens >= 1e9)"}, nil, "no-usage"},
		"coarse":             {spec.Guard{On: "load", Concurrency: []int{1}, Rule: "candidate.itl_ms.p50 < 1e9"}, nil, "coarse-chunks"},
		"no cell":            {spec.Guard{On: "load", Concurrency: []int{4}, Rule: "candidate.ttft_ms.p95 < 1e9"}, func(r *evidence.Record) { delete(r.Candidates["fp8"].Load, "load") }, "no-cell"},
		"client-bound":       {spec.Guard{On: "load", Concurrency: []int{4}, Rule: "candidate.ttft_ms.p95 <= baseline.ttft_ms.p95"}, func(r *evidence.Record) { r.Candidates["bf16"].Load["load"].Cells[1].ClientBound = true }, "client-bound: the client was the bottleneck of the cell or cannot be trusted, so its times and rates are not the engine's (bf16)"},
		"warm-cache":         {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.ttft_ms.p95 <= baseline.ttft_ms.p95"}, func(r *evidence.Record) { r.Candidates["fp8"].Load["load"].Cells[1].WarmCache = true }, "warm-cache: prompts that were meant to be new were found in a cache in the cell (fp8)"},
		"off-rate":           {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.ttft_ms.p95 <= baseline.ttft_ms.p95"}, func(r *evidence.Record) { r.Candidates["fp8"].Load["load"].Cells[1].OffRate = true }, "off-rate: "},
		"usage-off":          {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.throughput_tok_s > 0.001"}, func(r *evidence.Record) { c := &r.Candidates["fp8"].Load["load"].Cells[1]; c.UsageOff = true }, "usage-off: "},
		"wrong-state":        {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.ttft_ms.p50 <= baseline.ttft_ms.p50"}, func(r *evidence.Record) { c := &r.Candidates["bf16"].Load["load"].Cells[1]; c.WrongState = true }, "wrong-state: "},
		"gaps-uncertain": {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.event_gap_ms.p50 < 1e9"}, func(r *evidence.Record) {
			c := &r.Candidates["fp8"].Load["load"].Cells[1]
			c.GapsUncertain, c.EventGap = true, metric.Dist{N: 300, P50: ptr(2)}
		}, "gaps-uncertain: "},
		"lower-bound": {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.max_rate >= 0.9 * baseline.max_rate"}, func(r *evidence.Record) {
			for _, who := range []string{"fp8", "bf16"} {
				c := &r.Candidates[who].Load["load"].Cells[1]
				c.MaxRate, c.LowerBound = metric.Value{Value: ptr(16)}, true
			}
		}, "lower-bound: the search ended at its upper end, or where the client could not follow, so the true value may be larger (the cell's notes say which) (bf16)"},
		// Known to serve 16 at least: more would fail the first and hold the second.
		"lower-bound, at most": {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.max_rate <= 20.0"}, atLeast16, "lower-bound: the search ended at its upper end, or where the client could not follow, so the true value may be larger (the cell's notes say which) (fp8)"},
		"lower-bound, too low": {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.max_rate >= 20.0"}, atLeast16, "lower-bound: "},
		"cost of failing": {spec.Guard{On: "support", Rule: "cost.per_1k_items.candidate < 1e9"}, func(r *evidence.Record) {
			for _, who := range []string{"fp8", "bf16"} {
				rec := r.Candidates[who]
				rec.Costs = map[string]metric.Cost{"support": metric.NewCost(metric.CostInput{Busy: metric.Of(1, "s"), GPUs: 1, Price: &metric.Price{GPUHour: 1}, Items: 400})}
				r.Candidates[who] = rec
			}
			comparisonOf(r, "fp8").CandidateScores.Overall = evidence.ScoreGroup{Items: 400, Scored: 395}
		}, "attrition: 5 of 400 items of fp8 have no score, and failing is cheap"},
		"unequal-work": {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.e2e_ms.p50 <= baseline.e2e_ms.p50"}, func(r *evidence.Record) {
			for who, n := range map[string]float64{"fp8": 60, "bf16": 64} {
				c := &r.Candidates[who].Load["load"].Cells[1]
				c.E2E, c.OutputTokens = metric.Dist{N: 300, P50: ptr(n)}, metric.Dist{N: 300, Mean: ptr(n)}
			}
		}, "unequal-work: the answers differ in length"},
		"baseline lost some": {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.pass_rate >= baseline.pass_rate"}, func(r *evidence.Record) {
			for _, who := range []string{"fp8", "bf16"} {
				r.Candidates[who].Load["load"].Cells[1].PassRate = metric.Value{Value: ptr(0.5)}
			}
			r.Candidates["bf16"].Load["load"].Cells[1].Failed = 3
		}, "failed-requests: 3 of 300 requests of bf16 failed"},
		"off-length": {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.ttft_ms.p95 <= baseline.ttft_ms.p95"}, func(r *evidence.Record) { r.Candidates["bf16"].Load["load"].Cells[1].OffLength = true }, "off-length: "},
		"of a few": {spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: "candidate.tpot_ms.p50 < 1e9"}, func(r *evidence.Record) {
			c := &r.Candidates["fp8"].Load["load"].Cells[1]
			c.TPOT = metric.Dist{N: 200, P50: ptr(3)}
		}, "partial: candidate.tpot_ms is known of 200 of 300 requests of fp8 only"},
		"not certified":        {spec.Guard{On: "load", Cells: []string{"c=1"}, Rule: "candidate.ttft_ms.p999_certified < 1e9"}, nil, "candidate.ttft_ms.p999_certified is absent: "},
		"not of this kind":     {spec.Guard{On: "load", Cells: []string{"c=1"}, Rule: "candidate.max_rate > 0.0"}, nil, "candidate.max_rate is absent"},
		"bootstrap of a few":   {good, small("bootstrap", table{40, 0, 0}), "small-sample"},
		"boot of a few":        {spec.Guard{On: "support", Rule: "boot.lo > -0.5"}, small("auto", table{40, 1, 1}), "small-sample"},
		"boot of few flips":    {spec.Guard{On: "support", Rule: "boot.lo > -0.5"}, small("auto", table{400, 1, 1}), "few-differences"},
		"fewer flips than bca": {spec.Guard{On: "support", Rule: "t.lo > -0.5"}, small("auto", table{400, 1, 0}), "few-differences"},
		"another's, clustered?": {spec.Guard{On: "support", Rule: "tango.lo > -0.5"}, func(r *evidence.Record) {
			c := comparisonOf(r, "fp8")
			c.Stats.Overall.Clusters = &stats.ClusterSet{N: 7}
		}, "clusters-ignored"},
	} {
		t.Run(name, func(t *testing.T) {
			got := one(t, tt.guard, tt.change)
			if len(got) == 0 || got[0].Verdict != evidence.Undetermined || !strings.Contains(got[0].Reason, tt.reason) {
				t.Errorf("%+v; want undetermined, %s", got, tt.reason)
			}
		})
	}
}

func TestNotInDoubt(t *testing.T) {
	for name, tt := range map[string]struct {
		guard  spec.Guard
		change func(*evidence.Record)
		want   evidence.Verdict
	}{
		"attrition with a policy": {spec.Guard{On: "support", Rule: "lo > -0.5"}, func(r *evidence.Record) {
			c := comparisonOf(r, "fp8")
			c.Attrition.Total, c.Attrition.Policy = 3, "bound"
		}, evidence.Pass},
		"own counts despite drift": {spec.Guard{On: "support", Rule: "candidate.truncation_rate > 0.01"}, func(r *evidence.Record) { r.Noise[0].Drift = true }, evidence.Fail},
		"tango of a few": {spec.Guard{On: "support", Rule: "lo > -0.5"}, func(r *evidence.Record) {
			*comparisonOf(r, "fp8") = comparison(t, "fp8", map[string]table{"arithmetic": {40, 0, 0}}, stats.Options{})
		}, evidence.Pass},
		"unlabelled items are a note": {spec.Guard{On: "support", Rule: "lo > -0.5"}, func(r *evidence.Record) {
			c := comparisonOf(r, "fp8")
			c.Stats.Warnings = append(c.Stats.Warnings, stats.Warning{Code: stats.WarnUnlabelledItems, Message: "3"})
		}, evidence.Pass},
		"a rule that cannot compile":  {spec.Guard{On: "support", Rule: "lwo > 1"}, nil, evidence.Error},
		"a guard on nothing":          {spec.Guard{Rule: "lo > 1.0"}, nil, evidence.Error},
		"an error that || would hide": {spec.Guard{On: "support", Rule: "lo > -0.5 || n / (b - b) > 0.0"}, nil, evidence.Error},
	} {
		t.Run(name, func(t *testing.T) {
			if got := one(t, tt.guard, tt.change); len(got) != 1 || got[0].Verdict != tt.want {
				t.Errorf("%+v; want %s", got, tt.want)
			}
		})
	}
}

func TestNeedItems(t *testing.T) {
	for _, tt := range []struct {
		name, rule string
		interval   string
		tab        table
		lo, hi     int
	}{
		{"tango", "lo > -0.02", "auto", table{334, 9, 8}, 700, 800},
		{"by name", "tango.lo > -0.02", "auto", table{334, 9, 8}, 700, 800},
		{"t", "t.lo > -0.02", "auto", table{334, 15, 14}, 1000, 1300},
		{"width", "lo > -0.02", "bootstrap", table{334, 15, 14}, 1000, 1300},
		{"a fail in sight", "lo > -0.02", "auto", table{334, 14, 1}, 335, 1500},
		{"no number", "lo > 0.0", "auto", table{334, 9, 9}, 0, 0},
		{"not an interval's fault", "candidate.mean > 2.0", "auto", table{334, 9, 9}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := one(t, spec.Guard{On: "support", Rule: tt.rule}, func(r *evidence.Record) {
				*comparisonOf(r, "fp8") = comparison(t, "fp8", map[string]table{"x": tt.tab}, stats.Options{Interval: tt.interval})
			})[0]
			if got.NeedItems < tt.lo || got.NeedItems > tt.hi || got.Items != 334 {
				t.Errorf("need %d of %d: %s", got.NeedItems, got.Items, got.Reason)
			}
			if got.NeedItems > 0 && got.Verdict != evidence.Undetermined {
				t.Errorf("%s and needs items", got.Verdict)
			}
		})
	}
}

// A Tango guard that needs n' items is decided by a table of that size in the
// same proportions.
func TestNeedItemsIsEnough(t *testing.T) {
	need := one(t, spec.Guard{On: "support", Rule: "lo > -0.02"}, func(r *evidence.Record) {
		*comparisonOf(r, "fp8") = comparison(t, "fp8", map[string]table{"x": {250, 10, 10}}, stats.Options{})
	})[0].NeedItems
	k := need/250 + 1
	got := one(t, spec.Guard{On: "support", Rule: "lo > -0.02"}, func(r *evidence.Record) {
		*comparisonOf(r, "fp8") = comparison(t, "fp8", map[string]table{"x": {250 * k, 10 * k, 10 * k}}, stats.Options{})
	})[0]
	if got.Verdict != evidence.Pass {
		t.Errorf("with %d items (%d needed): %s, %s", got.Items, need, got.Verdict, got.Explain)
	}
}

func TestFractionalBelowTheMinimum(t *testing.T) {
	var pairs []stats.Pair
	for i := range 60 {
		pairs = append(pairs, stats.Pair{ID: string(rune('A' + i)), A: 0.5, B: 0.5 + 0.01*float64(i%5-2)})
	}
	res, err := stats.Compare(pairs, stats.Options{Resamples: 1000})
	if err != nil {
		t.Fatal(err)
	}
	got := one(t, spec.Guard{On: "support", Rule: "lo > -0.02"}, func(r *evidence.Record) { comparisonOf(r, "fp8").Stats = res })[0]
	if got.Verdict != evidence.Undetermined || got.NeedItems < stats.MinItems || got.NeedItems > 250 || !strings.Contains(got.Reason, "too-few-items") {
		t.Errorf("%+v", got)
	}
}

func TestRefusedAndStopped(t *testing.T) {
	r := fourCandidates(t)
	c := r.Candidates["fp8"]
	c.Stopped = "out of memory at load"
	r.Candidates["fp8"] = c
	d := Decide(PolicyOf(campaign()), r, step.Digest{})
	for _, got := range d.Candidates {
		switch got.Candidate {
		case "fp8":
			if got.Verdict != evidence.Fail || got.Label != Rejected || got.Why != "stopped: out of memory at load" {
				t.Errorf("%+v", got)
			}
		case "nvfp4":
			if got.Verdict != evidence.Fail || got.Label != Rejected || !strings.Contains(got.Why, "needle") {
				t.Errorf("%+v", got)
			}
		}
	}
}

// atLeast16 makes the candidate's search end at its upper end.
func atLeast16(r *evidence.Record) {
	c := &r.Candidates["fp8"].Load["load"].Cells[1]
	c.MaxRate, c.LowerBound = metric.Value{Value: ptr(16)}, true
}

// A lower bound that already decides is enough.
func TestLowerBoundDecides(t *testing.T) {
	for rule, want := range map[string]evidence.Verdict{
		"candidate.max_rate >= 10.0": evidence.Pass, "candidate.max_rate <= 10.0": evidence.Fail,
		// Its probes were judged one by one; its other numbers were not.
		"candidate.max_rate >= 10.0 && candidate.ttft_ms.p95 < 1e9": evidence.Undetermined,
	} {
		if got := oneGuard(t, spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: rule}, func(r *evidence.Record) {
			atLeast16(r)
			r.Candidates["fp8"].Load["load"].Cells[1].ClientBound = true
		}); got.Verdict != want {
			t.Errorf("%s: %s, %s", rule, got.Verdict, got.Reason)
		}
	}
}

// A slow client changes times and rates, and no count of tokens.
func TestSlowClientCountsAsWell(t *testing.T) {
	for rule, want := range map[string]evidence.Verdict{
		"candidate.output_tokens.mean > 0.0":                                 evidence.Pass,
		"candidate.output_tokens.mean < 0.0":                                 evidence.Fail,
		"candidate.output_tokens.mean > 0.0 && baseline.ttft_ms.p50 > 0.0":   evidence.Pass,
		"candidate.output_tokens.mean > 0.0 && candidate.ttft_ms.p50 > 0.0":  evidence.Undetermined,
		"candidate.throughput_tok_s > 0.0 || candidate.attempted > 100000.0": evidence.Undetermined,
	} {
		if got := oneGuard(t, spec.Guard{On: "load", Cells: []string{"c=4"}, Rule: rule}, func(r *evidence.Record) {
			r.Candidates["fp8"].Load["load"].Cells[1].ClientBound = true
			mean := 64.0
			r.Candidates["fp8"].Load["load"].Cells[1].OutputTokens.Mean = &mean
		}); got.Verdict != want {
			t.Errorf("%s: %s, %s", rule, got.Verdict, got.Reason)
		}
	}
}
