package measure

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/llm"
)

func sized(tokens int, change ...func(*spec.CapacityPrompt)) *spec.Campaign {
	c := only(everyKind(), "capacity")
	w := c.Measure["capacity"].Capacity
	w.Prompt.Tokens = tokens
	for _, f := range change {
		f(&w.Prompt)
	}
	return c
}

// TestCalibration: prompts have the length that is asked for, as the engine
// counts it, however it can be made to.
func TestCalibration(t *testing.T) {
	for name, c := range map[string]struct {
		tokenizer func(string) (int, error)
		prompt    func(*spec.CapacityPrompt)
		by        string
		most      int // requests before the warm-up and the five timed ones
	}{
		"tokenizer": {func(text string) (int, error) { return tokensOf(text), nil }, func(*spec.CapacityPrompt) {}, "tokenize", 1},
		"usage":     {nil, func(*spec.CapacityPrompt) {}, "usage", 6},
		"nominal":   {nil, func(p *spec.CapacityPrompt) { p.Calibrate = "nominal" }, "nominal", 0},
		"drawn": {nil, func(p *spec.CapacityPrompt) {
			p.Tokens, p.Lengths = 0, &spec.Lengths{Seed: 7, Distribution: "anvil/agentic", Max: 3000}
		}, "usage", 6},
	} {
		t.Run(name, func(t *testing.T) {
			ep := newEngine()
			ep.Count = c.tokenizer
			b := must(t)(cellOf(t, sized(2000, c.prompt), ep))[0]
			if b.head.Prompts.CalibratedBy != c.by || len(ep.asked)-6 > c.most || (c.by == "nominal") != (b.head.Prompts.CharsPerToken == 3) {
				t.Errorf("%+v after %d requests", b.head.Prompts, len(ep.asked)-6)
			}
			for _, r := range b.rows {
				off := float64(*r.Usage.PromptTokens)/float64(r.AskedTokens) - 1
				if (off < -0.02 || off > 0.02) != (c.by == "nominal") {
					t.Errorf("%d tokens are %d", r.AskedTokens, *r.Usage.PromptTokens)
				}
			}
			for _, r := range ep.asked[:len(ep.asked)-6] {
				if r.Sampling.MaxTokens != 1 || !r.NoOutput || r.Messages[0].Content[:100] == ep.asked[len(ep.asked)-1].Messages[0].Content[:100] {
					t.Errorf("%+v", r.Sampling)
				}
			}
		})
	}
}

// TestUncalibrated: where lengths cannot be held, that is said; where they
// cannot be counted, they are nominal.
func TestUncalibrated(t *testing.T) {
	cuts := newEngine()
	counted := func(r *llm.Response, n *int64) { r.Usage.PromptTokens = n }
	wrap := func(e *engine, change func(*llm.Response)) *engine {
		answer := e.Answer
		e.Answer = func(ctx context.Context, r llm.Request) llm.Response {
			resp := answer(ctx, r)
			change(&resp)
			return resp
		}
		return e
	}
	limit := int64(500)
	wrap(cuts, func(r *llm.Response) {
		if *r.Usage.PromptTokens > limit {
			counted(r, &limit)
		}
	})
	if _, err := cellOf(t, sized(2000), cuts); err == nil || !strings.Contains(err.Error(), "cuts the prompt off") || !strings.Contains(err.Error(), "calibrate: nominal") {
		t.Error(err)
	}
	dumb := wrap(newEngine(), func(r *llm.Response) { r.Usage = nil })
	if b := must(t)(cellOf(t, sized(2000), dumb))[0]; b.head.Prompts.CalibratedBy != "nominal" || len(dumb.asked) != 7 {
		t.Errorf("%+v after %d requests", b.head.Prompts, len(dumb.asked))
	}
	for name, f := range map[string]llm.Failure{"outside": {Class: llm.ClassOverload, Status: 429, Message: "slow down"}, "rejected": {Class: llm.ClassRejected, Status: 400, Message: "too long"}} {
		full := newEngine()
		full.Answer = func(context.Context, llm.Request) llm.Response { return failing(f) }
		if _, err := cellOf(t, sized(2000), full); err == nil || !strings.Contains(err.Error(), f.Message) {
			t.Errorf("%s: %v", name, err)
		}
	}
	explicit := func(p *spec.CapacityPrompt) { p.Calibrate = "endpoint" }
	if _, err := cellOf(t, sized(2000, explicit), dumb); err == nil || !strings.Contains(err.Error(), "does not count prompt tokens") || !strings.Contains(err.Error(), "calibrate: nominal") {
		t.Error(err)
	}
	if _, err := cellOf(t, sized(2000, explicit, func(p *spec.CapacityPrompt) { p.Template = "{index}" }), newEngine()); err == nil || !strings.Contains(err.Error(), "cannot be calibrated") {
		t.Error(err)
	}
	if cell := derive(t, sized(2000), func() Endpoint { return dumb }, nil).Cells[0]; !strings.Contains(strings.Join(cell.Doubts, "\n"), "could not be calibrated: calibration: the engine does not count prompt tokens") {
		t.Errorf("%q", cell.Doubts)
	}
	short := newEngine() // whose template alone is longer
	if _, err := cellOf(t, sized(8, explicit), short); err == nil || !strings.Contains(err.Error(), "no prompt length lands") {
		t.Error(err)
	}
	if cell := derive(t, sized(8), func() Endpoint { return short }, nil).Cells[0]; !strings.Contains(strings.Join(cell.Doubts, "\n"), "could not be calibrated") || !strings.Contains(strings.Join(cell.Doubts, "\n"), "5 of 5 prompts are more than 2 % off") {
		t.Errorf("%q", cell.Doubts)
	}
	broken := newEngine()
	broken.Count = func(string) (int, error) { return 0, errors.New("no such page") }
	if _, err := cellOf(t, sized(2000), broken); err == nil || !strings.Contains(err.Error(), "no such page") {
		t.Error(err)
	}
}

