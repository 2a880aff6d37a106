package publish

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// secretText stands for what items ask and what models answer. It is put
// wherever a document may quote them and must come out nowhere.
const secretText = "THE-CAPITAL-OF-ATLANTIS"

// canonicalSpec stands for the canonical campaign of the fixture.
var canonicalSpec = []byte(`{"apiVersion":"cupel/v1","campaign":"support-fp8"}`)

func ptr(x float64) *float64 { return &x }

func value(x float64, unit string) metric.Value { return metric.Value{Value: &x, Unit: unit} }

// table is a stratum: n items, b right for the baseline only, c for the
// candidate only; the baseline is wrong on so many, c of them among these.
type table struct{ n, b, c, wrong int }

func compared(t testing.TB, strata map[string]table) stats.Result {
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
			case i < tab.b+tab.wrong:
				p.A, p.B = 0, 0
			}
			pairs = append(pairs, p)
		}
	}
	r, err := stats.Compare(pairs, stats.Options{By: "task", Resamples: 500})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func scoresOf(r stats.Result, mean func(stats.Summary) *float64, truncated float64) evidence.ScoreSummary {
	group := func(s stats.Summary) evidence.ScoreGroup {
		return evidence.ScoreGroup{
			Items: s.N, Scored: s.N, Mean: metric.Value{Value: mean(s)},
			TruncationRate: value(truncated, ""), FailureRate: value(0, ""),
			OutputTokens: value(float64(41*s.N), ""), PromptTokens: metric.Value{Reason: metric.NoUsage},
		}
	}
	out := evidence.ScoreSummary{Stratify: "task", Overall: group(r.Overall), Strata: map[string]evidence.ScoreGroup{}}
	for name, s := range r.Strata {
		out.Strata[name] = group(s)
	}
	return out
}

func meanA(s stats.Summary) *float64 { return s.MeanA }
func meanB(s stats.Summary) *float64 { return s.MeanB }

func comparisonOf(candidate string, r stats.Result, truncated float64) evidence.Comparison {
	c := evidence.Comparison{
		Workload: "support", Baseline: "bf16", Candidate: candidate, Stats: r,
		Attrition:       evidence.Attrition{Policy: "undetermined"},
		Agreement:       evidence.TextAgreement{Compared: r.Overall.N, Identical: max(0, r.Overall.N-5*(r.Overall.Discordant.B+r.Overall.Discordant.C))},
		BaselineScores:  scoresOf(r, meanA, 0),
		CandidateScores: scoresOf(r, meanB, truncated),
	}
	for i := range min(r.Overall.Discordant.B, 30) {
		c.Flips = append(c.Flips, evidence.Flip{ID: fmt.Sprintf("arithmetic-%04d", i), Stratum: "arithmetic", A: 1, B: 0,
			ReasonA: fmt.Sprintf("equals %q", secretText), ReasonB: fmt.Sprintf("%q, want %q", "Paris", secretText)})
	}
	return c
}

func dist(p50, p95 float64, n int) metric.Dist {
	d := metric.Dist{N: n, Unit: "ms", P50: ptr(p50), P95: ptr(p95), Mean: ptr(p50)}
	for i := range 41 { // through p50 at the middle and p95 at 95 %
		d.Quantiles = append(d.Quantiles, math.Round(1000*p50*math.Pow(p95/p50, (float64(i)-20)/18))/1000)
	}
	if n < 100 {
		d.Label = metric.DescriptiveOnly
	}
	return d
}

// load is a candidate's three cells; speed 1 is the baseline's.
func load(speed float64, requests int) map[string]evidence.LoadMetrics {
	var cells []metric.Cell
	for _, n := range []int{1, 8, 32} {
		x := float64(n)
		rate := 62 * speed * x / (1 + x/24)
		cells = append(cells, metric.Cell{
			Name: spec.ConcurrencyCell(n), Concurrency: n, Trials: 3, Attempted: requests, Completed: requests,
			TTFT: dist((48+4*x)/speed, (60+11*x)/speed, requests), TPOT: dist((15+x/3)/speed, (17+x/2)/speed, requests),
			E2E: dist((2000+60*x)/speed, (2300+90*x)/speed, requests), ITL: metric.Dist{Unit: "ms", Reason: metric.CoarseChunks},
			ThroughputTokS: value(rate, "tok/s"), ThroughputSD: value(rate*0.03, "tok/s"), RequestRate: value(rate/128, "1/s"),
			Stability: "stable", ClientOverhead: value(0.04, ""),
		})
	}
	return map[string]evidence.LoadMetrics{"steady": {Workload: "steady", Kind: "capacity", Protocol: string(metric.CapacityV3), Cells: cells}}
}

