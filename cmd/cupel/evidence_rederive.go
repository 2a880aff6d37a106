package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/artifact"
	"github.com/cupel-dev/cupel/stages/compare"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure"
	"github.com/cupel-dev/cupel/stages/stats"
)

// rederive runs the pure steps behind a record again, on the raw rows of the
// finding, and holds what they give against the record.
func rederive(fsys fs.FS, rows map[string][]byte, v *artifact.Verification) {
	canonical, err := readBounded(fsys, specBeside)
	if err != nil {
		return // told already
	}
	record, err := readBounded(fsys, "record.json")
	if err != nil {
		return
	}
	d := derivation{rows: rows, v: v}
	if err := errors.Join(json.Unmarshal(canonical, &d.c), json.Unmarshal(record, &d.rec)); err != nil {
		v.Same("record.json", false, "it, or spec.json, cannot be read by this version")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.c.Measure)) {
		if d.c.Measure[name].Imported != nil {
			v.Unchecked("load on %s: it was imported; the files that it is derived from are named by digest in imported.json", name)
		}
	}
	d.scores()
	d.loads()
	d.comparisons()
}

// derivation is a finding that is derived again.
type derivation struct {
	c    spec.Campaign
	rec  evidence.Record
	rows map[string][]byte // step:output -> content; what the record holds of derived outputs is added
	v    *artifact.Verification
}

// scores recomputes means and counts of each scored generation from its rows.
func (d *derivation) scores() {
	for _, cand := range slices.Sorted(maps.Keys(d.rec.Candidates)) {
		for _, work := range slices.Sorted(maps.Keys(d.rec.Candidates[cand].Scores)) {
			sum := d.rec.Candidates[cand].Scores[work]
			d.add(evidence.ScoreStep(cand, work, 1), evidence.OutSummary, sum)
			name := "record.json: scores of " + cand + " on " + work
			content, ok := d.rows[evidence.ScoreStep(cand, work, 1)+":"+evidence.OutScores]
			if !ok {
				d.v.Unchecked("%s: its rows are not in the finding", name)
				continue
			}
			d.v.Same(name, sameScores(content, sum), "the rows give another mean or other counts")
		}
	}
}

// sameScores holds the overall and each stratum's counts and mean against rows.
func sameScores(rows []byte, sum evidence.ScoreSummary) bool {
	values, items := map[string][]float64{}, map[string]int{}
	for _, line := range bytes.Split(rows, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r evidence.ScoreRow
		if json.Unmarshal(line, &r) != nil {
			return false
		}
		for _, group := range []string{"", "=" + r.Strata[sum.Stratify]} {
			if items[group]++; r.Value != nil {
				values[group] = append(values[group], *r.Value)
			}
		}
	}
	same := sameGroup(sum.Overall, items[""], values[""])
	for name, g := range sum.Strata {
		same = same && sameGroup(g, items["="+name], values["="+name])
	}
	return same
}

func sameGroup(g evidence.ScoreGroup, items int, values []float64) bool {
	if g.Items != items || g.Scored != len(values) || (g.Mean.Value == nil) != (len(values) == 0) {
		return false
	}
	return len(values) == 0 || math.Abs(stats.Mean(values)-*g.Mean.Value) <= 1e-12
}

// loads derives the load metrics of every candidate.
func (d *derivation) loads() {
	for _, s := range measure.Steps(&d.c) {
		if s.Kind != measure.KindMetrics {
			continue
		}
		candidate, workload := ofMetrics(s.Name)
		if stated, ok := d.rec.Candidates[candidate].Load[workload]; ok {
			d.again("record.json: load of "+candidate+" on "+workload, s, measure.Metrics{}, stated)
		}
	}
}

