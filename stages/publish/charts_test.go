package publish

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// Whatever the values are, ticks are inside, ascending and few, and larger
// values stand further right.
func TestLogAxis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := math.Pow(10, rapid.Float64Range(-6, 9).Draw(t, "lo"))
		hi := lo * math.Pow(10, rapid.Float64Range(0, 8).Draw(t, "width"))
		a := newLogAxis(lo, hi)
		if len(a.Ticks) > 14 {
			t.Fatalf("%d ticks from %g to %g", len(a.Ticks), lo, hi)
		}
		last := -1.0
		for _, k := range a.Ticks {
			if k.At < 0 || k.At > 100 || k.At <= last {
				t.Fatalf("%+v", a.Ticks)
			}
			last = k.At
		}
		if a.at(lo) > a.at(hi) || a.at(0) != 0 || a.at(lo) < 0 || a.at(hi) > 100 {
			t.Fatalf("%v %v", a.at(lo), a.at(hi))
		}
	})
}

func TestECDF(t *testing.T) {
	dist := func(q ...float64) metric.Cell { return metric.Cell{TTFT: metric.Dist{Quantiles: q}} }
	a, b, none := dist(1, 10, 100), dist(0, 0, 10), dist()
	groups := []loadGroup{{Cell: "c=1", Rows: []loadRow{{Candidate: "a", cell: &a}, {Candidate: "b", cell: &b}, {Candidate: "n", cell: &none}}}}
	got := ecdfs(groups, []series{{"a", 0}, {"b", 1}, {"n", 2}})
	if len(got) != 1 || len(got[0].Charts) != 1 || len(got[0].Charts[0].Series) != 2 {
		t.Fatalf("%+v", got)
	}
	lines := got[0].Charts[0].Lines
	// a: 1 to 10 to 100, equal steps on a logarithmic axis, bottom to middle to top.
	if len(lines) != 4 || math.Abs((lines[0].X2-lines[0].X1)-(lines[1].X2-lines[1].X1)) > 0.1 ||
		lines[0].Y1 != ecdfHeight || lines[0].Y2 != ecdfHeight/2 || lines[1].Y2 != 0 {
		t.Errorf("%+v", lines)
	}
	if got := ecdfs([]loadGroup{{Cell: "c=1", Rows: []loadRow{{Candidate: "n", cell: &none}}}}, []series{{"n", 0}}); got != nil {
		t.Errorf("%+v", got)
	}
	var many []loadGroup
	for i := range 20 {
		many = append(many, loadGroup{Cell: fmt.Sprint("c=", i), Rows: []loadRow{{Candidate: "a", cell: &a}}})
	}
	if got := ecdfs(many, []series{{"a", 0}}); len(got) != maxECDF || got[len(got)-1].Cell != "c=19" {
		t.Errorf("%d cells, the last %+v", len(got), got[len(got)-1].Cell)
	}
}

func TestTradeoff(t *testing.T) {
	with := func(cost, mean float64) evidence.CandidateRecord {
		return evidence.CandidateRecord{
			Costs:  map[string]metric.Cost{"support": {Per1kItems: value(cost, "EUR"), Price: &metric.Price{Currency: "EUR"}}},
			Scores: map[string]evidence.ScoreSummary{"support": {Overall: evidence.ScoreGroup{Mean: value(mean, "score")}}},
		}
	}
	rec := &evidence.Record{Baseline: "bf16", Candidates: map[string]evidence.CandidateRecord{"bf16": with(2, 0.9), "fp8": with(1, 0.8), "free": {}}}
	got := pageMaker{rec: rec, names: candidateNames(rec)}.tradeoffs()
	if len(got) != 1 || len(got[0].Points) != 2 || got[0].Unit != "EUR" {
		t.Fatalf("%+v", got)
	}
	if base, fp8 := got[0].Points[0], got[0].Points[1]; !(base.X > fp8.X && base.Y < fp8.Y) || fp8.Tooltip != "fp8: 1 EUR per 1,000 items, mean score 0.8" {
		t.Errorf("%+v", got[0].Points)
	}
	delete(rec.Candidates, "fp8")
	if got := (pageMaker{rec: rec, names: candidateNames(rec)}).tradeoffs(); got != nil {
		t.Errorf("one point is no choice: %+v", got)
	}
}

func TestFlips(t *testing.T) {
	delta := func(x float64) *float64 { return &x }
	c := &evidence.Comparison{
		Stats: stats.Result{Strata: map[string]stats.Summary{
			"a": {Delta: delta(-0.1), Discordant: stats.Discordant{B: 2, C: 1}},
			"b": {Delta: delta(-0.2), Discordant: stats.Discordant{B: 8}},
			"c": {Discordant: stats.Discordant{}},
		}},
		Flips: []evidence.Flip{{ID: "won", Stratum: "b", A: 0, B: 1}, {ID: "other", Stratum: "a", A: 1}, {ID: "lost", Stratum: "b", A: 1}},
	}
	bars := flipBars(c)
	if len(bars) != 3 || bars[0].Name != "b" || bars[0].LostW != 48 || bars[0].LostFrom != 2 || bars[1].LostW != 12 || bars[1].WonW != 6 {
		t.Errorf("%+v", bars)
	}
	worst, rows, more := lostThere(c, scale{})
	if worst != "b" || len(rows) != 1 || rows[0].ID != "lost" || more != 0 {
		t.Errorf("%s %+v %d", worst, rows, more)
	}
	if got := flipBars(&evidence.Comparison{}); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestContextCurve(t *testing.T) {
	rec := &evidence.Record{Baseline: "a", Candidates: map[string]evidence.CandidateRecord{
		"a": {Load: map[string]evidence.LoadMetrics{"ctx": {Kind: "effective-context", Curve: &metric.Curve{Points: []metric.CurvePoint{{Tokens: 8192, Passed: 3, Attempted: 4}, {Tokens: 32768, Attempted: 0}}}}}},
		"b": {Load: map[string]evidence.LoadMetrics{"ctx": {Kind: "effective-context", Curve: &metric.Curve{Points: []metric.CurvePoint{{Tokens: 8192, Passed: 4, Attempted: 4}, {Tokens: 32768, Passed: 1, Attempted: 4}}}}}},
	}}
	m := pageMaker{rec: rec, names: candidateNames(rec)}
	ch := m.contextChart("ctx", m.series("ctx"))
	if ch == nil || len(ch.Points) != 3 || len(ch.Lines) != 1 || len(ch.Missing) != 1 {
		t.Fatalf("%+v", ch)
	}
}

func TestTopics(t *testing.T) {
	entry := func(dir, campaign, spec, evidence, label string) indexEntry {
		return indexEntry{Dir: dir, Campaign: campaign, SpecHash: step.Sum([]byte(spec)), Evidence: step.Sum([]byte(evidence)), Verdict: "pass", Candidates: map[string]string{"fp8": label}}
	}
	got := string(indexTable([]indexEntry{
		entry("d", "swap", "2", "3", "rejected"), entry("c", "swap", "1", "2", "challenger"), entry("b", "swap", "1", "1", "challenger"), entry("x", "once", "1", "1", "challenger"),
	}))
	for _, want := range []string{
		"## History of swap\n", "- [d](d/README.md): pass; another spec, fp8 rejected, was challenger\n",
		"- [c](c/README.md): pass; new evidence, the same outcome\n", "- [b](b/README.md): pass\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "History of once") {
		t.Error(got)
	}
}
