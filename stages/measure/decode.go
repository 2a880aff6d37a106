package measure

import (
	"context"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// decodeTemplate asks for more than any limit lets through, so that the limit
// is what ends the answer.
const decodeTemplate = "This is request {index}. Count upwards from one in English words, one number a line, in full sentences. Never stop, never summarise, add nothing else."

// decode is a closed loop whose answers all have the same number of tokens.
type decode struct {
	loaded
	w    *spec.Decode
	done bool
}

func newDecode(p *cellParams, head evidence.CellHeader) (*decode, error) {
	w := p.Workload.Decode
	if w.Requests < 1 || p.Concurrency < 1 || w.OutputTokens < 1 {
		return nil, p.nothing(w.Requests)
	}
	prompt := spec.CapacityPrompt{Cache: "unique", Template: decodeTemplate}
	if w.Prompt != "" {
		prompt.Template = w.Prompt
	}
	if !strings.Contains(prompt.Template, "{index}") {
		prompt.Cache = "shared" // one text for all, sent as it stands: prefill is not what is measured
	}
	return &decode{w: w, loaded: loaded{p: p, head: head, prompt: prompt, seed: w.Seed, warmup: w.Warmup}}, nil
}

func (d *decode) conns() int { return d.p.Concurrency }

func (d *decode) start(context.Context, *station) error { return nil }

func (d *decode) next(*timed) (*block, error) {
	if d.done {
		return nil, nil
	}
	d.done = true
	c := d.cell(d.p.Cell, d.p.Concurrency, d.w.Requests)
	b, err := d.block(c)
	if err != nil {
		return nil, err
	}
	b.workers, b.request = d.p.Concurrency, d.ask
	builder := b.prompts
	b.before = func(i int) (llm.Request, error) {
		a, err := builder.Build(d.w.Requests + i)
		return d.ask(i, a), err
	}
	return b, nil
}

// ask limits the answer to exactly what is to be decoded. Stop words could end
// it before that, so there are none.
func (d *decode) ask(i int, a prompts.Prompt) llm.Request {
	r := d.p.ask(i, a)
	r.Sampling.MaxTokens, r.Sampling.Stop, r.IgnoreEOS = d.w.OutputTokens, nil, d.w.IgnoreEOS
	return r
}
