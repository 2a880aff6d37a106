package measure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
	"github.com/cupel-dev/cupel/stages/measure"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/pin"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
	"github.com/cupel-dev/cupel/stages/preflight"
)

// world runs the steps of a campaign one after the other against a real client
// and a scripted endpoint, handing outputs on.
type world struct {
	t       *testing.T
	options llm.Options
	items   []byte
	outputs map[string]map[string][]byte // step -> output -> bytes
	journal map[string][][]byte
}

func (w *world) client(timeout time.Duration, conns int) nowhere {
	w.t.Helper()
	o := w.options
	o.Timeout, o.MaxConns = timeout, conns
	c, err := llm.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return nowhere{c}
}

// nowhere is an endpoint of whose hardware nothing is known.
type nowhere struct{ *llm.Client }

func (nowhere) Hardware(context.Context) (hardware.Seen, error) {
	return hardware.Unseen(hardware.NotLocal, ""), nil
}

func (w *world) run(s step.Step) (*pintest.Job, error) {
	job := &pintest.Job{S: s, Inputs: map[string][]byte{}, Lines: w.journal[s.Name]}
	for name, in := range s.Inputs {
		job.Inputs[name] = w.items
		if in.Step != "" {
			job.Inputs[name] = w.outputs[in.Step][in.Output]
		}
	}
	dial := func(n measure.Need) (measure.Endpoint, error) { return w.client(n.Timeout, n.Conns), nil }
	err := map[string]step.Runner{
		pin.Kind:             pin.Runner{Dial: func(string) (pin.Identifier, error) { return w.client(0, 0), nil }},
		preflight.Kind:       preflight.Runner{Dial: func(string) (preflight.Endpoint, error) { return w.client(0, 0), nil }},
		measure.KindGenerate: measure.Generate{Dial: dial, Backoff: func(int) time.Duration { return 0 }},
		measure.KindCell:     measure.Cell{Dial: dial, CPU: func() int64 { return 0 }}, // an echo is all client
		measure.KindMetrics:  measure.Metrics{},
	}[s.Kind].Run(w.t.Context(), job)
	w.journal[s.Name] = job.Lines
	w.outputs[s.Name] = map[string][]byte{}
	for _, out := range []string{evidence.OutPin, evidence.OutPreflight, evidence.OutResponses, evidence.OutTimings, evidence.OutCell, evidence.OutScrapes, evidence.OutMetrics} {
		w.outputs[s.Name][out] = job.Output(out)
	}
	return job, err
}

func (w *world) must(steps []step.Step) *pintest.Job {
	w.t.Helper()
	var last *pintest.Job
	for _, s := range steps {
		job, err := w.run(s)
		if err != nil || job.Refused() != "" {
			w.t.Fatalf("%s: %v %s", s.Name, err, job.Refused())
		}
		last = job
	}
	return last
}

func campaign() *spec.Campaign {
	return &spec.Campaign{
		Candidates: map[string]spec.Candidate{"tiny": {Sampling: spec.Sampling{TopP: 1, MaxTokens: 200}}},
		Preflight: spec.Preflight{Checks: []string{"health", "identity", "generate", "json"}, JSON: &spec.JSONCheck{Prompt: `{"a":1}`, Expect: map[string]any{"a": 1}},
			Prompt: &spec.GenerateCheck{Prompt: "hello", Expect: "hello"}},
		Measure: map[string]spec.Workload{
			"load": {Kind: "capacity", Capacity: &spec.Capacity{Protocol: "capacity-v3", Concurrency: []int{3}, Requests: 12, Warmup: 3, Trials: 1, Timeout: "1m",
				Prompt: spec.CapacityPrompt{Cache: "unique", Canary: true, Template: "{canary} {word-list}"}, Output: spec.CapacityOutput{Words: 40, Policy: "strict"}}},
			"support": {Kind: "quality", Quality: &spec.Quality{Samples: 1, Repeats: 1, Concurrency: 3, Retries: 1, Timeout: "1m", Stratify: "task"}},
		},
	}
}

