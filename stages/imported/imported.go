// Package imported derives the metrics of a workload from files that another
// tool measured. Nothing is sent: the rows of each file are one trial of a cell,
// and every number is derived from them anew.
package imported

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/artifact"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// Kind of the steps, and their revision.
const (
	Kind     = "import"
	revision = 1
)

type params struct {
	Workload  string    `json:"workload"`
	Protocol  string    `json:"protocol"`
	Statistic string    `json:"statistic"`
	Trials    int       `json:"trials"`
	Names     []string  `json:"names"` // of the files, for messages
	SLO       *spec.SLO `json:"slo,omitempty"`
}

// Steps returns a step for each candidate and imported workload.
func Steps(c *spec.Campaign) []step.Step {
	var steps []step.Step
	for _, cand := range slices.Sorted(maps.Keys(c.Candidates)) {
		for _, work := range slices.Sorted(maps.Keys(c.Measure)) {
			if w := c.Measure[work].Imported; w != nil {
				steps = append(steps, importStep(cand, work, w))
			}
		}
	}
	return steps
}

func importStep(cand, work string, w *spec.Imported) step.Step {
	p := params{Workload: work, Protocol: w.Protocol, Statistic: w.Statistic, Trials: len(w.Files[cand]), SLO: w.SLO}
	inputs := map[string]step.Input{}
	for i, f := range w.Files[cand] {
		inputs[input(i)] = step.Input{Blob: f.Digest, Path: f.Path}
	}
	for range w.Files[cand] {
		p.Names = append(p.Names, fmt.Sprintf("file %d", len(p.Names)+1))
	}
	raw, err := json.Marshal(p)
	if err != nil {
		panic("imported: parameters are plain data: " + err.Error())
	}
	return step.Step{Name: evidence.MetricsStep(cand, work), Kind: Kind, Revision: revision, Pure: true, Where: cand, Params: raw, Inputs: inputs}
}

func input(i int) string { return fmt.Sprintf("file-%d", i+1) }

// Runner derives a candidate's metrics from its files. It is pure.
type Runner struct{}

// Run writes evidence.LoadMetrics, and the files as evidence records beside it.
func (Runner) Run(_ context.Context, job step.Job) error {
	var p params
	if err := job.Params(&p); err != nil {
		return err
	}
	var files [][]byte
	for i := range p.Trials {
		content, err := read(job, input(i))
		if err != nil {
			return fmt.Errorf("%s: %s: %w", job.Step().Name, p.Names[i], err)
		}
		files = append(files, content)
	}
	cell, records, err := derive(p, files)
	if err != nil {
		return fmt.Errorf("%s: %w", job.Step().Name, err)
	}
	if err := step.WriteJSON(job, evidence.OutImported, records); err != nil {
		return err
	}
	return step.WriteJSON(job, evidence.OutMetrics, evidence.LoadMetrics{Workload: p.Workload, Kind: "imported", Protocol: p.Protocol, Cells: []metric.Cell{cell}})
}

func read(job step.Job, name string) ([]byte, error) {
	rc, err := job.Open(name)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	content, err := io.ReadAll(io.LimitReader(rc, artifact.MaxBytes+1))
	if err == nil && len(content) > artifact.MaxBytes {
		err = fmt.Errorf("larger than %d MiB", artifact.MaxBytes>>20)
	}
	return content, err
}

// derive makes one cell of the files, a trial of each.
func derive(p params, files [][]byte) (metric.Cell, *artifact.Document, error) {
	o := metric.CellOptions{Name: spec.ImportedCell, Protocol: metric.Protocol(p.Protocol), IntendedCache: true}
	if s := p.SLO; s != nil {
		o.SLO = &metric.SLO{TTFT: s.TTFT, TTFO: s.TTFO, TPOT: s.TPOT, E2E: s.E2E}
	}
	var trials []metric.Trial
	out := &artifact.Document{Format: "cupel/evidence"}
	for i, content := range files {
		t, clients, err := artifact.Trial(content)
		if err != nil {
			return metric.Cell{}, nil, fmt.Errorf("%s: %w", p.Names[i], err)
		}
		if o.Concurrency != 0 && o.Concurrency != clients {
			return metric.Cell{}, nil, fmt.Errorf("%s has a concurrency of %d, and the first file one of %d", p.Names[i], clients, o.Concurrency)
		}
		o.Concurrency = clients
		trials = append(trials, t)
		doc, err := artifact.Read(content, artifact.Options{Prompts: true})
		if err != nil {
			return metric.Cell{}, nil, fmt.Errorf("%s: %w", p.Names[i], err)
		}
		doc.Records[0].Part = fmt.Sprintf("%s/%d", p.Workload, i+1)
		out.Records = append(out.Records, doc.Records[0])
	}
	cell := metric.NewCell(o, trials)
	cell.Doubts = append(cell.Doubts, "measured by another tool: how busy its client was is not known")
	if p.Statistic == spec.MeanOfRuns {
		cell = metric.MeanOverTrials(cell)
		cell.Doubts = append(cell.Doubts, fmt.Sprintf("percentiles and rates are means over %d runs of each run's own", len(trials)))
	}
	return cell, out, nil
}

// Check reads the files of imported workloads and says which cannot be derived
// from, and which may not stand side by side. It opens the files.
func Check(c *spec.Campaign, work string) error {
	w := c.Measure[work].Imported
	if w == nil {
		return nil
	}
	var units []artifact.Unit
	for _, cand := range slices.Sorted(maps.Keys(w.Files)) {
		p := params{Workload: work, Protocol: w.Protocol, Trials: len(w.Files[cand])}
		var files [][]byte
		for _, f := range w.Files[cand] {
			content, err := readFile(f)
			if err != nil {
				return err
			}
			files, p.Names = append(files, content), append(p.Names, f.Name)
		}
		_, doc, err := derive(p, files)
		if err != nil {
			return err
		}
		for i, r := range doc.Records {
			units = append(units, artifact.Unit{Name: p.Names[i], Record: r})
		}
	}
	return sideBySide(units)
}

// sideBySide holds each file against the first.
func sideBySide(units []artifact.Unit) error {
	for _, u := range units[1:] {
		pair := []artifact.Unit{units[0], u}
		pair[0].Record.Part, u.Record.Part = "", ""
		if cmp := artifact.Compare(pair); !cmp.Comparable {
			return step.WithHint(fmt.Errorf("%s and %s may not stand side by side: %s", units[0].Name, u.Name, why(cmp)), "cupel evidence compare shows all of it")
		}
	}
	return nil
}

// why names the fields that keep two files apart.
func why(c artifact.Comparison) string {
	var out []string
	for _, f := range slices.Sorted(maps.Keys(c.Differences)) {
		out = append(out, f+" differs")
	}
	for _, f := range slices.Sorted(maps.Keys(c.Unknown)) {
		out = append(out, f+" is not known")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Invalid)) {
		out = append(out, name+": "+c.Invalid[name][0])
	}
	return strings.Join(out, "; ")
}

func readFile(f spec.File) ([]byte, error) {
	content, err := os.ReadFile(f.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: it cannot be read", f.Name)
	}
	return content, nil
}
