package measure

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
	"github.com/cupel-dev/cupel/stages/metric"
)

// rung derives a rung and says of each trial whether it was in the state that
// it was to be in.
func (p *metricsParams) rung(blocks []measured, at point, out *evidence.LoadMetrics) error {
	var unknown []string
	for i := range blocks {
		b := &blocks[i]
		told, off, err := p.offState(b, at)
		if err != nil {
			return fmt.Errorf("cell %s: %w", cellInput(at.Cell, b.head.Trial), err)
		}
		switch {
		case told == 0:
			unknown = append(unknown, b.says("the engine reports no cached tokens, so nothing confirms that the prompts were "+p.Ladder.State))
		case off > 0 && p.Ladder.State == prompts.PrefixCached:
			b.trial.WrongState = fmt.Sprintf("%d of %d prompts were not prefix-cached", off, told)
		case off > 0:
			b.trial.WrongState = fmt.Sprintf("%d of %d prompts that were to be new were found in a cache", off, told)
		}
	}
	c := noted([]metric.Cell{metric.NewCell(p.options(at), trialsOf(blocks))}, blocks)[0]
	c.Doubts = append(c.Doubts, unknown...)
	out.Cells = append(out.Cells, c)
	return nil
}

// offState counts the answers that say how much of their prompt was cached, and
// those of them of which it was too much or too little.
func (p *metricsParams) offState(b *measured, at point) (told, off int, err error) {
	h := &b.head
	set, err := prompts.Ladder(placed(at.Cell, p.Ladder.Salt+h.Prompts.Attempt), at.Tokens, p.Ladder.State, h.Trial, p.Ladder.Seed, h.Prompts.CharsPerToken)
	if err != nil {
		return 0, 0, err
	}
	for _, r := range b.trial.Requests {
		if r.CachedTokens == nil || r.PromptTokens == nil || r.FailureClass != "" {
			continue
		}
		told++
		if low, high := set.Cached(int(*r.PromptTokens), h.Prompts.Template); int(*r.CachedTokens) < low || int(*r.CachedTokens) > high {
			off++
		}
	}
	return told, off, nil
}
