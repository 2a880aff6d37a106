package decide

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

// drew puts what the whole cell drew, with its quantisation in percent, and loaded idle
// of 100 W for 10 s, of which 100 tokens came out.
func drew(m *evidence.LoadMetrics, w, pct float64) {
	whole(m, func(x *energy.Measured) {
		x.DurationS, x.QuantisationPct = metric.Of(10, "s"), metric.Of(pct, "%")
		x.W, x.J, x.NetJ = metric.Of(w, "W"), metric.Of(10*w, "J"), metric.Of(10*(w-100), "J")
		x.JPerOutputToken, x.NetJPerOutputToken = metric.Of(w/10, "J/token"), metric.Of((w-100)/10, "J/token")
	})
	a := &m.Energy[1].Asiai
	a.PowerWatts, a.PowerQuantisationPct, a.TokPerSecPerWatt = metric.Of(w, "W"), metric.Of(pct, "%"), metric.Of(10/w, "tok/s/W")
	a.EnergyPerToken, a.ActivePerToken, a.TurnQuantisationPct = metric.Of(w/10, "J/token"), metric.Of((w-100)/10, "J/token"), metric.Of(2*pct, "%")
}

// A difference that the counters do not resolve decides nothing, whichever way it goes.
func TestDifferencesWithinQuantisation(t *testing.T) {
	const c, b = "candidate.energy.nv_gpu.cell.", "baseline.energy.nv_gpu.cell."
	const ca, ba = "candidate.asiai.", "baseline.asiai."
	for _, tt := range []struct {
		rule                 string
		candidate, baseline  float64 // W
		ofCandidate, ofOther float64 // quantisation, %
		want                 evidence.Verdict
	}{
		{c + "w <= 0.952 * " + b + "w", 285.3, 300, 4.9, 4.9, evidence.Undetermined}, // would pass
		{c + "w <= 0.952 * " + b + "w", 285.3, 300, 0, 0, evidence.Pass},
		{c + "w <= 0.952 * " + b + "w", 250, 300, 4.9, 4.9, evidence.Pass},
		{c + "w <= 0.952 * " + b + "w", 259.1, 300, 4.9, 4.9, evidence.Undetermined}, // 271.8 against 271.6
		{c + "w <= 0.952 * " + b + "w", 258.7, 300, 4.9, 4.9, evidence.Pass},
		{c + "w <= 0.952 * " + b + "w", 290, 300, 1, 1, evidence.Undetermined}, // would fail
		{c + "w <= 0.952 * " + b + "w", 300, 300, 1, 1, evidence.Fail},
		{b + "w * 0.952 >= " + c + "w", 285.3, 300, 4.9, 0, evidence.Undetermined}, // one side is enough
		{b + "w * 0.952 >= " + c + "w", 285.3, 300, 0, 4.9, evidence.Undetermined},
		{c + "w - " + b + "w < 20.0", 310, 300, 2, 2, evidence.Undetermined},
		{c + "w / " + b + "w < 1.05", 310, 300, 0.5, 0.5, evidence.Pass},
		{"!(" + c + "w > " + b + "w)", 299, 300, 1, 1, evidence.Undetermined},
		{c + "w < 300.0", 290, 300, 2, 2, evidence.Pass},
		{c + "w < 300.0", 290, 300, 4, 2, evidence.Undetermined}, // one number and a constant
		{c + "w < 300.0", 310, 300, 4, 2, evidence.Undetermined},
		{c + "w < 300.0", 310, 300, 3, 2, evidence.Fail},
		{"candidate.failed < 1.0 && !(" + c + "w > 302.0 && " + c + "w < 308.0)", 300, 300, 4, 4, evidence.Undetermined}, // true at both ends
		{c + "net_j <= 1.2 * " + b + "net_j", 110, 110, 4.9, 4.9, evidence.Undetermined},                                 // 10 W above idle, off by 5.4
		{c + "net_j_per_output_token <= 1.2 * " + b + "net_j_per_output_token", 110, 110, 4.9, 4.9, evidence.Undetermined},
		{c + "net_j_per_output_token <= 1.2 * " + b + "net_j_per_output_token", 110, 110, 0.5, 0.5, evidence.Pass},
		{c + "j / " + c + "w < 10.5", 300, 300, 4.9, 4.9, evidence.Pass}, // of one reading: off together
		{c + "j_per_output_token / " + c + "w < 1.001 * " + b + "j_per_output_token / " + b + "w", 300, 300, 4.9, 4.9, evidence.Pass},
		{c + "duration_s < 10.1 && " + c + "quantisation_pct < 4.95", 300, 300, 4.9, 4.9, evidence.Pass},
		{ca + "power_watts <= " + ba + "power_watts", 285, 300, 4.9, 4.9, evidence.Undetermined},
		{ca + "power_watts <= " + ba + "power_watts", 270, 300, 4.9, 4.9, evidence.Pass},
		{ca + "tok_per_sec_per_watt >= " + ba + "tok_per_sec_per_watt", 285, 300, 4.9, 4.9, evidence.Undetermined},
		{ca + "tok_per_sec_per_watt >= " + ba + "tok_per_sec_per_watt", 270, 300, 4.9, 4.9, evidence.Pass},
		{ca + "tok_per_sec_per_watt * " + ca + "power_watts < 10.05", 300, 300, 0.4, 0.4, evidence.Pass}, // off against one another
		{ca + "energy_per_token_j <= " + ba + "energy_per_token_j", 285, 300, 1, 1, evidence.Pass},       // 2 % of a turn
		{ca + "energy_per_token_j <= " + ba + "energy_per_token_j", 285, 300, 1.5, 1.5, evidence.Undetermined},
		{ca + "energy_per_token_active_j <= " + ba + "energy_per_token_active_j", 110, 112, 0.6, 0.6, evidence.Undetermined},
		{c + "w <= " + b + "w || candidate.ttft_ms.p95 < 1e9", 285.3, 300, 4.9, 4.9, evidence.Pass}, // the rest decides
		{c + "w <= " + b + "w && candidate.ttft_ms.p95 > 1e9", 285.3, 300, 4.9, 4.9, evidence.Fail},
		{"1.0 / (" + c + "w - 294.0) > 0.0", 300, 300, 4, 4, evidence.Undetermined}, // no number at a half
	} {
		got := outcome(t, tt.rule, func(a, o *evidence.LoadMetrics) {
			drew(a, tt.candidate, tt.ofCandidate)
			drew(o, tt.baseline, tt.ofOther)
		})
		if got.Verdict != tt.want || (tt.want == evidence.Undetermined) != strings.HasPrefix(got.Reason, "within-quantisation: ") {
			t.Errorf("%s of %v and %v W, ± %v and %v %%: %s, %s; want %s", tt.rule, tt.candidate, tt.baseline, tt.ofCandidate, tt.ofOther, got.Verdict, got.Reason, tt.want)
		}
	}
}

