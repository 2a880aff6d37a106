package metric

import "slices"

// QuantileStep is the distance of the quantiles that a cell keeps for drawing,
// in thousandths.
const QuantileStep = 25

// drawn are the distributions whose shape is worth a drawing.
var drawn = []string{"ttft_ms", "tpot_ms", "e2e_ms"}

// ecdf fills the quantiles of a pooled cell. Its trials go without: their
// numbers are compared and not drawn.
func (c *Cell) ecdf(o CellOptions, trials []Trial) {
	var values []float64
	for i := range rowMetrics {
		m := &rowMetrics[i]
		if !slices.Contains(drawn, m.id) {
			continue
		}
		values = values[:0]
		for t := range trials {
			for r := range trials[t].Requests {
				one := &trials[t].Requests[r]
				if one.Outcome() != "" {
					continue
				}
				if s := m.of(one, o.Protocol); s.there() && finite(s.v) {
					values = append(values, s.v)
				}
			}
		}
		m.to(c).Quantiles = quantiles(values)
	}
}

// quantiles are the minimum and then the nearest-rank percentiles at multiples
// of QuantileStep up to the maximum; nil for fewer than two values.
func quantiles(values []float64) []float64 {
	if len(values) < 2 {
		return nil
	}
	slices.Sort(values)
	out := []float64{values[0]}
	for p := QuantileStep; p <= 1000; p += QuantileStep {
		out = append(out, NearestRank(values, Percentile(p)))
	}
	return out
}
