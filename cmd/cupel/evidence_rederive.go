package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/artifact"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure"
)

// rederive runs the steps that derive load metrics again, on the raw cells of a
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
	var c spec.Campaign
	var rec evidence.Record
	if err := errors.Join(json.Unmarshal(canonical, &c), json.Unmarshal(record, &rec)); err != nil {
		v.Same("record.json", false, "it, or spec.json, cannot be read by this version")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.Measure)) {
		if c.Measure[name].Imported != nil {
			v.Unchecked("load on %s: it was imported; the files that it is derived from are named by digest in imported.json", name)
		}
	}
	for _, s := range measure.Steps(&c) {
		if s.Kind == measure.KindMetrics {
			rederiveLoad(s, &rec, rows, v)
		}
	}
	if len(rec.Comparisons) > 0 {
		v.Unchecked("scores and comparisons: cupel score and cupel compare derive them from the rows")
	}
}

// rederiveLoad runs one step again.
func rederiveLoad(s step.Step, rec *evidence.Record, rows map[string][]byte, v *artifact.Verification) {
	candidate, workload := ofMetrics(s.Name)
	stated, ok := rec.Candidates[candidate].Load[workload]
	if !ok {
		return
	}
	name := "record.json: load of " + candidate + " on " + workload
	job := &replayJob{s: s, rows: rows}
	if missing := job.missing(); missing != "" {
		v.Unchecked("%s: %s is not in the finding", name, missing)
		return
	}
	if err := (measure.Metrics{}).Run(context.Background(), job); err != nil {
		v.Same(name, false, "its cells cannot be read: "+err.Error())
		return
	}
	v.Same(name, sameJSON(job.out.Bytes(), stated), "the cells give other metrics; cupel of another version may have derived them")
}

// ofMetrics takes candidate and workload from a step's name.
func ofMetrics(name string) (candidate, workload string) {
	parts := strings.Split(name, "/")
	if len(parts) != 4 { // score/candidate/workload/metrics
		return "", ""
	}
	return parts[1], parts[2]
}

func sameJSON(derived []byte, stated evidence.LoadMetrics) bool {
	b, err := json.Marshal(stated)
	if err != nil {
		return false
	}
	again, err := step.Canonical(b)
	return err == nil && bytes.Equal(again, derived)
}

// replayJob hands a pure step its inputs from a finding and keeps its output.
type replayJob struct {
	step.Job // nil: a pure step asks for nothing else
	s        step.Step
	rows     map[string][]byte
	out      bytes.Buffer
}

func (j *replayJob) from(input string) string {
	in := j.s.Inputs[input]
	return in.Step + ":" + in.Output
}

// missing is the first input that is not there.
func (j *replayJob) missing() string {
	for name, in := range j.s.Inputs {
		if _, ok := j.rows[j.from(name)]; !ok && !in.Optional {
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
