package measure

import (
	"context"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// bench asks each prompt several times, one request after the other, after one
// short untimed request. The prompts take turns, so that a machine that slows
// down does so for all of them.
type bench struct {
	loaded
	runs  int
	items []prompts.BenchItem
	first prompts.BenchItem
	done  bool
}

func newBench(p *cellParams, head evidence.CellHeader) (*bench, error) {
	w := p.Workload.Bench
	items := prompts.Bench(p.place(p.Cell), w.Prompts)
	if w.Runs < 1 || len(items) == 0 {
		return nil, p.nothing(w.Runs)
	}
	first := prompts.BenchWarmup
	first.Place = p.place(p.Cell)
	return &bench{runs: w.Runs, items: items, first: first, loaded: loaded{p: p, head: head}}, nil
}

func (b *bench) conns() int { return 1 }

func (b *bench) start(context.Context, *station) error { return nil }

func (b *bench) next(*timed) (*block, error) {
	if b.done {
		return nil, nil
	}
	b.done = true
	return &block{
		head: b.head, prompts: turnsOf(b.items), requests: b.runs * len(b.items), workers: 1, untimed: 1,
		request: func(i int, a prompts.Prompt) llm.Request { return b.ask(b.items[i%len(b.items)], a) },
		before: func(int) (llm.Request, error) {
			a, err := b.first.Build(0)
			return b.ask(b.first, a), err
		},
	}, nil
}

// ask is at temperature 0, as the bench defines it.
func (b *bench) ask(item prompts.BenchItem, a prompts.Prompt) llm.Request {
	r := b.p.ask(0, a)
	r.Sampling.Temperature, r.Sampling.MaxTokens, r.Tools = 0, item.MaxTokens, item.Tools
	return r
}

// turnsOf builds the prompts of a bench: the first run of each, then the second.
type turnsOf []prompts.BenchItem

func (turnsOf) ID() string { return prompts.BenchV1 }

func (t turnsOf) Build(i int) (prompts.Prompt, error) { return t[i%len(t)].Build(i / len(t)) }