func items(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"id":"i%02d","input":"item %d","scorer":"exact","answer":"x"}`+"\n", i, i)
	}
	return b.Bytes()
}

// TestOverTheWire: a server that goes away in the middle costs only the answers
// that it did not give, and leaves the same bytes.
func TestOverTheWire(t *testing.T) {
	for _, api := range []llm.API{llm.OpenAI, llm.Ollama} {
		t.Run(string(api), func(t *testing.T) {
			broken := false
			script := llmtest.Script{Fault: func(_ int, prompt string) llmtest.Fault {
				switch {
				case broken && prompt == "item 7":
					return llmtest.Fault{Cut: true, After: 1}
				case broken && prompt > "item 7":
					return llmtest.Fault{Status: 503, Message: "shutting down"}
				}
				return llmtest.Fault{}
			}}
			if api == llm.Ollama {
				script.Ollama = "0.17.4"
			}
			server := llmtest.New(t, script)
			w := &world{t: t, options: llm.Options{URL: server.URL, API: api, Model: "tiny"}, items: items(10),
				outputs: map[string]map[string][]byte{}, journal: map[string][][]byte{}}
			c := campaign()
			w.must(pin.Steps(c))
			w.must(preflight.Steps(c))
			steps := measure.Steps(c)
			load, generate := steps[:2], steps[2]

			broken = true
			if _, err := w.run(generate); !errors.Is(err, step.ErrOutside) {
				t.Fatal(err)
			}
			if n := len(w.journal[generate.Name]); n != 7 {
				t.Fatalf("%d answers were kept, want those of items 0 to 6", n)
			}
			broken = false
			before := server.Requests()
			resumed := w.must([]step.Step{generate}).Output(evidence.OutResponses)
			if n := server.Requests() - before; n != 3 {
				t.Errorf("%d requests after the restart, 3 were missing", n)
			}
			w.journal = map[string][][]byte{}
			if whole := w.must([]step.Step{generate}).Output(evidence.OutResponses); !bytes.Equal(whole, resumed) {
				t.Errorf("an interrupted run has other bytes:\n%s\n%s", resumed, whole)
			}

			var doc evidence.LoadMetrics
			if err := json.Unmarshal(w.must(load).Output(evidence.OutMetrics), &doc); err != nil {
				t.Fatal(err)
			}
			cell := doc.Cells[0]
			if cell.Completed != 12 || cell.ThroughputTokS.Value == nil || cell.TTFT.N != 12 || *cell.OutputTokens.Min < 40 {
				t.Errorf("%d completed, failures %v, throughput %+v, %d TTFT", cell.Completed, cell.Failures, cell.ThroughputTokS, cell.TTFT.N)
			}
			if server.MostInFlight() > 3 {
				t.Errorf("%d in flight", server.MostInFlight())
			}
		})
	}
}

// TestEveryKindOverTheWire: each kind runs against a real client, and its
// metrics are derived from what that wrote.
func TestEveryKindOverTheWire(t *testing.T) {
	prompt := spec.CapacityPrompt{Cache: "unique", Template: "{canary} {word-list}", Canary: true}
	output := spec.CapacityOutput{Words: 20, Policy: "strict"}
	server := llmtest.New(t, llmtest.Script{Answer: func(prompt string) string { return prompt }})
	for name, c := range map[string]struct {
		w    spec.Workload
		cell string
		n    int
	}{
		"sized": {spec.Workload{Kind: "capacity", Capacity: &spec.Capacity{Protocol: "capacity-v3", Concurrency: []int{2}, Requests: 4, Trials: 1, Prompt: spec.CapacityPrompt{Tokens: 300, Cache: "unique"}}}, "c=2", 4},
		"open": {spec.Workload{Kind: "open-loop", OpenLoop: &spec.OpenLoop{Protocol: "capacity-v3", Trials: 1, Prompt: prompt, Output: output,
			Arrivals: spec.Arrivals{Process: "constant", Rates: []float64{100}, Duration: "100ms"}}}, "rate=100", 10},
		"search":  {spec.Workload{Kind: "search", Search: &spec.Search{Protocol: "capacity-v3", Over: "concurrency", Low: 1, High: 2, SLO: spec.SLO{E2E: 60000}, Attain: 1, Tolerance: 0.1, Requests: 4, Confirm: 1, Prompt: prompt, Output: output}}, "best", 8},
		"decode":  {spec.Workload{Kind: "decode", Decode: &spec.Decode{OutputTokens: 15, Requests: 3, Concurrency: []int{1}, Warmup: 1, Trials: 1}}, "c=1", 3},
		"ladder":  {spec.Workload{Kind: "ladder", Ladder: &spec.Ladder{Tokens: []int{300}, State: "prefix-cached", Requests: 2, Trials: 1, Protocol: "capacity-v3"}}, "tokens=300", 2},
		"context": {spec.Workload{Kind: "effective-context", EffectiveContext: &spec.EffectiveContext{Profile: "smoke", Buckets: []int{2048}, Concurrency: 2}}, "context", 6},
		"burst":   {spec.Workload{Kind: "prefix-burst", PrefixBurst: &spec.PrefixBurst{Protocol: "capacity-v3", Clients: []int{4}, SharedTokens: 100, Tokens: 300, Trials: 1}}, "c=4", 4},
		"bench":   {spec.Workload{Kind: "bench", Bench: &spec.Bench{Runs: 2}}, "code", 2},
	} {
		t.Run(name, func(t *testing.T) {
			c0 := campaign()
			c0.Measure = map[string]spec.Workload{"work": c.w}
			w := &world{t: t, options: llm.Options{URL: server.URL, API: llm.OpenAI, Model: "tiny"}, outputs: map[string]map[string][]byte{}, journal: map[string][][]byte{}}
			w.must(pin.Steps(c0))
			var doc evidence.LoadMetrics
			if err := json.Unmarshal(w.must(measure.Steps(c0)).Output(evidence.OutMetrics), &doc); err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(doc.Probes, func(p metric.Probe) bool { return p.Why == "client-bound" }) {
				return // the machine was too busy for the client to trust itself, which is what it is to say then
			}
			// What a window's end overtakes on a busy machine is not sent, and told apart.
			if got := doc.Cells[0]; got.Name != c.cell || got.Attempted+got.Unsent != c.n || got.Attempted == 0 || got.Completed != got.Attempted || got.Unsent > 0 && name != "open" {
				t.Errorf("%s: %d of %d completed: %v %+v", got.Name, got.Completed, got.Attempted, got.Failures, doc.Probes)
			}
		})
	}
}

// TestSystemPromptIsRefused: a protocol that has no place for one says so before
// anything is timed.
func TestSystemPromptIsRefused(t *testing.T) {
	server := llmtest.New(t, llmtest.Script{})
	c := campaign()
	who := c.Candidates["tiny"]
	who.SystemPrompt = "Be brief."
	c.Candidates["tiny"] = who
	delete(c.Measure, "support")
	w := &world{t: t, options: llm.Options{URL: server.URL, API: llm.OpenAICompletions, Model: "tiny"}, outputs: map[string]map[string][]byte{}, journal: map[string][][]byte{}}
	w.must(pin.Steps(c))
	if _, err := w.run(measure.Steps(c)[0]); err == nil || !strings.Contains(err.Error(), "no place for a system message") || server.MostInFlight() > 1 {
		t.Error(err)
	}
}
