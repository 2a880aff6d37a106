package prior

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

func TestAge(t *testing.T) {
	for _, tt := range []struct {
		published, observed, class string
		days                       int // -1 = nil
	}{
		{"2026-11-20", "2026-11-20", evidence.Current, 0},
		{"2026-09-21", "2026-11-20", evidence.Current, 60},
		{"2026-09-20", "2026-11-20", evidence.Aging, 61},
		{"2026-07-23", "2026-11-20", evidence.Aging, 120},
		{"2026-07-22", "2026-11-20", evidence.Stale, 121},
		{"2024-02-29", "2024-03-01", evidence.Current, 1},
		{"", "2026-11-20", evidence.AgeUnknown, -1},
		{"2026-11-21", "2026-11-20", evidence.AgeUnknown, -1},
		{"2026-02-30", "2026-11-20", evidence.AgeUnknown, -1},
	} {
		days, class := Age(tt.published, tt.observed)
		if class != tt.class || (days == nil) != (tt.days < 0) || days != nil && *days != tt.days {
			t.Errorf("%s..%s: %v %s, want %d %s", tt.published, tt.observed, days, class, tt.days, tt.class)
		}
	}
}

var kept = &step.Digest{1}

// one classifies a single source with one claim of value 100.
func one(s evidence.ResearchSource, name string, measured Measurer, more ...evidence.ResearchSource) (evidence.ResearchSource, evidence.Prior) {
	s.ID = "s"
	s.Claims = []evidence.Prior{{Candidate: "a", Metric: name, Value: 100}}
	r := &evidence.Research{ObservedOn: "2026-11-20", Sources: append([]evidence.ResearchSource{s}, more...)}
	Classify(r, measured)
	return r.Sources[0], r.Sources[0].Claims[0]
}

// finds gives every claim one value of workload load.
func finds(x float64) Measurer {
	return func(c evidence.Prior) ([]evidence.ClaimMeasured, string) {
		return []evidence.ClaimMeasured{{Workload: "load", Cell: "c=1", Metric: c.Metric, Value: &x, DeltaPct: Delta(x, c.Value)}}, ""
	}
}

// doubtful is finds in a cell that decides nothing.
func doubtful(x float64) Measurer {
	return func(c evidence.Prior) ([]evidence.ClaimMeasured, string) {
		values, why := finds(x)(c)
		values[0].Doubt = "client-bound"
		return values, why
	}
}

