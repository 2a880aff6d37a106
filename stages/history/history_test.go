package history

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

func series(values []float64, items int) []Row {
	var rows []Row
	for i, v := range values {
		rows = append(rows, Row{Finding: fmt.Sprintf("f%02d", i), Value: &v, Items: items})
	}
	return rows
}

// By hand: means 10 and 14, variances 1 and 1 of three rows each; se = sqrt(2/3),
// df = 4; of 6 rows there are 3 splits, so the level is 1 - 0.05/3, and
// t(0.99167, 4) = 3.9608.
func TestChangeByHand(t *testing.T) {
	got := changes(series([]float64{9, 10, 11, 13, 14, 15}, 0), 0.95)
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	c := got[0]
	half := 3.9608 * math.Sqrt(2.0/3)
	if c.At != "f03" || c.From != 10 || c.To != 14 || c.Before != 3 || c.After != 3 || math.Abs(c.Lo-(4-half)) > 2e-3 || math.Abs(c.Hi-(4+half)) > 2e-3 {
		t.Errorf("%+v, half %v", c, half)
	}
}

func TestNoChange(t *testing.T) {
	for name, rows := range map[string][]Row{
		"nothing":            nil,
		"too few":            series([]float64{1, 1, 9}, 0),
		"constant":           series([]float64{5, 5, 5, 5, 5}, 0),
		"one outlier":        series([]float64{5, 5.1, 9, 5, 5.1, 4.9}, 0),
		"scores, few items":  series([]float64{0.90, 0.90, 0.80, 0.80}, 40),
		"values that do not": {{Reason: "x"}, {Reason: "x"}, {Reason: "x"}, {Reason: "x"}, {Reason: "x"}},
	} {
		if got := changes(rows, 0.95); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// The same step with the items to tell.
	if got := changes(series([]float64{0.90, 0.90, 0.90, 0.80, 0.80, 0.80}, 4000), 0.95); len(got) != 1 || got[0].At != "f03" {
		t.Errorf("%+v", got)
	}
}

// How often a series without a change is said to have one, and how often one of
// three standard deviations is found where it is.
func TestErrorRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	draw := func(n, at int, shift float64) []Row {
		xs := make([]float64, n)
		for i := range xs {
			if xs[i] = rng.NormFloat64(); i >= at {
				xs[i] += shift
			}
		}
		return series(xs, 0)
	}
	const runs = 3000
	for _, n := range []int{4, 6, 10, 20} {
		wrong := 0
		for range runs {
			if changes(draw(n, n, 0), 0.95) != nil {
				wrong++
			}
		}
		if rate := float64(wrong) / runs; rate > 0.06 { // 5 % at 4 rows, exactly; less with more splits
			t.Errorf("%d rows without a change: one is seen in %.3f", n, rate)
		}
	}
	found := 0
	for range runs {
		if c := changes(draw(20, 10, 3), 0.95); len(c) > 0 && c[0].At >= "f08" && c[0].At <= "f12" {
			found++
		}
	}
	if rate := float64(found) / runs; rate < 0.95 {
		t.Errorf("a change of 3 sd is found in %.3f", rate)
	}
}

func TestTwoChanges(t *testing.T) {
	got := changes(series([]float64{10, 10.1, 9.9, 10, 20, 20.1, 19.9, 20, 15, 15.1, 14.9, 15}, 0), 0.95)
	var at []string
	for _, c := range got {
		at = append(at, c.At)
	}
	if d := cmp.Diff([]string{"f04", "f08"}, at); d != "" {
		t.Error(d)
	}
}

