package measure

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
)

func capacityOf(concurrency []int, trials int) spec.Workload {
	return spec.Workload{Kind: "capacity", Capacity: &spec.Capacity{Protocol: "capacity-v3", Concurrency: concurrency, Requests: 5, Warmup: 1, Trials: trials}}
}

func TestSteps(t *testing.T) {
	cand := spec.Candidate{Sampling: spec.Sampling{MaxTokens: 50}, Reasoning: &spec.Reasoning{Control: "none", HeadroomTokens: 50}}
	c := &spec.Campaign{
		Candidates: map[string]spec.Candidate{"bf16": cand, "fp8": cand},
		Measure: map[string]spec.Workload{
			"support": {Kind: "quality", Quality: &spec.Quality{Suite: spec.Suite{Count: 10, Items: spec.File{Path: "x.jsonl", Digest: step.Sum([]byte("x"))}}, Samples: 2, Repeats: 3, Where: map[string][]string{"task": {"b", "a", "b"}}, Stratify: "task"}},
			"noise":   {Kind: "noise-floor", NoiseFloor: &spec.NoiseFloor{Candidate: "bf16", Suite: "support"}},
			"load":    capacityOf([]int{1, 4}, 2),
		},
	}
	byName, names := map[string]step.Step{}, []string{}
	for _, s := range Steps(c) {
		byName[s.Name] = s
		names = append(names, s.Name)
		if s.Kind != KindMetrics && (s.Where == "" || s.After[0] != "preflight/"+s.Where || s.Inputs["pin"].Step != "pin/"+s.Where || s.Resources[0] != "endpoint:"+s.Where || s.Pure) {
			t.Errorf("%+v", s)
		}
		if behind := []string{"preflight/bf16", "preflight/fp8"}; s.Kind == KindCell && !slices.Equal(s.Behind, behind) || s.Kind != KindCell && (s.Rank != 0 || s.Behind != nil) {
			t.Errorf("%s: rank %d behind %v", s.Name, s.Rank, s.Behind)
		}
	}
	var want []string
	for _, who := range []string{"bf16", "fp8"} {
		for _, cell := range []string{"c=1-t1", "c=1-t2", "c=4-t1", "c=4-t2"} {
			want = append(want, "measure/"+who+"/load/"+cell)
		}
		want = append(want, "score/"+who+"/load/metrics", "measure/"+who+"/support/generate")
		if who == "bf16" {
			want = append(want, "measure/bf16/support/generate-2")
		}
	}
	if d := gocmp.Diff(want, names); d != "" {
		t.Fatal(d)
	}
	a, b, again := byName["measure/bf16/support/generate"], byName["measure/fp8/support/generate"], byName["measure/bf16/support/generate-2"]
	if !bytes.Equal(a.Params, b.Params) || a.Trial != 1 || again.Trial != 2 || !bytes.Equal(a.Params, again.Params) {
		t.Errorf("the name of a candidate is in the parameters, or a trial is not: %s %s", a.Params, b.Params)
	}
	if a.Cost != (step.Cost{Requests: 60, Tokens: 6000}) || a.Inputs["items"].Blob != step.Sum([]byte("x")) || strings.Contains(string(a.Params), "stratify") || !strings.Contains(string(a.Params), `"task":["a","b"]`) {
		t.Errorf("%+v %s", a.Cost, a.Params)
	}
	if x, y := byName["measure/fp8/load/c=4-t1"], byName["measure/bf16/load/c=4-t2"]; x.Trial != 1 || y.Trial != 2 || !bytes.Equal(x.Params, y.Params) || x.Cost.Requests != 6 || bytes.Equal(x.Hints, y.Hints) {
		t.Errorf("%+v %+v", x, y)
	}
	m := byName["score/fp8/load/metrics"]
	if !m.Pure || len(m.Inputs) != 8 || m.Inputs["c=4-t2"].Step != "measure/fp8/load/c=4-t2" || m.Inputs["c=4-t2-server"].Output != "server-metrics.jsonl" || m.Resources != nil {
		t.Errorf("%+v", m)
	}
}