func TestRoles(t *testing.T) {
	const fresh, aging, old = "2026-11-01", "2026-08-20", "2026-01-01"
	byLoad := &evidence.Corroboration{Workloads: []string{"load"}, Tolerance: 0.1}
	byCard := &evidence.Corroboration{Sources: []string{"card"}, Tolerance: 0.1}
	card := func(published string, value float64) evidence.ResearchSource {
		return evidence.ResearchSource{ID: "card", Kind: "model-card", PublishedOn: published, Snapshot: kept,
			Claims: []evidence.Prior{{Candidate: "a", Metric: "context.advertised", Value: value}, {Candidate: "a", Metric: "throughput_tok_s", Value: value}}}
	}
	for _, tt := range []struct {
		name           string
		src            evidence.ResearchSource
		metric         string
		measured       Measurer
		more           []evidence.ResearchSource
		role, unusable string
	}{
		{name: "card on its limits", src: evidence.ResearchSource{Kind: "model-card", PublishedOn: fresh, Snapshot: kept}, metric: "context.advertised", role: evidence.Primary},
		{name: "card on speed", src: evidence.ResearchSource{Kind: "model-card", PublishedOn: fresh, Snapshot: kept}, metric: "throughput_tok_s", role: evidence.Lead},
		{name: "card, aging", src: evidence.ResearchSource{Kind: "model-card", PublishedOn: aging, Snapshot: kept}, metric: "context.advertised", role: evidence.Primary},
		{name: "card, stale", src: evidence.ResearchSource{Kind: "model-card", PublishedOn: old, Snapshot: kept}, metric: "context.advertised", role: evidence.HistoricalLead, unusable: StalePrior},
		{name: "card, undated", src: evidence.ResearchSource{Kind: "model-card", Snapshot: kept}, metric: "context.advertised", role: evidence.Lead, unusable: UnknownAge},
		{name: "card without snapshot", src: evidence.ResearchSource{Kind: "model-card", PublishedOn: fresh}, metric: "context.advertised", role: evidence.Primary, unusable: NoSnapshot},
		{name: "cookbook on its recipe", src: evidence.ResearchSource{Kind: "engine-cookbook", PublishedOn: fresh, Snapshot: kept}, metric: "admission.maxSeqs", role: evidence.Primary},
		{name: "cookbook on a model's limit", src: evidence.ResearchSource{Kind: "engine-cookbook", PublishedOn: fresh, Snapshot: kept}, metric: "context.advertised", role: evidence.Lead},
		{name: "vendor of it", src: evidence.ResearchSource{Kind: "vendor-post", OwnsFact: true, PublishedOn: fresh, Snapshot: kept}, metric: "context.advertised", role: evidence.Primary},
		{name: "vendor of another", src: evidence.ResearchSource{Kind: "vendor-post", PublishedOn: fresh, Snapshot: kept}, metric: "context.advertised", role: evidence.Lead},
		{name: "community, owned, not measured yet", src: evidence.ResearchSource{Kind: "community", OwnsFact: true, PublishedOn: fresh, Snapshot: kept, CorroboratedBy: byLoad}, metric: "throughput_tok_s", role: evidence.Lead},
		{name: "community, owned and borne out", src: evidence.ResearchSource{Kind: "community", OwnsFact: true, PublishedOn: fresh, Snapshot: kept, CorroboratedBy: byLoad}, metric: "throughput_tok_s", measured: finds(110), role: evidence.Primary},
		{name: "community, owned and contradicted", src: evidence.ResearchSource{Kind: "community", OwnsFact: true, PublishedOn: fresh, Snapshot: kept, CorroboratedBy: byLoad}, metric: "throughput_tok_s", measured: finds(111), role: evidence.Lead},
		{name: "community, borne out and not owned", src: evidence.ResearchSource{Kind: "community", PublishedOn: fresh, Snapshot: kept, CorroboratedBy: byLoad}, metric: "throughput_tok_s", measured: finds(100), role: evidence.Lead},
		{name: "community, borne out by a card only", src: evidence.ResearchSource{Kind: "community", OwnsFact: true, PublishedOn: fresh, Snapshot: kept, CorroboratedBy: byCard}, metric: "throughput_tok_s", more: []evidence.ResearchSource{card(fresh, 100)}, role: evidence.Lead},
		{name: "advisory, whatever bears it out", src: evidence.ResearchSource{Kind: "advisory", OwnsFact: true, PublishedOn: fresh, Snapshot: kept, CorroboratedBy: byLoad}, metric: "throughput_tok_s", measured: finds(100), role: evidence.Lead},
		{name: "card on what is served", src: evidence.ResearchSource{Kind: "model-card", PublishedOn: fresh, Snapshot: kept}, metric: "context.served", role: evidence.Lead},
		{name: "community, owned, measured in doubt", src: evidence.ResearchSource{Kind: "community", OwnsFact: true, PublishedOn: fresh, Snapshot: kept, CorroboratedBy: byLoad}, metric: "throughput_tok_s", measured: doubtful(100), role: evidence.Lead},
		{name: "stale, borne out by a current card", src: evidence.ResearchSource{Kind: "model-card", PublishedOn: old, Snapshot: kept, CorroboratedBy: byCard}, metric: "context.advertised", more: []evidence.ResearchSource{card(fresh, 100)}, role: evidence.Primary},
		{name: "stale, borne out by an aging card", src: evidence.ResearchSource{Kind: "model-card", PublishedOn: old, Snapshot: kept, CorroboratedBy: byCard}, metric: "context.advertised", more: []evidence.ResearchSource{card(aging, 100)}, role: evidence.HistoricalLead, unusable: StalePrior},
		{name: "stale, contradicted by a current card", src: evidence.ResearchSource{Kind: "model-card", PublishedOn: old, Snapshot: kept, CorroboratedBy: byCard}, metric: "context.advertised", more: []evidence.ResearchSource{card(fresh, 200)}, role: evidence.HistoricalLead, unusable: StalePrior},
		{name: "stale lead, measured here", src: evidence.ResearchSource{Kind: "paper", PublishedOn: old, Snapshot: kept, CorroboratedBy: byLoad}, metric: "throughput_tok_s", measured: finds(95), role: evidence.Lead},
		{name: "undated, measured here", src: evidence.ResearchSource{Kind: "import", OwnsFact: true, Snapshot: kept, CorroboratedBy: byLoad}, metric: "throughput_tok_s", measured: finds(95), role: evidence.Primary},
	} {
		_, c := one(tt.src, tt.metric, tt.measured, tt.more...)
		if c.Role != tt.role || c.Unusable != tt.unusable || c.Reason == "" {
			t.Errorf("%s: %s %q (%s), want %s %q", tt.name, c.Role, c.Unusable, c.Reason, tt.role, tt.unusable)
		}
	}
}

