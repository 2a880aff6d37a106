package metric

import (
	"cmp"
	"slices"
)

// Span is a stretch of wall time in nanoseconds since 1970, from Start to End.
type Span struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// Busy is for how long at least one span lasted, in seconds: concurrent
// requests count once, and a pause between two runs does not count. The order
// of spans does not matter. A span that ends before it starts makes it null.
//
// Spans beside them are of requests that were in flight as well and are none
// of those asked about. All that are in flight at a moment share it alike, and
// only the share of spans counts: half of a set that was answered two at a time
// takes half the time of all, and not nearly all of it.
func Busy(spans, beside []Span) Value {
	if len(spans) == 0 {
		return Null(NoRequests, unitS)
	}
	if len(beside) > 0 {
		return shared(spans, beside)
	}
	sorted := slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	busy, until := 0.0, sorted[0].Start
	for _, s := range sorted {
		if s.End < s.Start {
			return Null(InconsistentTime, unitS)
		}
		if from := max(until, s.Start); s.End > from {
			busy += seconds(s.End) - seconds(from)
			until = s.End
		}
	}
	return Of(busy, unitS)
}

// shared adds up the share that spans have of each moment.
func shared(spans, beside []Span) Value {
	type edge struct {
		at          int64
		own, others int
	}
	var edges []edge
	for i, s := range slices.Concat(spans, beside) {
		own := 0
		if i < len(spans) {
			own = 1
		}
		if s.End < s.Start {
			return Null(InconsistentTime, unitS)
		}
		edges = append(edges, edge{s.Start, own, 1 - own}, edge{s.End, -own, own - 1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var busy float64
	own, others := 0, 0
	for i, e := range edges {
		if own > 0 && e.at > edges[i-1].at {
			busy += seconds(e.at-edges[i-1].at) * float64(own) / float64(own+others)
		}
		own, others = own+e.own, others+e.others
	}
	return Of(busy, unitS)
}

// Price is what one GPU costs for an hour.
type Price struct {
	GPUHour  float64 `json:"gpu_hour"`
	Currency string  `json:"currency"`
}

// CostInput is what the cost of a scored generation is computed from.
type CostInput struct {
	Busy  Value  // see [Busy]
	GPUs  int    // 0 = not known
	Price *Price // nil = the campaign states none
	Items int    // items of the workload, failed ones included
	// Correct is the sum of the items' scores: the number of correct items for
	// 0/1 scores, half an item for a score of 0.5. Null when nothing is scored.
	Correct Value
}

// Cost is what a generation took and what that would cost in production, where
// the same GPUs answer the same items at the same concurrency.
type Cost struct {
	GPUs          int    `json:"gpus"` // 0 = not known
	Price         *Price `json:"price,omitempty"`
	BusyS         Value  `json:"busy_s"`
	GPUHours      Value  `json:"gpu_hours"`
	Per1kItems    Value  `json:"per_1k_items"`
	Per1kCorrect  Value  `json:"per_1k_correct"`
	Per1kItemsGPU Value  `json:"gpu_hours_per_1k_items"` // without a price, to compare candidates all the same
}

// unitMoney stands where no price names a currency.
const (
	unitMoney    = "currency"
	unitGPUHours = "GPU h"
)

// NewCost never takes an unknown number for 0: without a price there is no
// cost, and without a correct item no cost of one.
func NewCost(in CostInput) Cost {
	c := Cost{GPUs: in.GPUs, Price: in.Price, BusyS: in.Busy}
	hours := in.hours()
	money, unit := none(NoPrice), unitMoney
	if in.Price != nil {
		unit = cmp.Or(in.Price.Currency, unitMoney)
		if money = hours; hours.there() {
			money = have(hours.v * in.Price.GPUHour)
		}
	}
	c.GPUHours = hours.in(unitGPUHours)
	c.Per1kItemsGPU = perThousand(hours, float64(in.Items), NoAnswers).in(unitGPUHours)
	c.Per1kItems = perThousand(money, float64(in.Items), NoAnswers).in(unit)
	if in.Correct.Value == nil {
		c.Per1kCorrect = Null(cmp.Or(in.Correct.Reason, Unscored), unit)
		return c
	}
	c.Per1kCorrect = perThousand(money, *in.Correct.Value, NoCorrectItems).in(unit)
	return c
}

func (in CostInput) hours() sample {
	switch {
	case in.Busy.Value == nil:
		return none(cmp.Or(in.Busy.Reason, NoRequests))
	case in.GPUs < 1:
		return none(NoGPUCount)
	}
	return have(*in.Busy.Value * float64(in.GPUs) / 3600)
}

// perThousand keeps the reason of the amount, which comes first.
func perThousand(amount sample, of float64, why string) sample {
	if !amount.there() {
		return none(amount.reason())
	}
	return per(1000*amount.v, of, why)
}
