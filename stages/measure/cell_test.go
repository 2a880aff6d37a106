package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/pin"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

func load(change ...func(*cellParams)) cellParams {
	p := cellParams{Protocol: "capacity-v3", Concurrency: 3, Requests: 10, Warmup: 4,
		Prompt:   spec.CapacityPrompt{Tokens: 40, Cache: "unique", Canary: true},
		Output:   spec.CapacityOutput{Words: 8, Policy: "strict"},
		Sampling: spec.Sampling{TopP: 1, MaxTokens: 64}}
	for _, f := range change {
		f(&p)
	}
	return p
}

func cellJob(t testing.TB, p cellParams) *pintest.Job {
	t.Helper()
	doc, err := json.Marshal(evidence.PinDoc{Observed: me})
	if err != nil {
		t.Fatal(err)
	}
	return &pintest.Job{S: step.Step{Name: "measure/fp8/load/c3-t1", Where: "fp8", Trial: 1, Params: plain(p)}, Inputs: map[string][]byte{pin.Input: doc}}
}

// obey answers as the default template asks, after a tenth of a second.
func obey(ctx context.Context, r llm.Request) llm.Response {
	select {
	case <-time.After(100 * time.Millisecond): // of the bubble's clock
	case <-ctx.Done():
		return failing(llm.Failure{Class: llm.ClassCanceled})
	}
	text := r.Messages[0].Content
	words := text[strings.LastIndex(text, ": ")+2:]
	n, p := int64(32), int64(50)
	return llm.Response{Text: markers.FindString(text) + " " + words, FinishReason: "stop", Usage: &llm.Usage{OutputTokens: &n, PromptTokens: &p},
		Times: llm.Times{FirstOutput: 20e6, FirstVisible: 20e6, LastOutput: 90e6, End: 100e6}, ContentChunks: 8}
}

func readCellFile(t testing.TB, b []byte) (head evidence.CellHeader, out []evidence.LoadRow) {
	t.Helper()
	first, rest, _ := bytes.Cut(b, []byte("\n"))
	if err := json.Unmarshal(first, &head); err != nil {
		t.Fatal(err)
	}
	return head, rows[evidence.LoadRow](t, rest)
}

// TestCell: ten requests of 100 ms by three workers take 400 ms; the warm-up
// is outside.
func TestCell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ep, job := endpoint(obey), cellJob(t, load())
		cpu := atomic.Int64{}
		began := time.Now()
		c := Cell{Dial: dial(ep), CPU: func() int64 { return cpu.Add(7e6) }}
		if err := c.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		head, got := readCellFile(t, job.Output(evidence.OutCell))
		want := evidence.CellHeader{Protocol: "capacity-v3", Concurrency: 3, Trial: 1, Requests: 10, WallNS: 400e6, CPUSelfNS: 7e6, MaxInFlight: 3,
			StartUnixNS: began.UnixNano() + 200e6}
		if d := cmp.Diff(want, head); d != "" {
			t.Error(d)
		}
		if len(ep.Sent()) != 14 || len(ep.Warmed) != 1 || ep.Warmed[0] != 3 || ep.Closed != 1 {
			t.Errorf("%d sent, warmed %v, closed %d", len(ep.Sent()), ep.Warmed, ep.Closed)
		}
		for i, r := range got {
			if r.Index != i || !r.Canary.Passed || !r.Output.Passed || r.Output.Got != 8 || r.Failure != nil || r.PromptWords == 0 || r.ContentChunks != 8 {
				t.Errorf("row %d: %+v %+v %+v", i, r, r.Canary, r.Output)
			}
		}
		if len(got) != 10 || len(job.Lines) != 0 {
			t.Errorf("%d rows, %d journal lines", len(got), len(job.Lines))
		}
	})
}

// TestCellRefills: a slow request holds up its own worker only.
func TestCellRefills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := atomic.Int64{}
		ep := endpoint(func(ctx context.Context, r llm.Request) llm.Response {
			if n.Add(1) == 1 {
				time.Sleep(400 * time.Millisecond) // of the bubble's clock
			}
			return obey(ctx, r)
		})
		job := cellJob(t, load(func(p *cellParams) { p.Concurrency, p.Requests, p.Warmup = 2, 6, 0 }))
		if err := (Cell{Dial: dial(ep)}).Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if head, _ := readCellFile(t, job.Output(evidence.OutCell)); head.WallNS != 500e6 || head.MaxInFlight != 2 {
			t.Errorf("%+v", head)
		}
	})
}

