package decide

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// A guard on cost needs a price and the number of GPUs of both sides; an
// unknown cost is never 0.
func TestCostGuard(t *testing.T) {
	cost := func(busy float64, gpus int, price *metric.Price) map[string]metric.Cost {
		return map[string]metric.Cost{"support": metric.NewCost(metric.CostInput{
			Busy: metric.Of(busy, "s"), GPUs: gpus, Price: price, Items: 500, Correct: metric.Of(400, "items"),
		})}
	}
	price := &metric.Price{GPUHour: 2, Currency: "EUR"}
	for name, tt := range map[string]struct {
		rule            string
		mine, base      map[string]metric.Cost
		want            evidence.Verdict
		reason, explain string
	}{
		// 900 s on one GPU at 2 an hour is 0.5 for 500 items; 3,600 s is 2.
		"cheaper":  {"cost.per_1k_items.candidate < 0.3 * cost.per_1k_items.baseline", cost(900, 1, price), cost(3600, 1, price), evidence.Pass, "", "cost.per_1k_items.candidate = 1, cost.per_1k_items.baseline = 4"},
		"dearer":   {"cost.per_1k_correct.candidate <= cost.per_1k_correct.baseline", cost(3600, 2, price), cost(3600, 1, price), evidence.Fail, "", "cost.per_1k_correct.candidate = 10, cost.per_1k_correct.baseline = 5"},
		"no price": {"cost.per_1k_items.candidate < 1e9", cost(900, 1, nil), cost(900, 1, nil), evidence.Undetermined, "no-price", ""},
		"GPU time": {"cost.gpu_hours_per_1k_items.candidate < 0.51", cost(900, 1, nil), cost(900, 1, nil), evidence.Pass, "", ""},
		"no GPUs":  {"cost.per_1k_items.candidate < 1e9", cost(900, 0, price), cost(900, 1, price), evidence.Undetermined, "cost.per_1k_items.candidate is absent", ""},
		"unknown":  {"cost.per_1k_items.candidate < 1e9", nil, nil, evidence.Undetermined, "is absent", ""},
	} {
		got := oneGuard(t, spec.Guard{On: "support", Rule: tt.rule}, func(r *evidence.Record) {
			for who, c := range map[string]map[string]metric.Cost{"fp8": tt.mine, "bf16": tt.base} {
				rec := r.Candidates[who]
				rec.Costs = c
				r.Candidates[who] = rec
			}
		})
		if got.Verdict != tt.want || !strings.Contains(got.Reason, tt.reason) || !strings.Contains(got.Explain, tt.explain) {
			t.Errorf("%s: %s, %s, %s", name, got.Verdict, got.Reason, got.Explain)
		}
	}
}
