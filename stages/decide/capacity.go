package decide

import (
	"reflect"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// Capacity is what the rule of a guard on a serving workload may name, at one
// cell of it.
type Capacity struct {
	Concurrency float64 `cel:"concurrency" doc:"requests in flight; 0 in an open loop"`
	Cell        string  `cel:"cell" doc:"the cell's name, such as c=4, rate=2.5 or tokens=8192"`
	Candidate   *Cell   `cel:"candidate" doc:"the candidate's cell"`
	Baseline    *Cell   `cel:"baseline" doc:"the baseline's cell"`
	Prior       Priors  `cel:"prior"`
}

// Cell has the metric ids of [metric.Cell]; a test compares the two.
type Cell struct {
	Concurrency       float64  `cel:"concurrency" doc:"requests in flight; 0 in an open loop"`
	Trials            float64  `cel:"trials" doc:"trials pooled"`
	Attempted         float64  `cel:"attempted" doc:"requests sent"`
	Completed         float64  `cel:"completed" doc:"requests completed"`
	Failed            float64  `cel:"failed" doc:"requests failed"`
	Unsent            float64  `cel:"unsent" doc:"open loop: planned and not sent; not among the attempted"`
	WallS             float64  `cel:"wall_s" doc:"seconds, summed over trials"`
	StartedUnixS      float64  `cel:"started_unix_s" doc:"wall clock of the first trial, seconds since 1970"`
	TTFT              Dist     `cel:"ttft_ms" doc:"time to the first visible token, ms"`
	TTFO              Dist     `cel:"ttfo_ms" doc:"time to the first output of any channel, ms"`
	E2E               Dist     `cel:"e2e_ms" doc:"time to the end of the stream, ms"`
	Generation        Dist     `cel:"generation_ms" doc:"e2e minus the protocol's boundary, ms"`
	VisibleGeneration Dist     `cel:"visible_generation_ms" doc:"e2e minus ttft, ms"`
	TPOT              Dist     `cel:"tpot_ms" doc:"time per output token after the first, ms"`
	ITL               Dist     `cel:"itl_ms" doc:"gaps between tokens, where each has an event of its own, ms"`
	EventGap          Dist     `cel:"event_gap_ms" doc:"gaps between output events, whatever they carry, ms"`
	EffectivePrefill  Dist     `cel:"effective_prefill_tok_s" doc:"prompt tokens / boundary, tok/s; includes queueing"`
	PrefillTokS       Dist     `cel:"prefill_tok_s" doc:"prompt tokens / the engine's own prefill time, tok/s"`
	DecodeTokS        Dist     `cel:"decode_tok_s" doc:"output tokens after the first / generation, tok/s"`
	DecodeSpanTokS    Dist     `cel:"decode_span_tok_s" doc:"output tokens after the first event / time between first and last event, tok/s"`
	PromptTokens      Dist     `cel:"prompt_tokens" doc:"prompt tokens of a request, engine's count"`
	OutputTokens      Dist     `cel:"output_tokens" doc:"output tokens of a request, engine's count"`
	ReasoningTokens   Dist     `cel:"reasoning_tokens" doc:"reasoning tokens of a request, engine's count"`
	CachedTokens      Dist     `cel:"cached_tokens" doc:"cached prompt tokens of a request, engine's count"`
	PromptAccuracy    Dist     `cel:"prompt_accuracy" doc:"prompt tokens / tokens asked for"`
	ThroughputTokS    *float64 `cel:"throughput_tok_s" doc:"output tokens of all requests / wall, tok/s"`
	SteadyTokS        *float64 `cel:"steady_tok_s" doc:"output tokens / time while every stream was busy, tok/s"`
	PeakTokS          *float64 `cel:"peak_tok_s" doc:"largest output of one second, tok/s"`
	RequestRate       *float64 `cel:"request_rate" doc:"completed / wall, 1/s"`
	ThroughputSD      *float64 `cel:"throughput_stddev" doc:"spread of the throughput between trials, tok/s"`
	ThroughputCV      *float64 `cel:"throughput_cv_pct" doc:"throughput_stddev / mean, percent"`
	DriftPct          *float64 `cel:"drift_pct" doc:"throughput of the last trial against the first, percent"`
	Stability         string   `cel:"stability" doc:"of the throughput between trials: stable, variable, unstable or unknown"`
	OfferedRate       *float64 `cel:"offered_rate" doc:"open loop: planned requests / window, 1/s"`
	AchievedRate      *float64 `cel:"achieved_rate" doc:"open loop: requests sent / window, 1/s"`
	ScheduleLag       Dist     `cel:"schedule_lag_ms" doc:"open loop: sent after planned, ms"`
	TTFTFromWritten   Dist     `cel:"ttft_from_written_ms" doc:"ttft from the moment the request was written, ms"`
	TTFTFromSchedule  Dist     `cel:"ttft_from_schedule_ms" doc:"open loop: ttft from the planned time, ms"`
	E2EFromSchedule   Dist     `cel:"e2e_from_schedule_ms" doc:"open loop: e2e from the planned time, ms"`
	Goodput           *float64 `cel:"goodput" doc:"requests that met the workload's SLO, 1/s"`
	SLOAttained       *float64 `cel:"slo_attained" doc:"share of requests that met the workload's SLO"`
	PassRate          *float64 `cel:"pass_rate" doc:"correct answers / attempted, where the workload checks them"`
	EffectiveContext  *float64 `cel:"effective_context_tokens" doc:"longest context before the first material degradation, tokens"`
	MaxRate           *float64 `cel:"max_rate" doc:"largest rate that holds the SLO, 1/s"`
	MaxConcurrency    *float64 `cel:"max_concurrency" doc:"largest concurrency that holds the SLO"`
	TokPerSec         Dist     `cel:"tok_per_sec" doc:"bench: output tokens / time after the first, tok/s"`
	StdDevTokS        *float64 `cel:"std_dev_tok_s" doc:"bench: spread of tok_per_sec within prompts, tok/s"`
	TokPerSecCV       *float64 `cel:"tok_per_sec_cv_pct" doc:"bench: std_dev_tok_s / mean, percent"`
	CachedShare       *float64 `cel:"cached_share" doc:"cached / prompt tokens of the cell"`
	ServerPrefixHits  *float64 `cel:"server_prefix_hit_share" doc:"prefix cache hits as the engine's own metrics say"`
	ServerQueue       *float64 `cel:"server_queue_ms" doc:"mean queue time as the engine's own metrics say, ms"`
	ServerPrefill     *float64 `cel:"server_prefill_ms" doc:"mean prefill time as the engine's own metrics say, ms"`
	ServerDecode      *float64 `cel:"server_decode_ms" doc:"mean decode time as the engine's own metrics say, ms"`
	ServerKVUse       *float64 `cel:"server_kv_use_peak" doc:"largest share of the KV cache in use"`
	ServerPreempted   *float64 `cel:"server_preemptions" doc:"requests that the engine preempted"`
	ClientOverhead    *float64 `cel:"client_overhead" doc:"share of one core used by the client"`
	ClientLag         *float64 `cel:"client_lag_p99_ms" doc:"p99 delay of the client's stamps in its self-check, ms"`
	InFlightMean      *float64 `cel:"in_flight_mean" doc:"mean number of requests in flight"`
	LittleRatio       *float64 `cel:"little_ratio" doc:"requests in flight over time / their latencies; 1 when all is accounted for"`
	UsageRatio        *float64 `cel:"usage_server_ratio" doc:"output tokens by usage / by the engine's own counter"`
	ClientBound       bool     `cel:"client_bound" doc:"the client was the bottleneck or cannot be trusted"`
	WarmCache         bool     `cel:"warm_cache" doc:"prompts meant to be new were found in a cache"`
	OffRate           bool     `cel:"off_rate" doc:"the schedule was not kept"`
	UsageOff          bool     `cel:"usage_off" doc:"the client's and the engine's token counts are more than 2 % apart"`
	OffLength         bool     `cel:"off_length" doc:"prompts are not of the length asked for"`
	WrongState        bool     `cel:"wrong_state" doc:"a ladder's prompts were not in the cache state that it asks for"`
	GapsUncertain     bool     `cel:"gaps_uncertain" doc:"the client's lag is large against the gaps between tokens"`
	LowerBound        bool     `cel:"lower_bound" doc:"max_rate or max_concurrency could be larger"`
}

// Dist has the fields of [metric.Dist].
type Dist struct {
	N             float64  `cel:"n"`
	Min           *float64 `cel:"min"`
	Mean          *float64 `cel:"mean"`
	StdDev        *float64 `cel:"stddev"`
	P50           *float64 `cel:"p50"`
	P90           *float64 `cel:"p90"`
	P95           *float64 `cel:"p95"`
	P99           *float64 `cel:"p99"`
	P999          *float64 `cel:"p999"`
	Max           *float64 `cel:"max"`
	P50Certified  *float64 `cel:"p50_certified"`
	P90Certified  *float64 `cel:"p90_certified"`
	P95Certified  *float64 `cel:"p95_certified"`
	P99Certified  *float64 `cel:"p99_certified"`
	P999Certified *float64 `cel:"p999_certified"`
}

// capacityFacts describes one cell; a side without that cell is absent.
func capacityFacts(cell string, candidate, baseline *metric.Cell) facts {
	f := facts{why: map[string]string{}}
	vars := Capacity{Cell: cell, Candidate: f.cell("candidate", candidate), Baseline: f.cell("baseline", baseline)}
	for _, c := range []*Cell{vars.Candidate, vars.Baseline} {
		if c != nil {
			vars.Concurrency = c.Concurrency
		}
	}
	f.vars = vars
	return f
}

// cell copies a metric cell field by field, by metric id.
func (f *facts) cell(path string, c *metric.Cell) *Cell {
	if c == nil {
		f.why[path] = noCell
		return nil
	}
	out := new(Cell)
	theirs := byID(reflect.ValueOf(c).Elem())
	to := reflect.ValueOf(out).Elem()
	for i := range to.NumField() {
		id := to.Type().Field(i).Tag.Get("cel")
		switch v := theirs[id].Interface().(type) {
		case metric.Dist:
			to.Field(i).Set(reflect.ValueOf(f.dist(path+"."+id, v)))
		case metric.Value:
			to.Field(i).Set(reflect.ValueOf(f.value(path+"."+id, v)))
		case int:
			to.Field(i).SetFloat(float64(v))
		case int64:
			to.Field(i).SetFloat(float64(v))
		default:
			to.Field(i).Set(theirs[id])
		}
	}
	return out
}

// dist copies a distribution. A percentile that too few values can certify has
// a reason of its own.
func (f *facts) dist(path string, d metric.Dist) (out Dist) {
	f.why[path] = d.Reason
	theirs := byID(reflect.ValueOf(d))
	to := reflect.ValueOf(&out).Elem()
	for i := range to.NumField() {
		id := to.Type().Field(i).Tag.Get("cel")
		if n, ok := theirs[id].Interface().(int); ok {
			to.Field(i).SetFloat(float64(n))
			continue
		}
		to.Field(i).Set(theirs[id])
		if d.N > 0 && theirs[id].IsNil() && strings.HasSuffix(id, "_certified") {
			f.why[path+"."+id] = metric.TooFewToCertify
		}
	}
	return out
}

// byID indexes the fields of a metric struct by their JSON names.
func byID(v reflect.Value) map[string]reflect.Value {
	out := make(map[string]reflect.Value, v.NumField())
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		out[name] = v.Field(i)
	}
	return out
}

// dists are the distributions of a cell by metric id.
func dists(c *metric.Cell) map[string]metric.Dist {
	out := map[string]metric.Dist{}
	for id, v := range byID(reflect.ValueOf(c).Elem()) {
		if d, ok := v.Interface().(metric.Dist); ok {
			out[id] = d
		}
	}
	return out
}

// cellOf finds a candidate's pooled cell, nil when it was not measured.
func cellOf(r *evidence.Record, candidate, workload, name string) *metric.Cell {
	cells := r.Candidates[candidate].Load[workload].Cells
	for i := range cells {
		if cells[i].Name == name {
			return &cells[i]
		}
	}
	return nil
}
