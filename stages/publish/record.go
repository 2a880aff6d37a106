package publish

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/prior"
)

// RecordSchema names the format of record.json.
const RecordSchema = "cupel/record/v1"

// RecordRunner assembles the evidence record.
type RecordRunner struct{}

// Run implements step.Runner.
func (RecordRunner) Run(_ context.Context, job step.Job) error {
	var p recordParams
	if err := job.Params(&p); err != nil {
		return err
	}
	b := builder{job: job, p: p, rec: newRecord(p), busy: map[generation][]metric.Span{}, kept: map[generation]*evidence.Kept{}}
	for _, s := range p.Sources {
		if err := b.add(s); err != nil {
			return fmt.Errorf("record: %s: %w", s.Input, err)
		}
	}
	b.finish()
	blank(b.rec)
	return writeJSON(job, evidence.OutRecord, b.rec)
}

func newRecord(p recordParams) *evidence.Record {
	rec := &evidence.Record{
		Schema: RecordSchema, Campaign: p.Campaign, SpecHash: p.SpecHash, Question: p.Question, Reward: p.Reward,
		Kind: p.Kind, Owner: p.Owner, Baseline: p.Baseline,
		Labels: map[string][]string{}, Candidates: map[string]evidence.CandidateRecord{},
		Comparisons: []evidence.Comparison{}, Noise: []evidence.NoiseFloor{},
		Evidence: []evidence.EvidenceFile{}, Unknown: []evidence.Unknown{},
	}
	for name, role := range p.Candidates {
		rec.Candidates[name] = evidence.CandidateRecord{
			Role: role, Scores: map[string]evidence.ScoreSummary{}, Load: map[string]evidence.LoadMetrics{},
		}
	}
	return rec
}

// builder fills a record from the inputs that are there.
type builder struct {
	job  step.Job
	p    recordParams
	rec  *evidence.Record
	last int64 // newest wall clock of a measurement, Unix ns
	gone []source
	busy map[generation][]metric.Span  // of each generation's first trial
	kept map[generation]*evidence.Kept // of those with rows of an earlier set
}

// generation is a candidate's answers to a quality workload.
type generation struct{ candidate, workload string }

func (b *builder) add(s source) error {
	d := b.job.InputDigest(s.Input)
	if d.IsZero() {
		b.gone = append(b.gone, s) // finish says why, when all inputs are read
		return nil
	}
	if s.Judge != "" {
		return b.addJudge(s, d)
	}
	if s.What == "research" {
		b.rec.Research = new(evidence.Research)
		return readJSON(b.job, s.Input, b.rec.Research)
	}
	cand := b.rec.Candidates[s.Candidate]
	defer func() { b.rec.Candidates[s.Candidate] = cand }()
	switch s.What {
	case "pin":
		cand.Pin = new(evidence.PinDoc)
		return readJSON(b.job, s.Input, cand.Pin)
	case "hardware":
		cand.Hardware = new(hardware.Doc)
		return readJSON(b.job, s.Input, cand.Hardware)
	case "start":
		cand.Start = new(evidence.StartDoc)
		if err := readJSON(b.job, s.Input, cand.Start); err != nil {
			return err
		}
		cand.Stopped = cand.Start.Failure
	case "preflight":
		cand.Preflight = new(evidence.PreflightDoc)
		if err := readJSON(b.job, s.Input, cand.Preflight); err != nil {
			return err
		}
		if cand.Stopped == "" {
			cand.Stopped = stoppedBy(cand.Preflight)
		}
	case "summary":
		var v evidence.ScoreSummary
		if err := readJSON(b.job, s.Input, &v); err != nil {
			return err
		}
		cand.Scores[s.Workload] = v
	case "metrics":
		var v evidence.LoadMetrics
		if err := readJSON(b.job, s.Input, &v); err != nil {
			return err
		}
		cand.Load[s.Workload] = v
		b.imported(v)
	case "comparison":
		var v evidence.Comparison
		if err := readJSON(b.job, s.Input, &v); err != nil {
			return err
		}
		b.rec.Comparisons = append(b.rec.Comparisons, v)
	case "noise":
		var v evidence.NoiseFloor
		if err := readJSON(b.job, s.Input, &v); err != nil {
			return err
		}
		b.rec.Noise = append(b.rec.Noise, v)
	case "raw":
		b.rec.Evidence = append(b.rec.Evidence, evidence.EvidenceFile{Step: s.Step, Output: s.Output, Digest: d, HeldOut: s.HeldOut})
		if s.Output == evidence.OutTimings || s.Output == evidence.OutCell {
			return b.times(s)
		}
		if s.Output == evidence.OutKept && s.first() {
			b.kept[generation{s.Candidate, s.Workload}] = new(evidence.Kept)
			return readJSON(b.job, s.Input, b.kept[generation{s.Candidate, s.Workload}])
		}
	}
	return nil
}