func finding(name, date, version string, ttft float64, change func(*evidence.Record, map[string]any)) Finding {
	mean := 0.9
	rec := &evidence.Record{Date: date, Candidates: map[string]evidence.CandidateRecord{"prod": {
		Pin: &evidence.PinDoc{Fields: []evidence.PinField{
			{Name: "engine.version", Declared: version, State: "declared-only"},
			{Name: "served", Observed: name, State: "observed-only"},
		}},
		Scores: map[string]evidence.ScoreSummary{"answers": {Stratify: "task", Overall: evidence.ScoreGroup{Items: 40, Scored: 40, Mean: metric.Value{Value: &mean, Unit: "score"}},
			Strata: map[string]evidence.ScoreGroup{"sum": {Scored: 20, Mean: metric.Value{Reason: "no-items", Unit: "score"}}}, Scorers: map[string]string{"numeric": "1"}}},
		Load: map[string]evidence.LoadMetrics{"load": {Protocol: "capacity-v3", Cells: []metric.Cell{{Name: "c=4", TTFT: metric.Dist{N: 8, Unit: "ms", P50: &ttft}}}}},
	}}}
	spec := map[string]any{
		"measure":    map[string]any{"answers": map[string]any{"kind": "quality"}, "load": map[string]any{"kind": "capacity", "requests": 8}},
		"candidates": map[string]any{"prod": map[string]any{"sampling": map[string]any{"temperature": 0}}},
	}
	if change != nil {
		change(rec, spec)
	}
	b, _ := json.Marshal(spec)
	return Finding{Name: name, Record: rec, Spec: b}
}

