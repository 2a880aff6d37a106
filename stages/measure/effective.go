package measure

import (
	"context"
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// effective asks for facts in contexts of growing length, in a closed loop.
type effective struct {
	loaded
	items []prompts.ContextItem
	done  bool
}

// contextItems are the requests of an effective-context workload.
func contextItems(w spec.EffectiveContext, place string) ([]prompts.ContextItem, error) {
	p, err := prompts.ProfileOf(w)
	if err != nil {
		return nil, err
	}
	return prompts.Context(p, place, w.Seed), nil
}

func newContext(p *cellParams, head evidence.CellHeader) (*effective, error) {
	items, err := contextItems(*p.Workload.EffectiveContext, p.place(p.Cell))
	if err == nil && (len(items) == 0 || p.Concurrency < 1) {
		err = p.nothing(len(items))
	}
	return &effective{items: items, loaded: loaded{p: p, head: head}}, err
}

func (e *effective) conns() int { return e.p.Concurrency }

// countable is a context that is long enough for one line more or less to be
// less than the length may be off by.
const countable = 4096

// start counts the tokens of the shortest countable context. The text is the
// same all the way through, so its ratio is that of the longer ones too, which
// would cost a hundred times as much to look at.
func (e *effective) start(ctx context.Context, at *station) (err error) {
	like := e.items[len(e.items)-1]
	for _, item := range e.items {
		if item.Bucket >= countable {
			like = item
			break
		}
	}
	like.Seed = ^like.Seed
	e.cal, err = at.calibrate(ctx, like.Bucket, false, func(perToken float64, k int) (prompts.Prompt, error) {
		like.Place = fmt.Sprint(e.p.calibrating(e.head.Trial), k)
		return like.Build(perToken)
	})
	return err
}

func (e *effective) next(*timed) (*block, error) {
	if e.done {
		return nil, nil
	}
	e.done = true
	set := prompts.ContextSet{Items: e.items, CPT: map[int]float64{}}
	for _, item := range e.items {
		set.CPT[item.Bucket] = e.cal.perToken
	}
	b := &block{head: e.head, prompts: set, requests: len(e.items), request: e.p.ask, judge: answer, workers: e.p.Concurrency}
	e.cal.describe(&b.head)
	return b, nil
}
