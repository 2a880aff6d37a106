package measure

import (
	"context"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// burst is as many requests at once as there are clients, all of which begin
// with the same bytes. Nothing is sent before them: the prefix is to be new.
type burst struct {
	loaded
	w    *spec.PrefixBurst
	done bool
}

func newBurst(p *cellParams, head evidence.CellHeader) (*burst, error) {
	w := p.Workload.PrefixBurst
	if p.Concurrency < 1 {
		return nil, p.nothing(p.Concurrency)
	}
	return &burst{w: w, loaded: loaded{p: p, head: head, output: w.Output, seed: w.Seed}}, nil
}

func (b *burst) conns() int { return b.p.Concurrency }

func (b *burst) start(ctx context.Context, at *station) (err error) {
	b.cal, err = at.calibrate(ctx, b.w.Tokens, false, func(perToken float64, k int) (prompts.Prompt, error) {
		like, err := prompts.Burst(b.p.calibrating(b.head.Trial), b.w.SharedTokens, b.w.Tokens, b.head.Trial, ^b.seed, perToken, b.output)
		if err != nil {
			return prompts.Prompt{}, err
		}
		return like.Build(k)
	})
	return err
}

func (b *burst) next(*timed) (*block, error) {
	if b.done {
		return nil, nil
	}
	b.done = true
	builder, err := prompts.Burst(b.p.place(b.p.Cell), b.w.SharedTokens, b.w.Tokens, b.head.Trial, b.seed, b.cal.perToken, b.output)
	if err != nil {
		return nil, err
	}
	pause, err := duration(b.w.CoolDown)
	if err != nil {
		return nil, err
	}
	out := &block{
		head: b.head, prompts: builder, requests: b.p.Concurrency, request: b.p.ask,
		judge: contract(spec.CapacityPrompt{}, b.output), workers: b.p.Concurrency, pause: pause,
	}
	b.cal.describe(&out.head)
	return out, nil
}