func follow(t *testing.T, metric string, fs ...Finding) []*Series {
	t.Helper()
	s, err := Of(fs, Ask{Metric: metric}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSeries(t *testing.T) {
	got := follow(t, "ttft_ms.p50", finding("2026-01-03-w", "2026-01-03", "2", 14, nil), finding("2026-01-01-w", "2026-01-01", "1", 10, nil), finding("2026-01-01-w-2", "2026-01-01", "1", 10.1, nil))
	if len(got) != 1 || len(got[0].Rows) != 3 || got[0].Unit != "ms" || got[0].Better != "lower" || got[0].Place != "c=4" {
		t.Fatalf("%+v", got)
	}
	last := got[0].Rows[2]
	if last.Finding != "2026-01-03-w" || *last.Value != 14 || !cmp.Equal(last.Changed, []string{"engine.version 1 -> 2"}) {
		t.Errorf("%+v", last)
	}
	if len(got[0].Doubts) != 1 || !strings.Contains(got[0].Doubts[0], "hardware is not known") {
		t.Error(got[0].Doubts)
	}
}

// Rows of which anything but the thing measured differs are never put together.
func TestUnlikeRowsStayApart(t *testing.T) {
	for name, c := range map[string]struct {
		metric string
		change func(*evidence.Record, map[string]any)
		apart  string
	}{
		"another load": {"ttft_ms.p50", func(_ *evidence.Record, s map[string]any) {
			s["measure"].(map[string]any)["load"].(map[string]any)["requests"] = 9
		}, "another workload"},
		"another temperature": {"ttft_ms.p50", func(_ *evidence.Record, s map[string]any) {
			s["candidates"].(map[string]any)["prod"].(map[string]any)["sampling"] = map[string]any{"temperature": 1}
		}, "another sampling"},
		"another system prompt": {"mean", func(_ *evidence.Record, s map[string]any) {
			s["candidates"].(map[string]any)["prod"].(map[string]any)["systemPrompt"] = "x"
		}, "another system prompt"},
		"another protocol": {"ttft_ms.p50", func(r *evidence.Record, _ map[string]any) {
			l := r.Candidates["prod"].Load["load"]
			l.Protocol = "capacity-v4-reasoning"
			r.Candidates["prod"].Load["load"] = l
		}, "another protocol"},
		"another scorer": {"mean", func(r *evidence.Record, _ map[string]any) {
			r.Candidates["prod"].Scores["answers"].Scorers["numeric"] = "2"
		}, "another scorers"},
		"another machine": {"ttft_ms.p50", func(r *evidence.Record, _ map[string]any) {
			p := r.Candidates["prod"].Pin
			p.Fields = append(p.Fields, evidence.PinField{Name: "hardware.gpu", Observed: "H200"})
		}, "another hardware"},
	} {
		got := follow(t, c.metric, finding("a", "2026-01-01", "1", 10, nil), finding("b", "2026-01-02", "1", 10, c.change))
		n := 0
		for _, s := range got {
			if len(s.Rows) != 1 {
				t.Errorf("%s: pooled: %+v", name, s)
			}
			if s.Apart != "" {
				n++
				if s.Apart != c.apart {
					t.Errorf("%s: %q", name, s.Apart)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s: nothing says what keeps them apart", name)
		}
	}
}

// A measurement that was scored and published again is one measurement: two copies
// on either side of a difference would have no variance and look certain. A finding
// that is known to be wrong counts nothing and takes nothing from a later one.
func TestCountedOnce(t *testing.T) {
	of := func(name, text string) func(*evidence.Record, map[string]any) {
		return func(r *evidence.Record, _ map[string]any) {
			r.Evidence = []evidence.EvidenceFile{
				{Step: "measure/prod/load/" + name, Output: "cell.jsonl", Digest: step.Sum([]byte(text))},
				{Step: "measure/prod/load/c=40-t1", Output: "cell.jsonl", Digest: step.Sum([]byte(text + name + "40"))},
			}
		}
	}
	const cell = "c=4-t1"
	fs := []Finding{
		finding("a", "2026-01-01", "1", 10, of(cell, "x")), finding("a-2", "2026-01-02", "1", 10, of(cell, "x")),
		finding("b", "2026-01-03", "1", 12, of(cell, "y")), finding("b-2", "2026-01-04", "1", 12, of(cell, "y")),
		finding("c", "2026-01-05", "1", 10, nil), finding("d", "2026-01-06", "1", 10, nil), // nothing tells
	}
	s := follow(t, "ttft_ms.p50", fs...)[0]
	var reasons []string
	for _, r := range s.Rows {
		reasons = append(reasons, r.Reason)
	}
	want := []string{"", "the measurement of a, counted once", "", "the measurement of b, counted once", "", ""}
	if diff := cmp.Diff(want, reasons); diff != "" || s.Changes != nil {
		t.Errorf("%s\n%+v", diff, s.Changes)
	}
	fs[0].Invalid = "wrong"
	if r := follow(t, "ttft_ms.p50", fs...)[0].Rows[1]; r.discarded || r.Reason != "" {
		t.Errorf("%+v", r)
	}
}

func TestRowsThatDoNotCount(t *testing.T) {
	bound := func(r *evidence.Record, _ map[string]any) {
		r.Candidates["prod"].Load["load"].Cells[0].ClientBound = true
	}
	got := follow(t, "ttft_ms.p50", finding("a", "2026-01-01", "1", 10, nil), finding("b", "2026-01-02", "1", 99, bound))
	if r := got[0].Rows[1]; !r.discarded || r.Reason != "client-bound" || *r.Value != 99 {
		t.Errorf("%+v", r)
	}
	none := follow(t, "mean", finding("a", "2026-01-01", "1", 10, nil))
	if len(none) != 2 || none[0].Place != "sum" || none[0].Rows[0].Value != nil || none[0].Rows[0].Reason != "no-items" {
		t.Errorf("%+v", none[0].Rows)
	}
	if got := follow(t, "no_such_metric", finding("a", "2026-01-01", "1", 10, nil)); got != nil {
		t.Errorf("%+v", got)
	}
	if _, err := Of([]Finding{{Name: "a", Record: finding("a", "", "", 1, nil).Record, Spec: []byte("{")}}, Ask{}, 0.95); err == nil {
		t.Error("a broken spec is read")
	}
}

func TestWorse(t *testing.T) {
	for _, c := range []struct {
		better string
		delta  float64
		want   bool
	}{{"lower", 1, true}, {"lower", -1, false}, {"higher", -1, true}, {"", 1, false}} {
		if got := (&Series{Better: c.better, Changes: []Change{{Delta: c.delta}}}).Worse(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
