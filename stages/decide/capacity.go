package decide

import (
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// Capacity is what the rule of a guard on a capacity workload may name, at one
// concurrency.
type Capacity struct {
	Concurrency float64 `cel:"concurrency" doc:"requests in flight"`
	Candidate   *Cell   `cel:"candidate" doc:"the candidate's cell"`
	Baseline    *Cell   `cel:"baseline" doc:"the baseline's cell"`
}

// Cell has the metric ids of [metric.Cell]; a test compares the two.
type Cell struct {
	Concurrency       float64  `cel:"concurrency" doc:"requests in flight"`
	Trials            float64  `cel:"trials" doc:"trials pooled"`
	Attempted         float64  `cel:"attempted" doc:"requests sent"`
	Completed         float64  `cel:"completed" doc:"requests completed"`
	Failed            float64  `cel:"failed" doc:"requests failed"`
	WallS             float64  `cel:"wall_s" doc:"seconds, summed over trials"`
	TTFT              Dist     `cel:"ttft_ms" doc:"time to the first visible token, ms"`
	TTFO              Dist     `cel:"ttfo_ms" doc:"time to the first output of any channel, ms"`
	E2E               Dist     `cel:"e2e_ms" doc:"time to the end of the stream, ms"`
	Generation        Dist     `cel:"generation_ms" doc:"e2e minus the protocol's boundary, ms"`
	VisibleGeneration Dist     `cel:"visible_generation_ms" doc:"e2e minus ttft, ms"`
	TPOT              Dist     `cel:"tpot_ms" doc:"time per output token after the first, ms"`
	ITL               Dist     `cel:"itl_ms" doc:"gaps between output events, ms"`
	EffectivePrefill  Dist     `cel:"effective_prefill_tok_s" doc:"prompt tokens / boundary, tok/s; includes queueing"`
	PrefillTokS       Dist     `cel:"prefill_tok_s" doc:"prompt tokens / the engine's own prefill time, tok/s"`
	DecodeTokS        Dist     `cel:"decode_tok_s" doc:"output tokens after the first / generation, tok/s"`
	DecodeSpanTokS    Dist     `cel:"decode_span_tok_s" doc:"output tokens after the first event / time between first and last event, tok/s"`
	PromptTokens      Dist     `cel:"prompt_tokens" doc:"prompt tokens of a request, engine's count"`
	OutputTokens      Dist     `cel:"output_tokens" doc:"output tokens of a request, engine's count"`
	ReasoningTokens   Dist     `cel:"reasoning_tokens" doc:"reasoning tokens of a request, engine's count"`
	CachedTokens      Dist     `cel:"cached_tokens" doc:"cached prompt tokens of a request, engine's count"`
	ThroughputTokS    *float64 `cel:"throughput_tok_s" doc:"output tokens of all requests / wall, tok/s"`
	RequestRate       *float64 `cel:"request_rate" doc:"completed / wall, 1/s"`
	ThroughputSD      *float64 `cel:"throughput_stddev" doc:"spread of the throughput between trials, tok/s"`
	ThroughputCV      *float64 `cel:"throughput_cv_pct" doc:"throughput_stddev / mean, percent"`
	Stability         string   `cel:"stability" doc:"of the throughput between trials: stable, variable, unstable or unknown"`
	ClientOverhead    *float64 `cel:"client_overhead" doc:"share of one core used by the client"`
	ClientBound       bool     `cel:"client_bound" doc:"the client was the bottleneck"`
}

// Dist has the fields of [metric.Dist].
type Dist struct {
	N      float64  `cel:"n"`
	Min    *float64 `cel:"min"`
	Mean   *float64 `cel:"mean"`
	StdDev *float64 `cel:"stddev"`
	P50    *float64 `cel:"p50"`
	P90    *float64 `cel:"p90"`
	P95    *float64 `cel:"p95"`
	P99    *float64 `cel:"p99"`
	Max    *float64 `cel:"max"`
}

// capacityFacts describes one cell; a side without that cell is absent.
func capacityFacts(concurrency int, candidate, baseline *metric.Cell) facts {
	f := facts{why: map[string]string{}}
	f.vars = Capacity{
		Concurrency: float64(concurrency),
		Candidate:   f.cell("candidate", candidate),
		Baseline:    f.cell("baseline", baseline),
	}
	return f
}

func (f *facts) cell(path string, c *metric.Cell) *Cell {
	if c == nil {
		f.why[path] = noCell
		return nil
	}
	all := map[string]Dist{}
	for id, d := range dists(c) {
		f.why[path+"."+id] = d.Reason
		all[id] = Dist{float64(d.N), d.Min, d.Mean, d.StdDev, d.P50, d.P90, d.P95, d.P99, d.Max}
	}
	return &Cell{
		Concurrency: float64(c.Concurrency), Trials: float64(c.Trials), Attempted: float64(c.Attempted),
		Completed: float64(c.Completed), Failed: float64(c.Failed), WallS: c.WallS,
		TTFT: all["ttft_ms"], TTFO: all["ttfo_ms"], E2E: all["e2e_ms"],
		Generation: all["generation_ms"], VisibleGeneration: all["visible_generation_ms"],
		TPOT: all["tpot_ms"], ITL: all["itl_ms"],
		EffectivePrefill: all["effective_prefill_tok_s"], PrefillTokS: all["prefill_tok_s"],
		DecodeTokS: all["decode_tok_s"], DecodeSpanTokS: all["decode_span_tok_s"],
		PromptTokens: all["prompt_tokens"], OutputTokens: all["output_tokens"],
		ReasoningTokens: all["reasoning_tokens"], CachedTokens: all["cached_tokens"],
		ThroughputTokS: f.value(path+".throughput_tok_s", c.ThroughputTokS),
		RequestRate:    f.value(path+".request_rate", c.RequestRate),
		ThroughputSD:   f.value(path+".throughput_stddev", c.ThroughputSD),
		ThroughputCV:   f.value(path+".throughput_cv_pct", c.ThroughputCV),
		ClientOverhead: f.value(path+".client_overhead", c.ClientOverhead),
		Stability:      c.Stability, ClientBound: c.ClientBound,
	}
}

// dists are the distributions of a cell by metric id.
func dists(c *metric.Cell) map[string]metric.Dist {
	return map[string]metric.Dist{
		"ttft_ms": c.TTFT, "ttfo_ms": c.TTFO, "e2e_ms": c.E2E,
		"generation_ms": c.Generation, "visible_generation_ms": c.VisibleGeneration,
		"tpot_ms": c.TPOT, "itl_ms": c.ITL,
		"effective_prefill_tok_s": c.EffectivePrefill, "prefill_tok_s": c.PrefillTokS,
		"decode_tok_s": c.DecodeTokS, "decode_span_tok_s": c.DecodeSpanTokS,
		"prompt_tokens": c.PromptTokens, "output_tokens": c.OutputTokens,
		"reasoning_tokens": c.ReasoningTokens, "cached_tokens": c.CachedTokens,
	}
}

// cellOf finds a candidate's pooled cell, nil when it was not measured.
func cellOf(r *evidence.Record, candidate, workload string, concurrency int) *metric.Cell {
	cells := r.Candidates[candidate].Load[workload].Cells
	for i := range cells {
		if cells[i].Concurrency == concurrency {
			return &cells[i]
		}
	}
	return nil
}