func TestValuesPicksTheClosestAndBest(t *testing.T) {
	claim := func(workload, cell string, v float64, unit string) evidence.Prior {
		return evidence.Prior{Candidate: "a", Metric: "ttft_ms.p50", Workload: workload, Cell: cell, Value: v, Unit: unit}
	}
	src := func(id string, own bool, claims ...evidence.Prior) evidence.ResearchSource {
		s := evidence.ResearchSource{ID: id, Kind: "community", OwnsFact: own, PublishedOn: "2026-11-01", Snapshot: kept, Claims: claims}
		if own {
			s.CorroboratedBy = &evidence.Corroboration{Workloads: []string{"load"}, Tolerance: 1}
		}
		return s
	}
	for _, tt := range []struct {
		name    string
		sources []evidence.ResearchSource
		cell    string
		value   float64
		reason  string
	}{
		{"the only one, converted", []evidence.ResearchSource{src("x", false, claim("", "", 0.2, "s"))}, "c=1", 200, ""},
		{"the closer place", []evidence.ResearchSource{src("x", true, claim("", "", 100, "")), src("y", false, claim("load", "c=4", 300, "ms"))}, "c=4", 300, ""},
		{"another cell's is not it", []evidence.ResearchSource{src("y", false, claim("load", "c=4", 300, "ms"))}, "c=1", 0, NoPrior},
		{"the better role", []evidence.ResearchSource{src("x", false, claim("", "", 100, "")), src("y", true, claim("", "", 110, ""))}, "c=1", 110, ""},
		{"equals agree", []evidence.ResearchSource{src("x", false, claim("", "", 100, "ms")), src("y", false, claim("", "", 0.1, "s"))}, "c=1", 100, ""},
		{"equals contradict", []evidence.ResearchSource{src("x", false, claim("", "", 100, "")), src("y", false, claim("", "", 101, ""))}, "c=1", 0, Conflicting},
		{"a unit nobody knows", []evidence.ResearchSource{src("x", false, claim("", "", 100, "furlongs"))}, "c=1", 0, OtherUnit},
	} {
		r := &evidence.Research{ObservedOn: "2026-11-20", Sources: tt.sources}
		Classify(r, finds(100))
		got := Values(r, "a", "load", tt.cell)["ttft_ms.p50"]
		if got.Reason != tt.reason || got.Reason == "" && got.Value != tt.value {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if other := Values(r, "b", "load", tt.cell)["ttft_ms.p50"]; other.Reason != NoPrior {
			t.Errorf("%s: another candidate has %+v", tt.name, other)
		}
	}
}

func TestMeasured(t *testing.T) {
	p50, thr := 20.0, 90.0
	rec := &evidence.Record{Candidates: map[string]evidence.CandidateRecord{"a": {
		Pin: &evidence.PinDoc{Fields: []evidence.PinField{{Name: "context.served", Declared: "4096", Observed: "8192"}}},
		Load: map[string]evidence.LoadMetrics{"load": {Cells: []metric.Cell{
			{Name: "c=1", TTFT: metric.Dist{P50: &p50, Unit: "ms"}, ThroughputTokS: metric.Of(thr, "tok/s")},
			{Name: "c=4", ThroughputTokS: metric.Null("no-usage", "tok/s")},
		}}},
		Scores: map[string]evidence.ScoreSummary{"qa": {Overall: evidence.ScoreGroup{Mean: metric.Of(0.9, "score")}}},
	}}}
	find := Measured(rec)
	for _, tt := range []struct {
		claim evidence.Prior
		want  []string // metric place value delta reason
		none  string
	}{
		{evidence.Prior{Metric: "context.served", Value: 4096}, []string{"context.served  8192 +100 "}, ""},
		{evidence.Prior{Metric: "ttft_ms", Value: 0.025, Unit: "s"}, []string{"ttft_ms.p50 load/c=1 20 -20 ", "ttft_ms.p50 load/c=4 - -  not-measured"}, ""},
		{evidence.Prior{Metric: "throughput_tok_s", Value: 100, Workload: "load", Cell: "c=4"}, []string{"throughput_tok_s load/c=4 - -  no-usage"}, ""},
		{evidence.Prior{Metric: "throughput_tok_s", Value: 0, Cell: "c=1", Workload: "load"}, []string{"throughput_tok_s load/c=1 90 -  zero-claim"}, ""},
		{evidence.Prior{Metric: "throughput_tok_s", Value: 1, Unit: "km", Cell: "c=1", Workload: "load"}, []string{"throughput_tok_s load/c=1 90 -  other-unit"}, ""},
		{evidence.Prior{Metric: "accuracy", Value: 90, Unit: "%"}, []string{"accuracy qa 0.9 +0 "}, ""},
		{evidence.Prior{Metric: "ttft_ms.n", Value: 1}, nil, NotMeasured},
		{evidence.Prior{Metric: "elo", Value: 1}, nil, unknownMeter},
		{evidence.Prior{Metric: "", Value: 1}, nil, unknownMeter},
	} {
		tt.claim.Candidate = "a"
		got, none := find(tt.claim)
		var rows []string
		for _, m := range got {
			rows = append(rows, row(m))
		}
		if none != tt.none || strings.Join(rows, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%+v: %q %q", tt.claim, rows, none)
		}
	}
}

func row(m evidence.ClaimMeasured) string {
	place := strings.Trim(m.Workload+"/"+m.Cell, "/")
	value, delta := "-", "- "
	if m.Value != nil {
		value = short(*m.Value)
	}
	if m.DeltaPct != nil {
		delta = strings.Replace("+"+short(*m.DeltaPct), "+-", "-", 1) + " "
		if *m.DeltaPct > -1e-9 && *m.DeltaPct < 1e-9 {
			delta = "+0 "
		}
	}
	s := m.Metric + " " + place + " " + value + " " + delta
	if m.Reason != "" {
		s += " " + m.Reason
	}
	return s
}
