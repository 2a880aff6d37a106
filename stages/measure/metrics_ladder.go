package measure

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
	"github.com/cupel-dev/cupel/stages/metric"
)

// rung derives a rung and says whether it was in the state that it was to be
// in. A cold or warm one that a cache knew more of than its chat template is a
// warm-cache cell.
func (p *metricsParams) rung(blocks []measured, at point, out *evidence.LoadMetrics) error {
	c := noted([]metric.Cell{metric.NewCell(p.options(at), trialsOf(blocks))}, blocks)[0]
	for _, b := range blocks {
		told, off, err := p.offState(b, at.Tokens)
		if err != nil {
			return fmt.Errorf("cell %s: %w", cellInput(at.Cell, b.head.Trial), err)
		}
		switch {
		case told == 0:
			c.Doubts = append(c.Doubts, fmt.Sprintf("trial %d: the engine reports no cached tokens, so nothing confirms that the prompts were %s", b.head.Trial, p.Ladder.State))
		case off > 0 && p.Ladder.State == prompts.PrefixCached:
			c.Doubts = append(c.Doubts, fmt.Sprintf("trial %d: %d of %d prompts were not prefix-cached", b.head.Trial, off, told))
		case off > 0:
			c.WarmCache = true
			c.Doubts = append(c.Doubts, fmt.Sprintf("warm-cache: trial %d: %d of %d prompts that were to be new were found in a cache", b.head.Trial, off, told))
		}
	}
	out.Cells = append(out.Cells, c)
	return nil
}

// offState counts the answers that say how much of their prompt was cached, and
// those of them of which it was too much or too little.
func (p *metricsParams) offState(b measured, tokens int) (told, off int, err error) {
	h := &b.head
	set, err := prompts.Ladder(tokens, p.Ladder.State, h.Trial, p.Ladder.Seed, h.Prompts.CharsPerToken)
	if err != nil {
		return 0, 0, err
	}
	for _, r := range b.trial.Requests {
		if r.CachedTokens == nil || r.PromptTokens == nil || r.FailureClass != "" {
			continue
		}
		told++
		if low, high := set.Cached(int(*r.PromptTokens), 0); int(*r.CachedTokens) < low || int(*r.CachedTokens) > high {
			off++
		}
	}
	return told, off, nil
}
