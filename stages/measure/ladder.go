package measure

import (
	"context"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// ladder is one rung: requests of one length, one after the other, each with a
// needle that the answer must repeat.
type ladder struct {
	loaded
	w    *spec.Ladder
	done bool
}

func newLadder(p *cellParams, head evidence.CellHeader) (*ladder, error) {
	w := p.Workload.Ladder
	if w.Requests < 1 || p.Concurrency < 1 {
		return nil, p.nothing(w.Requests)
	}
	return &ladder{w: w, loaded: loaded{p: p, head: head, seed: w.Seed}}, nil
}

func (l *ladder) conns() int { return l.p.Concurrency }

func (l *ladder) start(ctx context.Context, at *station) (err error) {
	place := l.p.calibrating(l.head.Trial)
	l.cal, err = at.calibrate(ctx, l.p.Tokens, false, func(perToken float64, k int) (prompts.Prompt, error) {
		set, err := prompts.Ladder(place, l.p.Tokens, l.w.State, l.head.Trial, ^l.seed, perToken)
		if err != nil {
			return prompts.Prompt{}, err
		}
		return set.Timed.Build(k)
	})
	if err == nil {
		l.cal.template, err = at.besides(ctx, l.cal, step.Sum([]byte(place)).String()[:8])
	}
	return err
}

func (l *ladder) next(*timed) (*block, error) {
	if l.done {
		return nil, nil
	}
	l.done = true
	set, err := prompts.Ladder(l.p.place(l.p.Cell), l.p.Tokens, l.w.State, l.head.Trial, l.seed, l.cal.perToken)
	if err != nil {
		return nil, err
	}
	pause, err := duration(l.w.CoolDown)
	if err != nil {
		return nil, err
	}
	b := &block{
		head: l.head, prompts: set.Timed, requests: l.w.Requests, request: l.p.ask, judge: answer,
		workers: l.p.Concurrency, untimed: set.Before(), pause: pause,
		before: func(i int) (llm.Request, error) {
			a, err := set.Untimed.Build(i)
			return l.p.ask(i, a), err
		},
	}
	l.cal.describe(&b.head)
	return b, nil
}
