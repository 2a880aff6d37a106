package decide

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric/energy"
)

func answering(candidate, baseline float64) func(a, b *evidence.LoadMetrics) {
	return func(a, b *evidence.LoadMetrics) {
		a.Cells[1].OutputTokens.Mean, b.Cells[1].OutputTokens.Mean = &candidate, &baseline
	}
}

// Joules written out as a product are joules: a side that answers less, or less often,
// takes fewer for having done less.
func TestProductsAreJoules(t *testing.T) {
	// Each holds for 2 of everything against 3, or for what the cells hold alike.
	const limit = " <= 4.0 * "
	both := func(product string) string {
		return strings.ReplaceAll(product, "S.", "candidate.") + limit + strings.ReplaceAll(product, "S.", "baseline.")
	}
	fewer := func(_, b *evidence.LoadMetrics) { b.Cells[1].Completed = 310 }
	for _, tt := range []struct {
		rule            string
		longer, oftener bool // undetermined when one side's answers are longer, or more
	}{
		{both("S.energy.nv_gpu.cell.w * S.energy.nv_gpu.cell.duration_s"), true, true},
		{both("S.energy.nv_gpu.cell.w * S.energy.wall.request.duration_s"), true, true},
		{both("S.energy.nv_gpu.cell.w * S.wall_s"), true, true},
		{both("S.asiai.power_watts * S.energy.wall.cell.duration_s"), true, true},
		{both("S.energy.nv_gpu.cell.w") + " && " + both("S.energy.nv_gpu.cell.duration_s"), true, true},
		{both("S.energy.nv_gpu.cell.j_per_request * S.completed"), true, true},
		{both("S.energy.nv_gpu.cell.j_per_output_token * S.output_tokens.mean"), true, false},
		{both("S.energy.nv_gpu.cell.w / S.request_rate"), true, false},
		{both("S.energy.nv_gpu.cell.w"), false, false},
		{both("S.energy.nv_gpu.cell.j_per_output_token"), false, false},
		{both("S.energy.nv_gpu.cell.j_per_output_token") + " && " + both("S.output_tokens.mean"), false, false},
		{both("S.energy.nv_gpu.cell.duration_s"), false, false},
		{"candidate.energy.nv_gpu.cell.w * candidate.energy.nv_gpu.cell.duration_s < 1000.0", false, false},
	} {
		for what, change := range map[string]struct {
			by   func(a, b *evidence.LoadMetrics)
			want bool
		}{"as they are": {nil, false}, "longer": {answering(100, 130), tt.longer}, "more": {fewer, tt.oftener}} {
			got := outcome(t, tt.rule, change.by)
			if blocked := strings.Contains(got.Reason, "unequal-work: "); blocked != change.want || blocked && got.Verdict != evidence.Undetermined {
				t.Errorf("%s, %s: %s, %s", tt.rule, what, got.Verdict, got.Reason)
			}
		}
	}
}

// Joules per token of answers of another length are noted, and decide.
func TestAnswersDiffer(t *testing.T) {
	const note = "answers-differ: joules per token depend on the length of the answers: what comes before the first token is spread over other numbers of them: 100.0 output tokens a request on fp8, 130.0 on bf16"
	noted := func(rule string, change func(a, b *evidence.LoadMetrics)) bool {
		t.Helper()
		got := outcome(t, rule, change)
		if got.Verdict != evidence.Pass {
			t.Errorf("%s: %s, %s", rule, got.Verdict, got.Reason)
		}
		return slices.Contains(got.Warnings, note) || slices.ContainsFunc(got.Warnings, func(w string) bool { return strings.HasPrefix(w, "answers-differ") && change == nil })
	}
	for _, id := range []string{"energy.nv_gpu.cell.j_per_output_token", "energy.wall.decode.net_j_per_output_interval", "energy.nv_gpu.cell.cost_per_m_output_tokens", "asiai.energy_per_token_j"} {
		rule := "candidate." + id + " <= 0.9 * baseline." + id
		if !noted(rule, answering(100, 130)) {
			t.Errorf("%s: nothing is noted of longer answers", id)
		}
		if noted(rule, answering(100, 110)) || noted(rule, nil) { // 9.1 %
			t.Errorf("%s: noted of answers of one length", id)
		}
	}
	if noted("candidate.energy.nv_gpu.cell.w <= 0.9 * baseline.energy.nv_gpu.cell.w", answering(100, 130)) ||
		noted("candidate.energy.nv_gpu.cell.j_per_output_token < 5.0", answering(100, 130)) {
		t.Error("noted where no joules per token of both are held together")
	}
}

