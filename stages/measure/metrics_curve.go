package measure

import (
	"fmt"
	"slices"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// curve derives the effective context; the cell beside it pools all lengths.
func (p *metricsParams) curve(blocks []measured, o metric.CellOptions, out *evidence.LoadMetrics) error {
	if p.Policy == nil {
		return fmt.Errorf("workload %s has no policy", p.Workload)
	}
	byLength := map[int][]metric.Request{}
	for _, b := range blocks {
		for _, r := range b.trial.Requests {
			byLength[r.AskedPromptTokens] = append(byLength[r.AskedPromptTokens], r)
		}
	}
	var buckets []metric.Bucket
	for tokens, requests := range byLength {
		buckets = append(buckets, metric.Bucket{Tokens: tokens, Requests: requests})
	}
	slices.SortFunc(buckets, func(a, b metric.Bucket) int { return a.Tokens - b.Tokens })
	curve := metric.NewCurve(metric.Policy{Baseline: p.Policy.Baseline, Floor: p.Policy.Floor, MaxDrop: p.Policy.MaxDrop}, buckets)
	c := metric.NewCell(o, trialsOf(blocks))
	c.EffectiveContext = curve.Effective
	out.Curve = &curve
	out.Cells = append(out.Cells, noted([]metric.Cell{c}, blocks)...)
	return nil
}
