package match

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/prior/table"
)

func tokens(x float64) *float64 { return &x }
func clients(n int) *int        { return &n }

func TestScore(t *testing.T) {
	here := Setting{Model: "lumen/Lumen-3-32B", Hardware: "NVIDIA H100 80GB HBM3", Engine: "vLLM 0.11.0", Quantisation: "fp8", Context: tokens(8192), Concurrency: clients(8)}
	for _, tt := range []struct {
		name  string
		there Setting
		want  int
		parts string
	}{
		{"all", Setting{Model: "Lumen-3-32b", Hardware: "H100 SXM5", Engine: "vllm", Quantisation: "FP8", Context: tokens(100), Concurrency: clients(5)}, 27, "gpu, model, engine, quantisation, context bucket, concurrency bucket"},
		{"family and precision", Setting{Model: "Lumen-3-8B", Quantisation: "int8"}, 6, "model family, precision"},
		{"several gpus are others", Setting{Model: "x", Hardware: "8x H100"}, 0, ""},
		{"another generation", Setting{Model: "Lumen-2-32B", Hardware: "H200"}, 0, ""},
		{"beyond the buckets", Setting{Model: "x", Context: tokens(8193), Concurrency: clients(9)}, 0, ""},
		{"nothing equals nothing", Setting{}, 0, ""},
	} {
		got, parts := Score(here, tt.there)
		if s := (Match{Points: parts}).Explain(); got != tt.want || s != tt.parts {
			t.Errorf("%s: %d (%s), want %d (%s)", tt.name, got, s, tt.want, tt.parts)
		}
	}
	if got, _ := Score(Setting{}, Setting{}); got != 0 {
		t.Errorf("unknown equals unknown: %d", got)
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{"Qwen3-Coder-30B-A3B-Instruct": "qwen3-coder", "meta-llama/Llama-3.1-8B": "llama-3.1", "Mixtral-8x7B": "mixtral", "gpt-oss-120b": "gpt-oss", "phi-mini": "", "70b": ""} {
		if got := family(in); got != want {
			t.Errorf("family of %s: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"Q4_K_M": "4", "fp8": "8", "awq-int4": "4", "BF16": "16", "NVFP4": "4", "w4a16": "4", "GPTQ": "", "": ""} {
		if got := precision(in); got != want {
			t.Errorf("precision of %s: %q, want %q", in, got, want)
		}
	}
	for x, want := range map[float64]string{1: "8k", 8192: "8k", 8193: "16k", 131072: "128k", 131073: "128k+"} {
		if got := ContextBucket(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
	for n, want := range map[int]string{1: "1", 2: "2-4", 4: "2-4", 5: "5-8", 16: "9-16", 17: "17+"} {
		if got := ConcurrencyBucket(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	row := func(id string, entry int, hw, name string, v float64, unit, spec string) table.Row {
		return table.Row{ID: id, Entry: entry, Model: "Lumen-3-32B", Hardware: hw, Metric: name, Value: v, Unit: unit, Speculative: spec}
	}
	entries := Entries("s", []table.Row{
		row("s#1", 0, "H100", "throughput_tok_s", 100, "tok/s", "off"),
		row("s#2", 1, "H100", "throughput_tok_s", 200, "tok/s", "EAGLE"),
		row("s#3", 2, "L40S", "throughput_tok_s", 900, "tok/s", ""),
		row("s#4", 3, "", "ttft_ms", 50, "ms", ""),
		row("s#5", 4, "H100", "perplexity", 5, "", "off"),
		row("s#6", 5, "H100", "throughput_tok_s", 100, "tok/s", "off"),
	})
	if len(entries) != 5 || len(entries[0].Metrics) != 2 {
		t.Fatalf("%+v", entries)
	}
	p50 := 40.0
	cell := &metric.Cell{ThroughputTokS: metric.Of(150, "tok/s"), TTFT: metric.Dist{P50: &p50, Unit: "ms"}}
	got := Nearest(Setting{Model: "lumen-3-32b", Hardware: "H100", Speculative: "off"}, cell, entries, 0)
	var ids []string
	for _, m := range got {
		ids = append(ids, m.Entry.ID)
	}
	// By score, then throughput, then id; an entry without a throughput is last.
	if s := strings.Join(ids, " "); s != "s#2 s#1 s#6 s#3 s#4" {
		t.Errorf("order %s", s)
	}
	if d := got[0].Deltas[0]; *d.DeltaPct != -25 {
		t.Errorf("%+v", d)
	}
	if w := got[0].Warnings; len(w) != 1 || w[0] != "speculative decoding is on in the source only" {
		t.Errorf("%q", w)
	}
	if d := got[4].Deltas[0]; d.Metric != "ttft_ms.p50" || *d.DeltaPct != -20 || !strings.Contains(d.Note, "which statistic") {
		t.Errorf("%+v", d)
	}
	if w := got[4].Warnings; len(w) != 1 || w[0] != "the source does not say on what hardware" {
		t.Errorf("%q", w)
	}
	if len(Nearest(Setting{Model: "other"}, cell, entries, 3)) != 0 {
		t.Error("an entry without a point is near")
	}
}