// asiai's numbers are of GPUs or of a base, and compare where those do.
func TestAsiaiComparesWhatItIsOf(t *testing.T) {
	const power, ratio, turn = "candidate.asiai.power_watts <= baseline.asiai.power_watts",
		"candidate.asiai.tok_per_sec_per_watt <= baseline.asiai.tok_per_sec_per_watt",
		"candidate.asiai.soc_watts <= baseline.asiai.soc_watts"
	const wall = "candidate.energy.wall.cell.w <= baseline.energy.wall.cell.w"
	for name, tt := range map[string]struct {
		change  func(a, b *evidence.LoadMetrics)
		blocked []string
		reason  string
	}{
		"another maker's GPUs": {func(a, _ *evidence.LoadMetrics) { a.Energy[1].Asiai.PowerBase = "amd.gpu" }, []string{power, ratio},
			"not-comparable: power_watts is of amd.gpu on one side and of nv.gpu on the other (fp8 and bf16)"},
		"an integral": {func(a, _ *evidence.LoadMetrics) { a.Energy[1].Asiai.PowerDigest = "another" }, []string{power, ratio},
			"not-comparable: power_watts of nv.gpu was read from other domains or by other means (fp8 and bf16)"},
		"mixed on both sides": {func(a, b *evidence.LoadMetrics) {
			a.Energy[1].Asiai.PowerDigest, b.Energy[1].Asiai.PowerDigest = "", ""
		}, []string{power, ratio},
			"not-comparable: power_watts of nv.gpu was not measured alike in the trials of either (fp8 and bf16)"},
		"the first base": {func(a, _ *evidence.LoadMetrics) { a.Energy[1].Bases[0].Digest = "another" }, []string{turn},
			"not-comparable: nv.gpu was read from other domains or by other means (fp8 and bf16)"},
		"another base": {func(a, _ *evidence.LoadMetrics) { a.Energy[1].Asiai.Base = "wall" }, []string{turn},
			"not-comparable: asiai's numbers are of wall on one side and of nv.gpu on the other (fp8 and bf16)"},
		"the power limit": {func(a, _ *evidence.LoadMetrics) { a.Energy[1].PowerCapShare.Value = ptr(0.5) }, []string{power, ratio, turn, wall},
			"not-comparable: the share of time at the power cap"},
	} {
		for _, rule := range []string{power, ratio, turn, wall} {
			got := outcome(t, rule, tt.change)
			want := evidence.Pass
			if slices.Contains(tt.blocked, rule) {
				want = evidence.Undetermined
			}
			if got.Verdict != want || want == evidence.Undetermined && !strings.HasPrefix(got.Reason, tt.reason) {
				t.Errorf("%s, %s: %s, %s; want %s, %s", name, rule, got.Verdict, got.Reason, want, tt.reason)
			}
		}
	}
}

// A rule on asiai's numbers is told that their windows are short, as any other.
func TestAsiaiIsIndicative(t *testing.T) {
	short := func(a, b *evidence.LoadMetrics) {
		for _, m := range []*evidence.LoadMetrics{a, b} {
			m.Energy[1].Asiai.PowerLabel = "indicative"
			w := m.Energy[1].Bases[0].Windows[energy.Request]
			w.Label = "indicative"
			m.Energy[1].Bases[0].Windows[energy.Request] = w
		}
	}
	for _, id := range tags(reflect.TypeFor[Asiai](), "cel") {
		p := "asiai." + id
		got := outcome(t, "candidate."+p+" <= 1.5 * baseline."+p, short)
		want := []string{"indicative: candidate." + p + " is of less than 600 s", "indicative: baseline." + p + " is of less than 600 s"}
		if got.Verdict != evidence.Pass || !slices.Equal(got.Warnings, want) {
			t.Errorf("%s: %s, %q", id, got.Verdict, got.Warnings)
		}
		if got := outcome(t, "candidate."+p+" <= 1.5 * baseline."+p, nil); id != "idle_soc_watts" && got.Warnings != nil {
			t.Errorf("%s of long windows: %q", id, got.Warnings)
		}
	}
}