// imported moves the record's day to that of imported measurements, whose rows
// have no wall clock of their own.
func (b *builder) imported(m evidence.LoadMetrics) {
	if m.Kind != "imported" {
		return
	}
	for _, c := range m.Cells {
		for _, t := range c.PerTrial {
			b.last = max(b.last, t.StartedUnixS*int64(time.Second))
		}
	}
}

// first reports whether the source is of a generation's first trial, which the
// cost is of.
func (s source) first() bool { return s.Step == evidence.GenerateStep(s.Candidate, s.Workload, 1) }

// stoppedBy names the failed checks of a refused candidate.
func stoppedBy(p *evidence.PreflightDoc) string {
	if p.Passed {
		return ""
	}
	var why []string
	for _, c := range p.Checks {
		if !c.Passed {
			why = append(why, c.Name+": "+c.Reason)
		}
	}
	return "preflight " + strings.Join(why, "; ")
}

// times moves the record's day to that of the newest request in a file of
// timings or load rows, and notes when a generation was at work. Rows of both
// carry times.
func (b *builder) times(s source) error {
	at := generation{s.Candidate, s.Workload}
	costs := s.Output == evidence.OutTimings && s.first()
	rc, err := b.job.Open(s.Input)
	if err != nil {
		return err
	}
	defer rc.Close()
	lines := bufio.NewScanner(rc)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var row struct {
			Times struct {
				StartUnixNS int64 `json:"start_unix_ns"`
				EndNS       int64 `json:"end_ns"`
			} `json:"times"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return err
		}
		b.last = max(b.last, row.Times.StartUnixNS)
		if costs && row.Times.StartUnixNS > 0 && row.Times.EndNS > 0 {
			b.busy[at] = append(b.busy[at], metric.Span{Start: row.Times.StartUnixNS, End: row.Times.StartUnixNS + row.Times.EndNS})
		}
	}
	return lines.Err()
}

func (b *builder) finish() {
	if b.last > 0 {
		b.rec.Date = time.Unix(0, b.last).UTC().Format(time.DateOnly)
	} else {
		b.unknown("date", "nothing was measured")
	}
	if b.rec.Research != nil {
		prior.Classify(b.rec.Research, prior.Measured(b.rec))
	}
	for name := range b.rec.Candidates {
		b.rec.Labels[name] = labels(b.rec, name)
	}
	b.costs()
	b.keptRows()
	b.unknownPins()
	b.unknownResults()
	b.unknownHardware()
	b.unknownEnergy()
	slices.SortFunc(b.rec.Unknown, func(x, y evidence.Unknown) int { return strings.Compare(x.Field, y.Field) })
}

// labels are the evidence labels that a candidate has earned. They never
// upgrade themselves: each needs its own measurement.
func labels(rec *evidence.Record, name string) []string {
	c := rec.Candidates[name]
	out := []string{}
	if claimed(rec.Research, name) {
		out = append(out, evidence.ExternalPrior)
	}
	if c.Preflight != nil && c.Preflight.Passed {
		out = append(out, "functional")
	}
	for _, wl := range c.Load {
		if slices.ContainsFunc(wl.Cells, func(x metric.Cell) bool { return x.Completed > 0 }) {
			out = append(out, "capacity")
			break
		}
	}
	for _, s := range c.Scores {
		if s.Overall.Scored > 0 {
			out = append(out, "quality")
			break
		}
	}
	return out
}

// claimed reports whether a source claims anything of a candidate.
func claimed(r *evidence.Research, candidate string) bool {
	return r != nil && slices.ContainsFunc(r.Sources, func(s evidence.ResearchSource) bool {
		return slices.ContainsFunc(s.Claims, func(c evidence.Prior) bool { return c.Candidate == candidate })
	})
}

func readJSON(job step.Job, input string, v any) error {
	rc, err := job.Open(input)
	if err != nil {
		return err
	}
	defer rc.Close()
	b, err := io.ReadAll(rc)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// writeJSON writes v as one indented document; maps come out sorted, so the
// bytes depend on the value alone.
func writeJSON(job step.Job, output string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return step.Write(job, output, "application/json", append(b, '\n'))
}