// TestCellFailures are rows, each once, unless nothing succeeds.
func TestCellFailures(t *testing.T) {
	some := func(class llm.Class, which func(i int64) bool) *pintest.Endpoint {
		n := atomic.Int64{}
		return endpoint(func(ctx context.Context, r llm.Request) llm.Response {
			if which(n.Add(1)) {
				return failing(llm.Failure{Class: class, Message: "said", NoByte: true})
			}
			return obey(ctx, r)
		})
	}
	all := func(int64) bool { return true }
	for name, c := range map[string]struct {
		ep     *pintest.Endpoint
		failed int
		err    error
	}{
		"one refused":       {some(llm.ClassUnreachable, func(i int64) bool { return i == 3 }), 1, nil},
		"all but one":       {some(llm.ClassTimeout, func(i int64) bool { return i != 9 }), 9, nil},
		"nothing there":     {some(llm.ClassUnreachable, all), 0, step.ErrUnreachable},
		"overloaded":        {some(llm.ClassOverload, all), 0, step.ErrOutside},
		"rejects all of it": {some(llm.ClassRejected, all), 10, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := cellJob(t, load(func(p *cellParams) { p.Warmup = 0 }))
				err := Cell{Dial: dial(c.ep)}.Run(t.Context(), job)
				if !errors.Is(err, c.err) || len(c.ep.Sent()) != 10 {
					t.Fatalf("%v, %d sent", err, len(c.ep.Sent()))
				}
				if c.err != nil {
					if job.Output(evidence.OutCell) != nil || !strings.Contains(err.Error(), "said") {
						t.Error(err)
					}
					return
				}
				failed := 0
				_, got := readCellFile(t, job.Output(evidence.OutCell))
				for _, r := range got {
					if r.Failure != nil {
						failed++
						if r.Canary != nil || r.Output != nil {
							t.Errorf("a failed request broke a contract: %+v", r)
						}
					}
				}
				if failed != c.failed {
					t.Errorf("%d rows failed, want %d", failed, c.failed)
				}
			})
		})
	}
}

func TestCellStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(250*time.Millisecond, cancel)
		job := cellJob(t, load())
		began := time.Now()
		err := Cell{Dial: dial(endpoint(obey))}.Run(ctx, job)
		if !errors.Is(err, context.Canceled) || job.Output(evidence.OutCell) != nil || time.Since(began) != 250*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestCellDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ep, job := endpoint(obey), cellJob(t, load())
		ep.IDs = []llm.Identity{me, {Served: "other"}}
		var drift *step.Drift
		if err := (Cell{Dial: dial(ep)}).Run(t.Context(), job); !errors.As(err, &drift) || job.Output(evidence.OutCell) == nil {
			t.Errorf("%v", err)
		}
	})
}

func TestCellParams(t *testing.T) {
	for name, change := range map[string]func(*cellParams){
		"protocol":  func(p *cellParams) { p.Protocol = "capacity-v2" },
		"requests":  func(p *cellParams) { p.Requests = 0 },
		"workers":   func(p *cellParams) { p.Concurrency = 0 },
		"template":  func(p *cellParams) { p.Prompt.Template = "no canary" },
		"timeout":   func(p *cellParams) { p.Timeout = "-1s" },
		"reasoning": func(p *cellParams) { p.Reasoning = &spec.Reasoning{Control: "effort-high"} },
	} {
		ep := endpoint(obey)
		if err := (Cell{Dial: dial(ep)}).Run(t.Context(), cellJob(t, load(change))); err == nil || len(ep.Sent()) != 0 {
			t.Errorf("%s: %v, %d sent", name, err, len(ep.Sent()))
		}
	}
	warm := endpoint(obey)
	warm.WarmErr = step.ErrUnreachable
	if err := (Cell{Dial: dial(warm)}).Run(t.Context(), cellJob(t, load(func(p *cellParams) { p.Warmup = 0 }))); !errors.Is(err, step.ErrUnreachable) {
		t.Error(err)
	}
}