// order returns the cells of a campaign as their ranks have them.
func order(c *spec.Campaign) (names []string) {
	cells := slices.DeleteFunc(Steps(c), func(s step.Step) bool { return s.Kind != KindCell })
	slices.SortFunc(cells, func(a, b step.Step) int { return cmp.Compare(a.Rank, b.Rank) })
	for i, s := range cells {
		if s.Rank != i+1 {
			panic(fmt.Sprintf("%s has the rank %d, and is number %d", s.Name, s.Rank, i+1))
		}
		names = append(names, strings.TrimPrefix(s.Name, "measure/"))
	}
	return names
}

// TestInterleaved: candidates take turns within each trial of each point, in an
// order that changes from turn to turn and depends on nothing but the seed.
func TestInterleaved(t *testing.T) {
	load := capacityOf([]int{1, 4}, 6)
	c := &spec.Campaign{Candidates: map[string]spec.Candidate{"a": {}, "b": {}, "d": {}}, Measure: map[string]spec.Workload{"load": load}}
	got := order(c)
	if again := order(c); !slices.Equal(got, again) {
		t.Fatal("two plans of one campaign differ")
	}
	first := map[string]int{}
	for i, of := range []string{"c=1-t1", "c=1-t2", "c=1-t3", "c=1-t4", "c=1-t5", "c=1-t6", "c=4-t1", "c=4-t2", "c=4-t3", "c=4-t4", "c=4-t5", "c=4-t6"} {
		turn := slices.Clone(got[3*i : 3*i+3])
		first[turn[0][:1]]++
		slices.Sort(turn)
		if want := []string{"a/load/" + of, "b/load/" + of, "d/load/" + of}; !slices.Equal(turn, want) {
			t.Errorf("turn %d is %v, want %v", i, turn, want)
		}
	}
	if len(first) != 3 {
		t.Errorf("only %v ever come first", first)
	}
	load.Capacity.Seed = 1
	if slices.Equal(got, order(c)) {
		t.Error("another seed makes the same order")
	}
	load.Capacity.Order = "sequential"
	if got := order(c); got[0] != "a/load/c=1-t1" || got[11] != "a/load/c=4-t6" || got[12] != "b/load/c=1-t1" {
		t.Errorf("%v", got)
	}
	for _, s := range Steps(c) {
		if s.Behind != nil {
			t.Errorf("%s waits for candidates that it takes no turns with", s.Name)
		}
	}
}

// everyKind is a campaign with a workload of each serving kind.
func everyKind() *spec.Campaign {
	prompt := spec.CapacityPrompt{Cache: "unique"}
	return &spec.Campaign{
		Candidates: map[string]spec.Candidate{"fp8": {Sampling: spec.Sampling{TopP: 1, MaxTokens: 64}}},
		Measure: map[string]spec.Workload{
			"capacity": capacityOf([]int{1}, 1),
			"open": {Kind: "open-loop", OpenLoop: &spec.OpenLoop{Protocol: "capacity-v3", Trials: 1, Warmup: 1, Prompt: prompt,
				Arrivals: spec.Arrivals{Process: "constant", Rates: []float64{2.5}, Duration: "4s"}}},
			"trace": {Kind: "open-loop", OpenLoop: &spec.OpenLoop{Protocol: "capacity-v3", Trials: 1, Prompt: prompt,
				Arrivals: spec.Arrivals{Process: "trace", Trace: &spec.File{Path: "t.csv", Digest: step.Sum([]byte("t"))}}}},
			"search": {Kind: "search", Search: &spec.Search{Protocol: "capacity-v3", Over: "concurrency", Low: 1, High: 8, Attain: 1, Tolerance: 0.1, Confirm: 1,
				Requests: 16, Prompt: prompt, SLO: spec.SLO{E2E: 1}}},
			"decode":   {Kind: "decode", Decode: &spec.Decode{OutputTokens: 100, Requests: 2, Concurrency: []int{1}, Warmup: 1, Trials: 1}},
			"ladder":   {Kind: "ladder", Ladder: &spec.Ladder{Tokens: []int{512}, State: "warm", Requests: 3, Trials: 1, Protocol: "capacity-v3"}},
			"context":  {Kind: "effective-context", EffectiveContext: &spec.EffectiveContext{Profile: "smoke", Concurrency: 1}},
			"burst":    {Kind: "prefix-burst", PrefixBurst: &spec.PrefixBurst{Protocol: "capacity-v3", Clients: []int{6}, SharedTokens: 100, Tokens: 200, Trials: 1}},
			"bench":    {Kind: "bench", Bench: &spec.Bench{Runs: 3}},
			"replicas": {Kind: "replicas", Replicas: &spec.Replicas{Of: "capacity", Count: 2}},
		},
	}
}

