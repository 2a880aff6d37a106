package publish

import "github.com/cupel-dev/cupel/stages/metric"

// costs says what the answers to each quality workload took. A request that
// never ended has no time of its own; those beside it cover it.
func (b *builder) costs() {
	for name, c := range b.rec.Candidates {
		for workload, s := range c.Scores {
			at := generation{name, workload}
			in := metric.CostInput{
				Busy: metric.Busy(b.busy[at], b.beside(at)), GPUs: b.p.GPUs[name], Price: b.p.Price,
				Items: s.Overall.Items, Correct: s.Overall.Mean,
			}
			if m := s.Overall.Mean.Value; m != nil {
				in.Correct = metric.Of(*m*float64(s.Overall.Scored), "items")
			}
			if c.Costs == nil {
				c.Costs = map[string]metric.Cost{}
			}
			c.Costs[workload] = metric.NewCost(in)
		}
		b.rec.Candidates[name] = c
	}
}