func TestCPUTime(t *testing.T) {
	if a, b := cpuTime(), cpuTime(); a < 0 || b < a {
		t.Errorf("%d, then %d", a, b)
	}
	if used(-1, 5) != -1 || used(5, -1) != -1 || used(5, 9) != 4 {
		t.Error("unknown CPU time must stay unknown")
	}
}

// TestMetrics: from steps over cell files to the derived document.
func TestMetrics(t *testing.T) {
	c := &spec.Campaign{
		Candidates: map[string]spec.Candidate{"fp8": {Sampling: spec.Sampling{TopP: 1, MaxTokens: 64}}},
		Measure: map[string]spec.Workload{"load": {Capacity: &spec.Capacity{Protocol: "capacity-v3", Concurrency: []int{1, 3}, Requests: 6, Trials: 2,
			Prompt: load().Prompt, Output: load().Output}}},
	}
	steps := Steps(c)
	derive := &pintest.Job{S: steps[len(steps)-1], Inputs: map[string][]byte{}}
	for _, s := range steps[:len(steps)-1] {
		synctest.Test(t, func(t *testing.T) {
			job := cellJob(t, load())
			job.S = s
			if err := (Cell{Dial: dial(endpoint(obey)), CPU: func() int64 { return 0 }}).Run(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			for name, in := range derive.S.Inputs {
				if in.Step == s.Name {
					derive.Inputs[name] = job.Output(in.Output)
				}
			}
		})
	}
	if err := (Metrics{}).Run(t.Context(), derive); err != nil {
		t.Fatal(err)
	}
	out := derive.Output(evidence.OutMetrics)
	var doc evidence.LoadMetrics
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Workload != "load" || len(doc.Cells) != 2 || doc.Cells[1].Concurrency != 3 || len(doc.Cells[1].PerTrial) != 2 {
		t.Fatalf("%+v", doc)
	}
	// 3 workers: 6 requests in 200 ms, 32 tokens each; twice.
	cell := doc.Cells[1]
	if cell.Attempted != 12 || cell.WallS != 0.4 || *cell.ThroughputTokS.Value != 960 || *cell.TTFT.P99 != 20 || *cell.TPOT.P50 != 80.0/31 || *cell.ClientOverhead.Value != 0 {
		t.Errorf("%+v", cell)
	}
	if canon, err := step.Canonical(out); err != nil || !bytes.Equal(canon, out) {
		t.Error("not canonical")
	}
}

func TestDamagedCellFile(t *testing.T) {
	s := metricsStep("a", "load", &spec.Capacity{Protocol: "capacity-v3", Concurrency: []int{1}, Trials: 1})
	good := `{"requests":2,"cpu_self_ns":-1}` + "\n" + `{"index":0}` + "\n" + `{"index":1}` + "\n"
	for name, c := range map[string]struct {
		file string
		bad  bool
	}{
		"whole":     {good, false},
		"a row off": {good[:len(good)-12], true},
		"torn":      {good[:len(good)-3], true},
		"a hole":    {strings.Replace(good, `"index":1`, `"index":2`, 1), true},
		"one more":  {good + `{"index":2}`, true},
		"unknown":   {strings.Replace(good, `"index":1`, `"index":1,"x":1`, 1), true},
		"empty":     {"", true},
	} {
		job := &pintest.Job{S: s, Inputs: map[string][]byte{"c1-t1": []byte(c.file)}}
		if err := (Metrics{}).Run(t.Context(), job); (err != nil) != c.bad {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRowToRequest: contracts and failures reach the metrics.
func TestRowToRequest(t *testing.T) {
	n := int64(9)
	row := evidence.LoadRow{Times: llm.Times{FirstOutput: 1, FirstVisible: 2, LastOutput: 3, End: 4}, Usage: &llm.Usage{PromptTokens: &n, CachedTokens: &n},
		Server: &llm.ServerTimes{PromptEval: 5}, ContentChunks: 6, ReasonChunks: 7}
	want := metric.Request{FirstOutput: 1, FirstVisible: 2, LastOutput: 3, End: 4, PromptTokens: &n, CachedTokens: &n, ServerPrefill: 5, ContentChunks: 6, ReasoningChunks: 7, Eligible: true}
	if d := cmp.Diff(want, request(&row)); d != "" {
		t.Error(d)
	}
	for i, bad := range []evidence.LoadRow{{Canary: &evidence.Canary{}}, {Output: &evidence.Output{}}} {
		if request(&bad).Eligible {
			t.Errorf("%d is eligible", i)
		}
	}
	if got := request(&evidence.LoadRow{Failure: &llm.Failure{Class: llm.ClassTimeout}}).FailureClass; got != "timeout" {
		t.Error(got)
	}
}

func TestSteps(t *testing.T) {
	cand := spec.Candidate{Sampling: spec.Sampling{MaxTokens: 50}, Reasoning: &spec.Reasoning{Control: "none", HeadroomTokens: 50}}
	c := &spec.Campaign{
		Candidates: map[string]spec.Candidate{"bf16": cand, "fp8": cand},
		Measure: map[string]spec.Workload{
			"support": {Quality: &spec.Quality{Suite: spec.Suite{Count: 10, Items: spec.File{Path: "x.jsonl", Digest: step.Sum([]byte("x"))}}, Samples: 2, Repeats: 3, Where: map[string][]string{"task": {"b", "a", "b"}}, Stratify: "task"}},
			"noise":   {NoiseFloor: &spec.NoiseFloor{Candidate: "bf16", Suite: "support"}},
			"load":    {Capacity: &spec.Capacity{Protocol: "capacity-v3", Concurrency: []int{1, 4}, Requests: 5, Warmup: 1, Trials: 2}},
		},
	}
	byName, names := map[string]step.Step{}, []string{}
	for _, s := range Steps(c) {
		byName[s.Name] = s
		names = append(names, s.Name)
		if s.Kind != KindMetrics && (s.Where == "" || s.After[0] != "preflight/"+s.Where || s.Inputs["pin"].Step != "pin/"+s.Where || s.Resources[0] != "endpoint:"+s.Where || s.Pure) {
			t.Errorf("%+v", s)
		}
	}
	var want []string
	for _, who := range []string{"bf16", "fp8"} {
		for _, cell := range []string{"c1-t1", "c1-t2", "c4-t1", "c4-t2"} {
			want = append(want, "measure/"+who+"/load/"+cell)
		}
		want = append(want, "score/"+who+"/load/metrics", "measure/"+who+"/support/generate")
		if who == "bf16" {
			want = append(want, "measure/bf16/support/generate-2")
		}
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Fatal(d)
	}
	a, b, again := byName["measure/bf16/support/generate"], byName["measure/fp8/support/generate"], byName["measure/bf16/support/generate-2"]
	if !bytes.Equal(a.Params, b.Params) || a.Trial != 1 || again.Trial != 2 || !bytes.Equal(a.Params, again.Params) {
		t.Errorf("the name of a candidate is in the parameters, or a trial is not: %s %s", a.Params, b.Params)
	}
	if a.Cost != (step.Cost{Requests: 60, Tokens: 6000}) || a.Inputs["items"].Blob != step.Sum([]byte("x")) || strings.Contains(string(a.Params), "stratify") || !strings.Contains(string(a.Params), `"task":["a","b"]`) {
		t.Errorf("%+v %s", a.Cost, a.Params)
	}
	if x, y := byName["measure/fp8/load/c4-t1"], byName["measure/fp8/load/c4-t2"]; x.Trial != 1 || y.Trial != 2 || !bytes.Equal(x.Params, y.Params) || x.Cost.Requests != 6 {
		t.Errorf("%+v %+v", x, y)
	}
	m := byName["score/fp8/load/metrics"]
	if !m.Pure || len(m.Inputs) != 4 || m.Inputs["c4-t2"].Step != "measure/fp8/load/c4-t2" || m.Resources != nil {
		t.Errorf("%+v", m)
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
		key := fmt.Sprintf("%s", plain(newGenerateParams(c, q)))
		if other, dup := seen[key]; dup {
			t.Errorf("%s and %s have the same parameters", name, other)
		}
		seen[key] = name
	}
}
