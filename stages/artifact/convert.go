package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// converters write records in the form of another tool.
var converters = map[string]func([]*Record) (any, []string, error){
	"anvil": toAnvil,
	"asiai": toAsiai,
}

// Converters are the names that Convert takes.
func Converters() []string { return slices.Sorted(maps.Keys(converters)) }

// Convert writes records in the form of another tool and says what that form
// cannot hold. A field that is unknown is null there, never 0.
func Convert(as string, records []*Record) (content []byte, lost []string, err error) {
	for _, r := range records {
		if len(r.Invalid) > 0 {
			return nil, nil, fmt.Errorf("%s is invalid, and is not turned into something that does not say so: %s", r.name(), r.Invalid[0])
		}
		if r.Kind != Capacity {
			return nil, nil, step.WithHint(fmt.Errorf("%s is of kind %s, and that form holds capacity only", r.name(), r.Kind), "choose a part as FILE#PART; cupel evidence show lists them")
		}
	}
	doc, lost, err := converters[as](records)
	if err != nil {
		return nil, nil, err
	}
	content, err = json.MarshalIndent(doc, "", "  ")
	return append(content, '\n'), lost, err
}

func (r *Record) name() string {
	if r.Part == "" {
		return "the file"
	}
	return "the part " + r.Part
}

// lostFields are known fields that a form has no place for.
func (r *Record) lostFields(names ...string) (lost []string) {
	for _, f := range r.Fields() {
		if f.Value != nil && slices.Contains(names, f.Name) {
			lost = append(lost, f.Name)
		}
	}
	if len(r.Notes) > 0 {
		lost = append(lost, fmt.Sprintf("%d notes", len(r.Notes)))
	}
	return lost
}

// toAnvil writes benchmark/v1. It holds no rows, so that its own tool cannot
// recompute anything; that is why there is no request_timings.
func toAnvil(records []*Record) (any, []string, error) {
	if len(records) != 1 {
		return nil, nil, step.WithHint(fmt.Errorf("benchmark/v1 holds one measurement, and there are %d parts", len(records)), "choose one as FILE#PART")
	}
	r := records[0]
	w, s, g := &r.Workload, &r.Results, &r.Generation
	if !w.Requests.has() || !s.Completed.has() {
		return nil, nil, errors.New("the number of requests is not known, and benchmark/v1 needs it")
	}
	metrics := map[string]any{}
	for name, of := range anvilNumbers {
		metrics[name] = of(s).Value
	}
	protocol := "capacity-v3"
	if p := w.Protocol.Value; p != nil {
		protocol = *p
	}
	doc := map[string]any{
		"schema": "anvil-serving.benchmark/v1", "measurement_protocol": protocol,
		"run_id": r.Provenance.RunID.Value, "started_at": r.Provenance.StartedAt.Value, "finished_at": r.Provenance.FinishedAt.Value,
		"model": r.Identity.ServedName.or(r.Identity.Model).Value, "engine": r.engineLabel(), "gpu": r.Hardware.GPU.Value,
		"requests": w.Requests.Value, "completed": s.Completed.Value, "failed": s.Failed.Value, "concurrency": w.Concurrency.Value,
		"context_tokens": w.Context.Value, "context_seed": w.ContextSeed.Value, "max_context_tokens": r.Memory.ServedContext.Value, "max_tokens": g.MaxTokens.Value,
		"prompt_set_id": w.PromptSet.Value, "cache_policy": w.CachePolicy.Value, "response_words": w.ResponseWords.Value, "source_recipe": r.Provenance.Recipe.Value,
		"serve_flags": map[string]any{"shared_prefix_burst": w.Burst.Value, "no_thinking": g.NoThinking.Value, "thinking_mode": g.ThinkingMode.Value, "reasoning_effort": effortOf(g.Effort)},
		"metrics":     metrics,
	}
	if s.WallS.has() {
		doc["wall_clock_ms"] = *s.WallS.Value * 1000
	}
	return doc, r.lostFields("identity.revision", "identity.weights_sha256", "engine.image_digest", "memory.quantization", "memory.kv_dtype", "hardware.driver", "hardware.power_limit_w", "results.client_bound", "provenance.spec_hash"), nil
}

func (r *Record) engineLabel() *string {
	n, v := r.Engine.Name.Value, r.Engine.Version.Value
	if n == nil || v == nil || strings.Contains(*n, *v) {
		return n
	}
	label := *n + "-" + *v
	return &label
}

// effortOf is null there where no effort was asked for.
func effortOf(t Text) *string {
	if t.Value == nil || *t.Value == "none" {
		return nil
	}
	return t.Value
}

// toAsiai writes an export v2: one model, an engine for each part.
func toAsiai(records []*Record) (any, []string, error) {
	engines := map[string]any{}
	var models, lost []string
	for _, r := range records {
		if m := r.Identity.Model.Value; m != nil && !slices.Contains(models, *m) {
			models = append(models, *m)
		}
		name := r.Part
		if e := r.engineLabel(); e != nil && (name == "" || len(records) == 1) {
			name = *e
		}
		if name == "" {
			name = "engine"
		}
		s := &r.Results
		engines[name] = map[string]any{
			"median_tok_s": s.DecodeP50.Value, "median_ttft_ms": s.TTFTP50.Value, "runs_count": s.Completed.Value,
			"engine_version": r.Engine.Version.Value, "model_quantization": r.Memory.Weights.Value,
			"avg_power_watts": r.Energy.PowerWatts.Value, "avg_tok_per_sec_per_watt": r.Energy.TokPerSecPerWatt.Value,
			"avg_soc_watts": r.Energy.earlier(r.Energy.SoCWatts), "avg_energy_per_token_j": r.Energy.earlier(r.Energy.EnergyPerToken),
			"energy": r.Energy.toAsiai(), "raw_runs": []any{},
		}
		lost = append(lost, r.lostFields("results.throughput_tok_s", "results.e2e_p95_ms", "results.failed", "workload.prompt_set_id", "identity.revision", "results.client_bound", "energy.set_sha256", "energy.cell_j", "energy.loaded_idle_w", "energy.power_cap_share")...)
	}
	if len(models) > 1 {
		return nil, nil, step.WithHint(fmt.Errorf("an export v2 is of one model, and the parts are of %s", clip(strings.Join(models, ", "))), "choose parts as FILE#PART, one export each")
	}
	wall, err := calibrationOf(records)
	if err != nil {
		return nil, nil, step.WithHint(err, "choose parts as FILE#PART, one export each")
	}
	r := records[0]
	model := any(nil)
	if len(models) == 1 {
		model = models[0]
	}
	doc := map[string]any{
		"schema_version": 2, "asiai_version": "cupel", "timestamp": r.Provenance.StartedAt.Value,
		"machine":          map[string]any{"chip": r.Hardware.GPU.Value, "os_version": r.Hardware.Host.Value, "ram_gb": nil, "gpu_cores": nil},
		"benchmark":        map[string]any{"model": model, "runs_per_prompt": r.Workload.Repetitions.Value, "prompts": []string{"imported"}, "context_size": r.Workload.Context.Value, "engines": engines, "winner": nil},
		"wall_calibration": wall,
	}
	slices.Sort(lost)
	return doc, slices.Compact(lost), nil
}
