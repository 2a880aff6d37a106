package decide

import (
	"fmt"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// table describes one stratum of a comparison by its paired 0/1 table: n items,
// b of them right for the baseline only, c for the candidate only.
type table struct{ n, b, c int }

func ptr(x float64) *float64 { return &x }

func compareTables(t testing.TB, strata map[string]table, opt stats.Options) stats.Result {
	t.Helper()
	var pairs []stats.Pair
	for name, tab := range strata {
		for i := range tab.n {
			p := stats.Pair{ID: fmt.Sprintf("%s-%04d", name, i), A: 1, B: 1, Strata: map[string]string{"task": name}}
			switch {
			case i < tab.b:
				p.B = 0
			case i < tab.b+tab.c:
				p.A = 0
			}
			pairs = append(pairs, p)
		}
	}
	opt.By, opt.Resamples = "task", 1000
	r, err := stats.Compare(pairs, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// comparison is a comparison whose own scores agree with its statistics.
func comparison(t testing.TB, candidate string, strata map[string]table, opt stats.Options) evidence.Comparison {
	t.Helper()
	r := compareTables(t, strata, opt)
	return evidence.Comparison{
		Workload: "support", Baseline: "bf16", Candidate: candidate, Stats: r,
		Attrition:       evidence.Attrition{Policy: "undetermined"},
		BaselineScores:  scores(r, func(s stats.Summary) *float64 { return s.MeanA }),
		CandidateScores: scores(r, func(s stats.Summary) *float64 { return s.MeanB }),
	}
}

func scores(r stats.Result, mean func(stats.Summary) *float64) evidence.ScoreSummary {
	group := func(s stats.Summary) evidence.ScoreGroup {
		return evidence.ScoreGroup{
			Items: s.N, Scored: s.N, Mean: metric.Value{Value: mean(s)},
			TruncationRate: metric.Value{Value: ptr(0.004)}, FailureRate: metric.Value{Value: ptr(0)},
			OutputTokens: metric.Value{Value: ptr(float64(100 * s.N))}, PromptTokens: metric.Value{Reason: metric.NoUsage},
		}
	}
	out := evidence.ScoreSummary{Stratify: "task", Overall: group(r.Overall), Strata: map[string]evidence.ScoreGroup{}}
	for name, s := range r.Strata {
		out.Strata[name] = group(s)
	}
	return out
}

func load(p95 float64) map[string]evidence.LoadMetrics {
	var cells []metric.Cell
	for _, n := range []int{1, 4} {
		cells = append(cells, metric.Cell{
			Name: spec.ConcurrencyCell(n), Concurrency: n, Trials: 3, Attempted: 300, Completed: 300,
			TTFT:           metric.Dist{N: 300, P50: ptr(p95 / 2), P95: ptr(p95 * float64(n)), P99: ptr(2 * p95)},
			ITL:            metric.Dist{Reason: metric.CoarseChunks},
			ThroughputTokS: metric.Value{Value: ptr(1000 / p95)},
			RequestRate:    metric.Value{Value: ptr(3)},
			ClientOverhead: metric.Value{Reason: metric.NoCPUTime},
		})
	}
	return map[string]evidence.LoadMetrics{"load": {Workload: "load", Cells: cells}}
}

func passed() *evidence.PreflightDoc { return &evidence.PreflightDoc{Passed: true} }

func campaign() *spec.Campaign {
	return &spec.Campaign{
		Campaign: "support-fp8",
		Candidates: map[string]spec.Candidate{
			"bf16": {Role: "baseline"}, "awq": {Role: "candidate"}, "fp8": {Role: "candidate"}, "int4": {Role: "candidate"}, "nvfp4": {Role: "candidate"},
		},
		Measure: map[string]spec.Workload{
			"support": {Kind: "quality", Quality: &spec.Quality{}},
			"noise":   {Kind: "noise-floor", NoiseFloor: &spec.NoiseFloor{Candidate: "bf16", Suite: "support"}},
			"load":    {Kind: "capacity", Capacity: &spec.Capacity{Concurrency: []int{1, 4}}},
			"power":   {Kind: "energy", Energy: &spec.Energy{Of: "load"}},
			"rungs":   {Kind: "ladder", Ladder: &spec.Ladder{Tokens: []int{1024, 8192}}},
		},
		Decide: spec.Decide{
			Guards: map[string]spec.Guard{
				"no-worse":    {On: "support", Strata: "all", Rule: "lo > -0.02"},
				"beats-noise": {On: "support", Rule: "delta > noise.lo || lo > -0.02"},
				"truncation":  {On: "support", Rule: "candidate.truncation_rate <= 0.01"},
				"ttft":        {On: "load", Rule: "candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95"},
			},
			Statistics:     spec.Statistics{Confidence: 0.95, Interval: "auto"},
			Approvals:      &spec.Approvals{Required: 1, Signers: "allowed_signers"},
			ReviewFailures: 20,
		},
	}
}

// fourCandidates is a record with one candidate of every fate: fp8 passes, awq
// lacks items, int4 is worse, nvfp4 did not get past its preflight.
func fourCandidates(t testing.TB) *evidence.Record {
	t.Helper()
	auto := stats.Options{Interval: "auto"}
	floor := evidence.NoiseFloor{Workload: "support", Candidate: "bf16",
		Stats: compareTables(t, map[string]table{"arithmetic": {900, 4, 5}, "extract": {900, 3, 3}}, auto)}
	r := &evidence.Record{
		Schema: "cupel/record/v1", Campaign: "support-fp8", SpecHash: step.Sum([]byte("spec")), Baseline: "bf16",
		Comparisons: []evidence.Comparison{
			comparison(t, "fp8", map[string]table{"arithmetic": {900, 5, 6}, "extract": {900, 3, 4}}, auto),
			comparison(t, "awq", map[string]table{"arithmetic": {334, 9, 8}, "extract": {900, 3, 4}}, auto),
			comparison(t, "int4", map[string]table{"arithmetic": {900, 90, 12}, "extract": {900, 3, 4}}, auto),
		},
		Noise: []evidence.NoiseFloor{floor},
		Candidates: map[string]evidence.CandidateRecord{
			"bf16":  {Role: "baseline", Preflight: passed(), Load: load(100)},
			"fp8":   {Role: "candidate", Preflight: passed(), Load: load(90)},
			"awq":   {Role: "candidate", Preflight: passed(), Load: load(105)},
			"int4":  {Role: "candidate", Preflight: passed(), Load: load(60)},
			"nvfp4": {Role: "candidate", Preflight: &evidence.PreflightDoc{Checks: []evidence.Check{{Name: "health", Passed: true}, {Name: "needle", Reason: "the needle was not found at 16,000 tokens"}}}},
		},
	}
	return r
}
