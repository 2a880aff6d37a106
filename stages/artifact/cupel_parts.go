package artifact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// valueOf is a metric as a field: its reason stays.
func valueOf(v metric.Value) Number {
	if v.Value == nil {
		return unknown[float64](cmp.Or(v.Reason, "null"))
	}
	return is(*v.Value)
}

// percentile is one of a distribution.
func percentile(v *float64, d metric.Dist) Number {
	if v == nil {
		return unknown[float64](cmp.Or(d.Reason, "null"))
	}
	return is(*v)
}

// cellRecord is one cell of a candidate's metrics.
func cellRecord(m *evidence.LoadMetrics, i int) *Record {
	c := &m.Cells[i]
	r := &Record{Kind: Capacity}
	r.Labels.Evidence = is([]string{"capacity"})
	w := &r.Workload
	w.Protocol, w.Suite = said(m.Protocol), said(m.Kind)
	w.Requests, w.Concurrency = is(float64(c.Attempted)), is(float64(c.Concurrency))
	w.Repetitions = is(float64(c.Trials))
	w.Rate = valueOf(c.OfferedRate)
	w.Burst = is(m.Kind == "prefix-burst")
	w.CachePolicy = unknown[string]("the campaign is not beside the record")
	w.Context = percentile(c.PromptTokens.P50, c.PromptTokens)
	w.PromptSet = unknown[string]("metrics do not tell their prompts")
	s := &r.Results
	s.Completed, s.Failed, s.WallS = is(float64(c.Completed)), is(float64(c.Failed)), is(c.WallS)
	s.ThroughputTokS, s.RequestRate, s.CachedShare = valueOf(c.ThroughputTokS), valueOf(c.RequestRate), valueOf(c.CachedShare)
	s.TTFTP50, s.TTFTP95 = percentile(c.TTFT.P50, c.TTFT), percentile(c.TTFT.P95, c.TTFT)
	s.TTFOP50, s.TTFOP95 = percentile(c.TTFO.P50, c.TTFO), percentile(c.TTFO.P95, c.TTFO)
	s.E2EP50, s.E2EP95 = percentile(c.E2E.P50, c.E2E), percentile(c.E2E.P95, c.E2E)
	s.GenerationP50, s.GenerationP95 = percentile(c.Generation.P50, c.Generation), percentile(c.Generation.P95, c.Generation)
	s.DecodeP50, s.DecodeP95 = percentile(c.DecodeTokS.P50, c.DecodeTokS), percentile(c.DecodeTokS.P95, c.DecodeTokS)
	s.TPOTP50, s.TPOTP95 = percentile(c.TPOT.P50, c.TPOT), percentile(c.TPOT.P95, c.TPOT)
	s.PrefillP50, s.PrefillP95 = percentile(c.EffectivePrefill.P50, c.EffectivePrefill), percentile(c.EffectivePrefill.P95, c.EffectivePrefill)
	s.PromptTokens, s.OutputTokens = percentile(c.PromptTokens.Mean, c.PromptTokens), percentile(c.OutputTokens.Mean, c.OutputTokens)
	s.PromptTokensSum, s.OutputTokensSum = sumOf(c.PromptTokens), sumOf(c.OutputTokens)
	s.EffectiveContext = valueOf(c.EffectiveContext)
	r.Energy = energyOf(m, c.Name)
	if s.ClientBound = is(c.ClientBound); m.Kind == "imported" && !c.ClientBound {
		s.ClientBound = unknown[bool]("another tool's client was not looked at")
	}
	if c.StartedUnixS > 0 {
		r.Provenance.StartedAt = is(time.Unix(c.StartedUnixS, 0).UTC().Format(time.RFC3339))
	}
	for _, d := range c.Doubts {
		r.Notes = append(r.Notes, plain(d))
	}
	return r
}

func sumOf(d metric.Dist) Number {
	if d.Mean == nil {
		return unknown[float64](cmp.Or(d.Reason, "null"))
	}
	return is(*d.Mean * float64(d.N))
}

// scoreRecord is a scored generation.
func scoreRecord(s *evidence.ScoreSummary) *Record {
	r := &Record{Kind: Quality}
	r.Labels.Evidence = is([]string{"quality"})
	g := &s.Overall
	r.Results.Items, r.Results.Completed = is(float64(g.Items)), is(float64(g.Scored))
	r.Results.Score = valueOf(g.Mean)
	r.Results.Failed = unknown[float64]("counted in answers, by class")
	r.Results.PromptTokensSum, r.Results.OutputTokensSum = valueOf(g.PromptTokens), valueOf(g.OutputTokens)
	r.Workload.Requests = is(float64(g.Items))
	if b, err := json.Marshal(s.Scorers); err == nil {
		r.Workload.Grader = said(string(b))
	}
	return r
}

func preflightRecord(p *evidence.PreflightDoc) *Record {
	r := &Record{Kind: Preflight}
	r.Labels.Evidence = is([]string{"functional"})
	names, passed := []string{}, 0.0
	for _, c := range p.Checks {
		names = append(names, plain(c.Name))
		if c.Passed {
			passed++
		}
	}
	r.Workload.Instances = is(names)
	r.Results.Items, r.Results.Passed = is(float64(len(p.Checks))), is(passed)
	r.Decision.Verdict = is(map[bool]string{true: "pass", false: "fail"}[p.Passed])
	return r
}