func TestTheSentenceOfQuantisation(t *testing.T) {
	got := outcome(t, "candidate.energy.nv_gpu.cell.w <= 0.952 * baseline.energy.nv_gpu.cell.w", func(a, b *evidence.LoadMetrics) {
		drew(a, 285.3, 4.9)
		drew(b, 300, 4.9)
	})
	const want = "within-quantisation: the rule would come out otherwise within what the counters resolve; measure a longer window: " +
		"candidate.energy.nv_gpu.cell.w = 285.3 ± 13.98, baseline.energy.nv_gpu.cell.w = 300 ± 14.7"
	if got.Reason != want {
		t.Errorf("%s", got.Reason)
	}
}

// A quantisation that is not known is taken for the largest that is let through.
func TestUnknownQuantisation(t *testing.T) {
	for w, want := range map[float64]evidence.Verdict{280: evidence.Undetermined, 270: evidence.Pass} {
		got := outcome(t, "candidate.energy.nv_gpu.cell.w <= baseline.energy.nv_gpu.cell.w", func(a, b *evidence.LoadMetrics) {
			drew(a, w, 0)
			drew(b, 300, 0)
			for _, m := range []*evidence.LoadMetrics{a, b} {
				whole(m, func(x *energy.Measured) { x.QuantisationPct = metric.Null("not-reported", "%") })
			}
		})
		if got.Verdict != want {
			t.Errorf("%v W: %s, %s; want %s", w, got.Verdict, got.Reason, want)
		}
	}
}

// However many energies a rule names, none of them alone may turn it.
func TestManyReadingsAreMoved(t *testing.T) {
	for n := 1; n <= 10; n++ {
		windows := []energy.Window{energy.Request, energy.Prefill, energy.Decode, energy.Steady, energy.Whole}
		var terms []string
		for i := range n {
			base := []string{"nv_gpu", "wall"}[i/5]
			terms = append(terms, fmt.Sprintf("candidate.energy.%s.%s.w < 100.0", base, windows[i%5]))
		}
		all := strings.Join(terms, " && ")
		if got := outcome(t, all, nil); got.Verdict != evidence.Pass {
			t.Errorf("%d readings of 2 W: %s, %s", n, got.Verdict, got.Reason)
		}
		last := func(a, _ *evidence.LoadMetrics) {
			of := a.Energy[1].Bases[(n-1)/5].Windows
			m := of[windows[(n-1)%5]]
			m.W, m.QuantisationPct = metric.Of(98, "W"), metric.Of(3, "%")
			of[windows[(n-1)%5]] = m
		}
		if got := outcome(t, all, last); got.Verdict != evidence.Undetermined || !strings.Contains(got.Reason, "= 98 ± 2.94") {
			t.Errorf("%d readings, one of 98 W: %s, %s", n, got.Verdict, got.Reason)
		}
	}
}