// TestCalibrationTexts: no two cells, trials or workloads send the same text to
// find out how long it is: an engine may leave out of its count what it knows.
func TestCalibrationTexts(t *testing.T) {
	c := everyKind()
	prompt := spec.CapacityPrompt{Tokens: 300, Cache: "unique"}
	for name, change := range map[string]func(*spec.Capacity){
		"capacity": func(*spec.Capacity) {},
		"longer":   func(w *spec.Capacity) { w.Requests++ },
		"shared":   func(w *spec.Capacity) { w.Prompt.Cache = "shared" },
	} {
		w := *capacityOf([]int{1, 2}, 2).Capacity
		w.Prompt = prompt
		change(&w)
		c.Measure[name] = spec.Workload{Kind: "capacity", Capacity: &w}
	}
	c.Measure["open"].OpenLoop.Prompt, c.Measure["search"].Search.Prompt = prompt, prompt
	c.Measure["ladder"].Ladder.Tokens, c.Measure["ladder"].Ladder.Trials = []int{512, 1024}, 2
	c.Measure["burst"].PrefixBurst.Trials = 2
	w := *c.Measure["context"].EffectiveContext
	w.Repetitions = 2
	c.Measure["context2"] = spec.Workload{Kind: "effective-context", EffectiveContext: &w}
	seen, cells := map[string]string{}, map[string]bool{}
	for _, s := range Steps(c) {
		if s.Kind != KindCell {
			continue
		}
		ep, job := newEngine(), cellJob(t, load())
		ep.words = looksUp
		job.S = s
		job.Inputs[traceInput] = []byte("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.000000,200,7\n")
		synctest.Test(t, func(t *testing.T) {
			d := func(n Need) (Endpoint, error) {
				if n.Replica > 0 {
					return newEngine(), nil
				}
				return ep, nil
			}
			if err := (Cell{Dial: d, open: openInBubble}).Run(t.Context(), job); err != nil {
				t.Fatal(err)
			}
		})
		for _, r := range ep.asked {
			if !r.NoOutput {
				continue
			}
			text := r.Messages[0].Content
			head := text[:min(64, len(text))]
			if of := seen[head]; of != "" && of != s.Name {
				t.Errorf("%s and %s send the same text: %q", of, s.Name, head)
			}
			seen[head], cells[s.Name] = s.Name, true
		}
	}
	if len(cells) != 3*4+4+1+1+1+4+2+2 { // capacities, replicas, open, trace, search, ladder, contexts, bursts
		t.Errorf("%d cells calibrate: %v", len(cells), cells)
	}
}