func readCupelPreflight(f *file) []*Record {
	var p evidence.PreflightDoc
	bad := f.typed(&p)
	r := preflightRecord(&p)
	r.Invalid = bad.Invalid
	return []*Record{r}
}

func readCupelMetrics(f *file) (out []*Record) {
	var m evidence.LoadMetrics
	bad := f.typed(&m)
	for i := range m.Cells {
		r := cellRecord(&m, i)
		r.Part = m.Workload + "/" + m.Cells[i].Name
		r.Invalid = bad.Invalid
		out = append(out, r)
	}
	if len(out) == 0 {
		return []*Record{bad}
	}
	return out
}

func readCupelSummary(f *file) []*Record {
	var s evidence.ScoreSummary
	bad := f.typed(&s)
	r := scoreRecord(&s)
	r.Invalid = bad.Invalid
	r.Workload.Suites = unknown[[]Suite]("a summary does not name its items")
	return []*Record{r}
}

func readCupelPin(f *file) []*Record {
	var p evidence.PinDoc
	r := f.typed(&p)
	r.pinned(&p)
	r.Labels.Evidence = is([]string{"functional"})
	return []*Record{r}
}

func readCupelComparison(f *file) []*Record {
	var c evidence.Comparison
	r := f.typed(&c)
	r.Labels.Evidence = is([]string{"quality"})
	r.Workload.Suite = said(c.Workload)
	r.Results.Items = is(float64(c.Stats.Overall.N))
	if d := c.Stats.Overall.Delta; d != nil {
		r.Results.Score = is(*d)
		r.Notes = append(r.Notes, "the score is a difference")
	}
	r.Workload.Method = hashOf(node{v: string(c.Stats.Overall.Method)})
	return []*Record{r}
}

func readCupelDecision(f *file) (out []*Record) {
	var d evidence.Decision
	bad := f.typed(&d)
	for _, c := range d.Candidates {
		r := &Record{Part: c.Candidate, Invalid: bad.Invalid}
		r.Labels.Evidence, r.Labels.Decision = is([]string{}), said(c.Label)
		r.Decision.Verdict, r.Decision.Evidence = is(string(c.Verdict)), is(d.Evidence.String())
		r.Provenance.SpecHash = is(d.SpecHash.String())
		r.Results.Items = is(float64(len(c.Guards)))
		out = append(out, r)
	}
	if len(out) == 0 {
		return []*Record{bad}
	}
	return out
}

func readCupelSpec(f *file) []*Record {
	var c spec.Campaign
	r := f.typed(&c)
	r.Decision.Question = said(c.Decision.Question)
	r.Labels.Evidence = is([]string{})
	return []*Record{r}
}

// readCupelCell reads the header; verify recomputes what follows from the rows.
func readCupelCell(f *file) []*Record {
	var h evidence.CellHeader
	r := new(Record)
	first, _ := firstLine(f.content)
	if err := json.Unmarshal(first, &h); err != nil {
		r.Invalid = append(r.Invalid, plain(err.Error()))
		return []*Record{r}
	}
	r.Part = h.Cell
	r.Labels.Evidence = is([]string{"capacity"})
	r.Identity.ServedName = said(h.Model)
	r.Identity.Model = r.Identity.ServedName
	w := &r.Workload
	w.Suite, w.Requests, w.Concurrency = said(h.Kind), is(float64(h.Requests)), is(float64(h.Concurrency))
	w.PromptSet = is("sha256:" + h.Prompts.SHA256.String())
	w.Burst = is(h.Kind == "prefix-burst")
	if h.Arrivals != nil {
		w.Rate = is(h.Arrivals.Rate)
	}
	r.Results.WallS = is(float64(h.WallNS) / 1e9)
	r.Provenance.StartedAt = is(time.Unix(0, h.StartUnixNS).UTC().Format(time.RFC3339))
	rows := lines(f.more)
	if rows < h.Requests {
		r.Invalid = append(r.Invalid, fmt.Sprintf("%d rows follow, and the header says %d requests", rows, h.Requests))
	}
	return []*Record{r}
}

func lines(b []byte) (n int) {
	for _, line := range bytes.Split(b, []byte("\n")) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}

func isCupelRows(f *file) bool {
	switch {
	case f.holds("id", "sample", "repeat", "request"), f.holds("id", "sample", "repeat", "times"), f.holds("id", "strata", "scorer"), f.holds("at_ns", "phase"):
		return true
	}
	return len(f.more) > 0 && f.holds("id", "input") || len(f.more) > 0 && f.holds("id", "messages")
}

func readCupelRows(f *file) []*Record {
	r := new(Record)
	r.Labels.Evidence = is([]string{})
	r.Results.Items = is(float64(lines(f.content)))
	r.Notes = append(r.Notes, "raw rows: cupel score and cupel compare read them")
	return []*Record{r}
}