func pinOf(weights string, edit func(map[string]*evidence.PinField)) *evidence.PinDoc {
	hash := func(s string) string { return step.Sum([]byte(s)).String() }
	fields := []evidence.PinField{
		{Name: "model.repo", Declared: "example/support-8b", State: "declared-only"},
		{Name: "model.digest", Declared: hash(weights), Observed: hash(weights), State: "equal"},
		{Name: "tokenizer.sha256", Observed: hash("tokenizer"), State: "observed-only"},
		{Name: "tokenizer.probe", Observed: "58 tokens (tokenize)", State: "observed-only"},
		{Name: "chatTemplate.sha256", Declared: hash("template"), Observed: hash("template"), State: "equal"},
		{Name: "engine.name", Declared: "vllm", Observed: "vllm", State: "equal"},
		{Name: "engine.version", Declared: "0.19.1", Observed: "0.19.1", State: "equal"},
		{Name: "engine.image", Declared: "registry.example/vllm@sha256:" + hash("image"), State: "declared-only"},
		{Name: "quantization.weights", Declared: weights, Observed: weights, State: "equal"},
		{Name: "quantization.kv", Declared: "auto", State: "declared-only"},
		{Name: "context.served", Declared: "16384", Observed: "16384", State: "equal"},
		{Name: "speculative", State: "unknown"},
		{Name: "cache.prefix", Declared: "off", State: "declared-only"},
	}
	byName := map[string]*evidence.PinField{}
	for i := range fields {
		byName[fields[i].Name] = &fields[i]
	}
	if edit != nil {
		edit(byName)
	}
	return &evidence.PinDoc{
		Declared: spec.Candidate{SystemPrompt: "Answer briefly. " + secretText, Sampling: spec.Sampling{TopP: 1, Seed: 7, MaxTokens: 256}},
		Observed: llm.Identity{Served: "support"}, Probe: llm.TokenProbe{Tokens: 58, Twice: 116, By: "tokenize"}, Fields: fields,
	}
}

// fixture is a record with one candidate of every fate: fp8 passes, awq lacks
// items, int4 is worse, nvfp4 did not get past its preflight.
func fixture(t testing.TB) (*evidence.Record, *evidence.Decision) {
	t.Helper()
	stored.Do(func() { stored.record = encode(t, madeByHand(t)) })
	rec := new(evidence.Record)
	if err := json.Unmarshal(stored.record, rec); err != nil {
		t.Fatal(err)
	}
	return rec, decisionOf(t, rec)
}

// stored holds the fixture as JSON, so that each test has its own copy.
var stored struct {
	sync.Once
	record []byte
}

