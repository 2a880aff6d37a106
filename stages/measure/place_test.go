package measure

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// changedWorkloads are two workloads of each kind that sends prompts of its own,
// with the same cells and different parameters.
func changedWorkloads() map[string][2]spec.Workload {
	prompt, cached := spec.CapacityPrompt{Tokens: 256, Cache: "unique"}, spec.CapacityPrompt{Tokens: 256, Cache: "shared"}
	nominal := func(p spec.CapacityPrompt) spec.CapacityPrompt { p.Calibrate = "nominal"; return p }
	out := map[string][2]spec.Workload{}
	add := func(name string, make func(second bool) spec.Workload) {
		out[name] = [2]spec.Workload{make(false), make(true)}
	}
	n := func(second bool) int {
		if second {
			return 5
		}
		return 4
	}
	for name, p := range map[string]spec.CapacityPrompt{"capacity": prompt, "capacity, shared": cached, "capacity, shared prefix": {Tokens: 256, SharedTokens: 128, Cache: "shared"}} {
		add(name, func(b bool) spec.Workload {
			return spec.Workload{Kind: "capacity", Capacity: &spec.Capacity{Protocol: "capacity-v3", Concurrency: []int{2}, Trials: 1, Requests: n(b), Prompt: nominal(p)}}
		})
	}
	add("open-loop", func(b bool) spec.Workload {
		return spec.Workload{Kind: "open-loop", OpenLoop: &spec.OpenLoop{Protocol: "capacity-v3", Trials: 1, Warmup: n(b), Prompt: nominal(prompt),
			Arrivals: spec.Arrivals{Process: "constant", Rates: []float64{2}, Duration: "2s"}}}
	})
	add("trace", func(b bool) spec.Workload {
		trace := step.Sum([]byte{byte(n(b))}) // nothing differs but the file
		return spec.Workload{Kind: "open-loop", OpenLoop: &spec.OpenLoop{Protocol: "capacity-v3", Trials: 1, Prompt: spec.CapacityPrompt{Cache: "unique", Calibrate: "nominal"},
			Arrivals: spec.Arrivals{Process: "trace", Trace: &spec.File{Path: "t", Digest: trace}}}}
	})
	add("search", func(b bool) spec.Workload {
		return spec.Workload{Kind: "search", Search: &spec.Search{Protocol: "capacity-v3", Over: "concurrency", Low: 1, High: 1, Attain: 1, Tolerance: 0.1, Requests: n(b), Prompt: nominal(prompt), SLO: spec.SLO{E2E: 9e6}}}
	})
	add("decode", func(b bool) spec.Workload {
		return spec.Workload{Kind: "decode", Decode: &spec.Decode{OutputTokens: 8, Requests: n(b), Concurrency: []int{1}, Trials: 1}}
	})
	for _, state := range []string{"cold", "warm", "prefix-cached"} {
		add("ladder, "+state, func(b bool) spec.Workload {
			return spec.Workload{Kind: "ladder", Ladder: &spec.Ladder{Tokens: []int{512}, State: state, Requests: n(b), Trials: 1, Protocol: "capacity-v3"}}
		})
	}
	add("effective-context", func(b bool) spec.Workload {
		return spec.Workload{Kind: "effective-context", EffectiveContext: &spec.EffectiveContext{Profile: "smoke", Buckets: []int{2048}, Repetitions: n(b), Concurrency: 1}}
	})
	add("prefix-burst", func(b bool) spec.Workload {
		return spec.Workload{Kind: "prefix-burst", PrefixBurst: &spec.PrefixBurst{Protocol: "capacity-v3", Clients: []int{3}, SharedTokens: 100, Tokens: 200 + n(b), Trials: 1}}
	})
	add("bench", func(b bool) spec.Workload {
		return spec.Workload{Kind: "bench", Bench: &spec.Bench{Runs: n(b)}}
	})
	return out
}

// sentBy are the first bytes of all that a workload sends for a candidate and
// that is timed or answered in full.
func sentBy(t *testing.T, w spec.Workload, who spec.Candidate, attempt string) map[string]bool {
	t.Helper()
	c := &spec.Campaign{Candidates: map[string]spec.Candidate{"fp8": who}, Measure: map[string]spec.Workload{"work": w}}
	ep := newEngine()
	ep.words = looksUp
	if _, err := cellOfAttempt(t, c, ep, attempt, traceInput, "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.000000,200,7\n2024-05-10 00:00:01.000000,300,7\n"); err != nil {
		t.Fatal(err)
	}
	heads := map[string]bool{}
	for _, r := range ep.asked {
		if text := r.Messages[len(r.Messages)-1].Content; !r.NoOutput {
			heads[text[:min(64, len(text))]] = true
		}
	}
	return heads
}

// What one workload sends does not warm a cache for another one, not even at a
// point of the same name; the candidates of one workload get the same prompts.
func TestWorkloadsShareNoPrompt(t *testing.T) {
	base := spec.Candidate{Sampling: spec.Sampling{MaxTokens: 16}}
	other := spec.Candidate{Sampling: spec.Sampling{MaxTokens: 16, Temperature: 1}, SystemPrompt: "Be brief."}
	kinds := map[string]bool{}
	for name, w := range changedWorkloads() {
		kinds[w[0].Kind] = true
		a, b := sentBy(t, w[0], base, "1"), sentBy(t, w[1], base, "1")
		if len(a) == 0 || len(b) == 0 {
			t.Errorf("%s sends nothing", name)
		}
		for head := range a {
			if b[head] {
				t.Errorf("%s: two workloads begin a prompt with %q", name, head)
			}
		}
		for head := range sentBy(t, w[0], base, "2") {
			if a[head] && !strings.Contains(name, "shared") { // those are to be known
				t.Errorf("%s: measured again, a prompt begins with %q as before", name, head)
			}
		}
		if again := sentBy(t, w[0], other, "1"); !maps.Equal(a, again) {
			t.Errorf("%s: two candidates get different prompts", name)
		}
	}
	for _, w := range everyKind().Measure { // replicas send what their capacity workload does
		if w.Replicas == nil && !kinds[w.Kind] {
			t.Errorf("%s is not looked at", w.Kind)
		}
	}
}

// TestSystemPrompt: the candidate's own stands first in every request, be it
// timed, a warm-up or a calibration, as the key
// of its cells says.
func TestSystemPrompt(t *testing.T) {
	for name, w := range changedWorkloads() {
		c := &spec.Campaign{Candidates: map[string]spec.Candidate{"fp8": {SystemPrompt: "Be brief.", Sampling: spec.Sampling{MaxTokens: 16}}}, Measure: map[string]spec.Workload{"work": w[0]}}
		ep := newEngine()
		ep.words = looksUp
		if _, err := cellOf(t, c, ep, traceInput, "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.000000,200,7\n"); err != nil {
			t.Fatal(err)
		}
		for i, r := range ep.asked {
			if len(r.Messages) != 2 || r.Messages[0].Role != "system" || r.Messages[0].Content != "Be brief." || r.Messages[1].Role != "user" || strings.Contains(r.Messages[1].Content, "Be brief.") {
				t.Errorf("%s, request %d: %+v", name, i, r.Messages)
				break
			}
		}
	}
	none := newCellParams(spec.Candidate{}, capacityOf([]int{1}, 1), nil, spec.Point{})
	if roles := none.ask(0, prompts.Prompt{Text: "x"}).Messages; !slices.EqualFunc(roles, []string{"user"}, func(m llm.Message, role string) bool { return m.Role == role }) {
		t.Errorf("%+v", roles)
	}
}