// TestEveryKindHasSteps: each with one cell, one metrics step, and an estimate.
func TestEveryKindHasSteps(t *testing.T) {
	want := map[string]int{"capacity/c=1": 6, "open/rate=2.5": 11, "trace/trace": 10, "decode/c=1": 3, "ladder/tokens=512": 14, "context/context": 22, "burst/c=6": 16, "bench/all": 13, "replicas/c=1": 12, "search/best": 96}
	got := map[string]int{}
	for _, s := range Steps(everyKind()) {
		if s.Kind == KindCell {
			parts := strings.Split(s.Name, "/")
			got[parts[2]+"/"+strings.TrimSuffix(parts[3], "-t1")] = s.Cost.Requests
		}
		if strings.Contains(s.Name, "trace") && s.Kind == KindCell && (s.Inputs[traceInput] != step.Input{Blob: step.Sum([]byte("t")), Path: "t.csv"} || strings.Contains(string(s.Params), "sha256")) {
			t.Errorf("the trace is no input: %+v %s", s.Inputs, s.Params)
		}
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestParamsHoldTheRequest: whatever changes a request changes the key.
func TestParamsHoldTheRequest(t *testing.T) {
	base := spec.Candidate{Sampling: spec.Sampling{MaxTokens: 5}}
	seen := map[string]string{}
	for name, change := range map[string]func(*spec.Candidate, *spec.Quality){
		"nothing":     func(*spec.Candidate, *spec.Quality) {},
		"temperature": func(c *spec.Candidate, _ *spec.Quality) { c.Sampling.Temperature = 1 },
		"topP":        func(c *spec.Candidate, _ *spec.Quality) { c.Sampling.TopP = 1 },
		"seed":        func(c *spec.Candidate, _ *spec.Quality) { c.Sampling.Seed = 1 },
		"maxTokens":   func(c *spec.Candidate, _ *spec.Quality) { c.Sampling.MaxTokens = 6 },
		"stop":        func(c *spec.Candidate, _ *spec.Quality) { c.Sampling.Stop = []string{"x"} },
		"headroom":    func(c *spec.Candidate, _ *spec.Quality) { c.Reasoning = &spec.Reasoning{HeadroomTokens: 1} },
		"reasoning":   func(c *spec.Candidate, _ *spec.Quality) { c.Reasoning = &spec.Reasoning{Control: "thinking-on"} },
		"system":      func(c *spec.Candidate, _ *spec.Quality) { c.SystemPrompt = "x" },
		"where":       func(_ *spec.Candidate, q *spec.Quality) { q.Where = map[string][]string{"a": {"b"}} },
		"split":       func(_ *spec.Candidate, q *spec.Quality) { q.Split = "held-out" },
		"limit":       func(_ *spec.Candidate, q *spec.Quality) { q.Limit = 1 },
		"stratify":    func(_ *spec.Candidate, q *spec.Quality) { q.Limit, q.Stratify = 1, "difficulty" },
		"samples":     func(_ *spec.Candidate, q *spec.Quality) { q.Samples = 9 },
		"repeats":     func(_ *spec.Candidate, q *spec.Quality) { q.Repeats = 9 },
	} {
		c, q := base, quality()
		change(&c, &q)
		key := string(plain(newGenerateParams(c, q)))
		if other, dup := seen[key]; dup {
			t.Errorf("%s and %s have the same parameters", name, other)
		}
		seen[key] = name
	}
}