func madeByHand(t testing.TB) *evidence.Record {
	t.Helper()
	results := map[string]stats.Result{
		"fp8":  compared(t, map[string]table{"arithmetic": {900, 5, 6, 96}, "extract": {900, 3, 4, 34}, "tool-call": {640, 4, 3, 73}}),
		"awq":  compared(t, map[string]table{"arithmetic": {900, 12, 10, 96}, "extract": {900, 6, 4, 34}, "tool-call": {640, 17, 12, 73}}),
		"int4": compared(t, map[string]table{"arithmetic": {900, 62, 12, 96}, "extract": {900, 9, 6, 34}, "tool-call": {640, 21, 14, 73}}),
	}
	floor := evidence.NoiseFloor{Workload: "support", Candidate: "bf16", Agreement: evidence.TextAgreement{Compared: 2440, Identical: 2401},
		Stats: compared(t, map[string]table{"arithmetic": {900, 4, 5, 96}, "extract": {900, 2, 3, 34}, "tool-call": {640, 3, 3, 73}})}
	rec := &evidence.Record{
		Schema: RecordSchema, Campaign: "support-fp8", SpecHash: step.SpecDigest(canonicalSpec),
		Question: "Serve the support assistant with fewer bits per weight?", Reward: "Half the GPUs for the same traffic",
		Kind: "quantisation", Owner: "serving team", Date: "2026-11-28", Baseline: "bf16",
		Labels: map[string][]string{"bf16": {"functional", "capacity", "quality"}, "fp8": {"functional", "capacity", "quality"},
			"awq": {"functional", "capacity", "quality"}, "int4": {"functional", "capacity", "quality"}, "nvfp4": {}},
		Candidates: map[string]evidence.CandidateRecord{}, Noise: []evidence.NoiseFloor{floor},
		Unknown: []evidence.Unknown{
			{Field: "candidates.awq.speculative", Reason: "neither declared nor observed"},
			{Field: "candidates.bf16.speculative", Reason: "neither declared nor observed"},
			{Field: "candidates.fp8.model.revision", Reason: "neither declared nor observed"},
			{Field: "candidates.fp8.speculative", Reason: "neither declared nor observed"},
			{Field: "candidates.int4.speculative", Reason: "neither declared nor observed"},
			{Field: "candidates.nvfp4.speculative", Reason: "neither declared nor observed"},
			{Field: "hardware.driver", Reason: "no meter ran beside the campaign and the endpoint does not say"},
			{Field: "hardware.gpu", Reason: "no meter ran beside the campaign and the endpoint does not say"},
		},
	}
	passed := &evidence.PreflightDoc{Passed: true, Checks: []evidence.Check{{Name: "generate", Passed: true, Reason: "as asked", Answer: secretText}}}
	kv := func(m map[string]*evidence.PinField) { m["quantization.kv"].Declared = "fp8_e4m3" }
	rec.Candidates["bf16"] = evidence.CandidateRecord{Role: "baseline", Pin: pinOf("bf16", nil), Preflight: passed, Load: load(1, 300),
		Scores: map[string]evidence.ScoreSummary{"support": scoresOf(results["fp8"], meanA, 0)}}
	for name, speed := range map[string]float64{"fp8": 1.55, "awq": 1.3, "int4": 1.75} {
		pin := pinOf(name, kv)
		if name == "awq" { // its engine reads the tokenizer otherwise
			pin.Probe, pin.Fields[3].Observed = llm.TokenProbe{Tokens: 59, Twice: 118, By: "tokenize"}, "59 tokens (tokenize)"
		}
		rec.Candidates[name] = evidence.CandidateRecord{Role: "candidate", Pin: pin, Preflight: passed, Load: load(speed, 300),
			Scores: map[string]evidence.ScoreSummary{"support": scoresOf(results[name], meanB, 0.004)}}
	}
	for name, cost := range map[string]float64{"bf16": 3.1, "fp8": 2.0, "awq": 2.4, "int4": 1.8} {
		c := rec.Candidates[name]
		c.Costs = map[string]metric.Cost{"support": {Price: &metric.Price{GPUHour: 2.1, Currency: "EUR"}, GPUs: 1, BusyS: value(cost*1000, "s"),
			Per1kItems: value(cost, "EUR"), Per1kCorrect: value(cost/0.9, "EUR")}}
		rec.Candidates[name] = c
	}
	few := &rec.Candidates["int4"].Load["steady"].Cells[0]
	few.Attempted, few.Completed, few.TTFT = 60, 60, dist(29.7, 40.6, 60)
	stopInt4(&rec.Candidates["int4"].Load["steady"].Cells[2])
	rec.Candidates["nvfp4"] = evidence.CandidateRecord{Role: "candidate", Pin: pinOf("nvfp4", kv),
		Preflight: &evidence.PreflightDoc{Checks: []evidence.Check{{Name: "health", Passed: true}, {Name: "json", Reason: "the answer is no JSON value", Answer: secretText}}},
		Stopped:   "preflight json: the answer is no JSON value"}
	for _, name := range []string{"awq", "fp8", "int4"} {
		rec.Comparisons = append(rec.Comparisons, comparisonOf(name, results[name], 0.004))
		for _, out := range []string{evidence.OutResponses, evidence.OutTimings} {
			rec.Evidence = append(rec.Evidence, evidence.EvidenceFile{Step: evidence.GenerateStep(name, "support", 1), Output: out, Digest: step.Sum(rowsOf(name, out))})
		}
	}
	return rec
}

// stopInt4 is a cell that broke: requests failed, so it has no throughput.
func stopInt4(c *metric.Cell) {
	c.Completed, c.Failed, c.Failures = 291, 9, map[string]int{"cut-stream": 7, "no-visible-output": 2}
	c.ThroughputTokS, c.ThroughputSD, c.Stability = metric.Value{Reason: metric.IncompleteCell}, metric.Value{Reason: metric.IncompleteCell}, "unknown"
}