// comparisons derives the paired statistics of every candidate, and the noise
// floors before them.
func (d *derivation) comparisons() {
	for name, j := range d.rec.Judges {
		if j.Calibration != nil {
			d.add(evidence.CalibrationStep(name), evidence.OutCalibration, j.Calibration)
		}
	}
	for _, n := range d.rec.Noise {
		for work, w := range d.c.Measure {
			if w.NoiseFloor != nil && w.NoiseFloor.Suite == n.Workload && w.NoiseFloor.Candidate == n.Candidate {
				d.add(evidence.NoiseStep(work), evidence.OutNoise, n)
			}
		}
	}
	runners := compare.Runners()
	for _, s := range compare.Steps(&d.c) {
		for _, c := range d.rec.Comparisons {
			if s.Name == evidence.CompareStep(c.Candidate, c.Workload) {
				d.again("record.json: comparison of "+c.Candidate+" on "+c.Workload, s, runners[s.Kind], c)
			}
		}
	}
}

// add takes a derived document of the record as another step's output.
func (d *derivation) add(stepName, output string, doc any) {
	if b, err := canonicalJSON(doc); err == nil {
		d.rows[stepName+":"+output] = b
	}
}

// again runs one pure step and compares.
func (d *derivation) again(name string, s step.Step, r step.Runner, stated any) {
	job := &replayJob{s: s, rows: d.rows}
	if missing := job.missing(); missing != "" {
		d.v.Unchecked("%s: %s is not in the finding", name, missing)
		return
	}
	if err := r.Run(context.Background(), job); err != nil {
		d.v.Same(name, false, "its rows cannot be read: "+err.Error())
		return
	}
	found, err1 := step.Canonical(job.out.Bytes())
	want, err2 := canonicalJSON(stated)
	d.v.Same(name, err1 == nil && err2 == nil && bytes.Equal(found, want), "the rows give something else; cupel of another version may have derived it")
}

func canonicalJSON(doc any) ([]byte, error) {
	b, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return step.Canonical(b)
}

// ofMetrics takes candidate and workload from a step's name.
func ofMetrics(name string) (candidate, workload string) {
	parts := strings.Split(name, "/")
	if len(parts) != 4 { // score/candidate/workload/metrics
		return "", ""
	}
	return parts[1], parts[2]
}

// replayJob hands a pure step its inputs from a finding and keeps its output.
type replayJob struct {
	step.Job // nil: a pure step asks for nothing else
	s        step.Step
	rows     map[string][]byte
	out      bytes.Buffer
}

// from names the row that is an input: an output of another step, or a file of the
// campaign that the finding holds as an input of this one.
func (j *replayJob) from(input string) string {
	in := j.s.Inputs[input]
	if in.Step == "" {
		return j.s.Name + ":" + input
	}
	return in.Step + ":" + in.Output
}

// missing is the first input that is not there.
func (j *replayJob) missing() string {
	for name, in := range j.s.Inputs {
		b, ok := j.rows[j.from(name)]
		if !ok && !in.Optional || ok && in.Step == "" && step.Sum(b) != in.Blob {
			return j.from(name)
		}
	}
	return ""
}

func (j *replayJob) Step() step.Step           { return j.s }
func (j *replayJob) Params(v any) error        { return json.Unmarshal(j.s.Params, v) }
func (j *replayJob) Note(string, ...any)       {}
func (j *replayJob) Logf(string, ...any)       {}
func (j *replayJob) Progress(int, int, string) {}

func (j *replayJob) InputDigest(input string) step.Digest {
	b, ok := j.rows[j.from(input)]
	if !ok {
		return step.Digest{}
	}
	return step.Sum(b)
}

func (j *replayJob) Open(input string) (io.ReadCloser, error) {
	b, ok := j.rows[j.from(input)]
	if !ok {
		return nil, step.ErrNoInput
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (j *replayJob) Create(string, string) (io.WriteCloser, error) {
	j.out.Reset()
	return nopWriter{&j.out}, nil
}

type nopWriter struct{ io.Writer }

func (nopWriter) Close() error { return nil }