// rowsOf is the content of a raw output of the fixture.
func rowsOf(candidate, output string) []byte {
	return fmt.Appendf(nil, "{\"id\":\"arithmetic-0000\",\"text\":%q,\"of\":%q}\n", secretText, candidate+output)
}

// decisionOf applies two simple guards by hand; stages/decide is beside this
// package, not below it.
func decisionOf(t testing.TB, rec *evidence.Record) *evidence.Decision {
	t.Helper()
	d := &evidence.Decision{Schema: "cupel/decision/v1", Campaign: rec.Campaign, SpecHash: rec.SpecHash, Evidence: step.Sum(encode(t, rec)), Verdict: evidence.Fail,
		Next: []string{
			"awq, guard no-worse on tool-call: add about 680 items to stratum tool-call of workload support (it has 640 of about 1,320)",
			"fp8 can be promoted after 1 approval: `cupel approve`",
			"int4 is rejected by no-worse on arithmetic; read failing items: `cupel show --failures 20 --stratum arithmetic`",
			"nvfp4 is rejected: refused by the preflight check json: the answer is no JSON value; read the check: `cupel show preflight/nvfp4`",
		}}
	why := map[string]string{
		"fp8":  "all guards hold (5 evaluations)",
		"awq":  "no-worse on tool-call: it holds in one part of the interval and not in the other",
		"int4": "no-worse on arithmetic: it holds nowhere in the interval",
	}
	label := map[evidence.Verdict]string{evidence.Pass: "challenger", evidence.Undetermined: "no-promotion", evidence.Fail: "rejected"}
	for _, c := range rec.Comparisons {
		cd := evidence.CandidateDecision{Candidate: c.Candidate, Verdict: evidence.Pass, Why: why[c.Candidate], Worst: "arithmetic"}
		for _, name := range rowNames(&c) {
			g := noWorse(summaryOf(c.Stats, name), name)
			cd.Verdict = worse(cd.Verdict, g.Verdict)
			cd.Guards = append(cd.Guards, g)
		}
		rate := 0.004
		cd.Guards = append(cd.Guards, evidence.GuardResult{Guard: "truncation", On: "support", Rule: "candidate.truncation_rate <= 0.01", Verdict: evidence.Pass,
			Reason: "it holds", Explain: fmt.Sprintf("candidate.truncation_rate <= 0.01   (candidate.truncation_rate = %g)", rate), Items: c.Stats.Overall.N})
		cd.Label = label[cd.Verdict]
		d.Candidates = append(d.Candidates, cd)
	}
	d.Candidates = append(d.Candidates, evidence.CandidateDecision{Candidate: "nvfp4", Verdict: evidence.Fail, Label: "rejected",
		Why: "refused by the preflight check json: the answer is no JSON value", Guards: []evidence.GuardResult{}})
	slices.SortFunc(d.Candidates, func(a, b evidence.CandidateDecision) int { return int(a.Candidate[0]) - int(b.Candidate[0]) })
	return d
}

func noWorse(s stats.Summary, stratum string) evidence.GuardResult {
	g := evidence.GuardResult{Guard: "no-worse", On: "support", Stratum: stratum, Rule: "lo > -0.02", Verdict: evidence.Pass, Reason: "it holds", Items: s.N}
	if s.Lo == nil {
		g.Verdict, g.Reason, g.Explain = evidence.Undetermined, "lo is absent: "+because(string(s.Reason)), "lo > -0.02   (lo = absent)"
		return g
	}
	g.Explain = fmt.Sprintf("lo > -0.02   (lo = %.5g)", *s.Lo)
	switch {
	case *s.Hi <= -0.02:
		g.Verdict, g.Reason = evidence.Fail, fmt.Sprintf("it holds nowhere in the interval [%.5g, %.5g] (%s)", *s.Lo, *s.Hi, s.Method)
	case *s.Lo <= -0.02:
		g.Verdict = evidence.Undetermined
		g.Reason = fmt.Sprintf("it holds in one part of the interval [%.5g, %.5g] (%s) and not in the other", *s.Lo, *s.Hi, s.Method)
		if s.N < 1320 {
			g.NeedItems = 1320
			g.Reason += fmt.Sprintf("; about 1,320 items would decide it, there are %d", s.N)
		}
	}
	return g
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}
