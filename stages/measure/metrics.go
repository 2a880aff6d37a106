package measure

import (
	"context"
	"fmt"
	"slices"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// Metrics derives a candidate's load metrics from its cell files. It is pure.
type Metrics struct{}

// Run writes evidence.LoadMetrics: one cell per point with its trials pooled,
// in the order of the campaign, and each trial within it.
func (Metrics) Run(_ context.Context, job step.Job) error {
	var p metricsParams
	if err := job.Params(&p); err != nil {
		return err
	}
	if err := knownProtocol(p.Protocol); err != nil {
		return fmt.Errorf("%s: %w", job.Step().Name, err)
	}
	out := evidence.LoadMetrics{Workload: p.Workload, Kind: p.Kind, Protocol: p.Protocol, Cells: []metric.Cell{}}
	for _, at := range p.Points {
		if err := p.derive(job, at, &out); err != nil {
			return fmt.Errorf("%s: %w", job.Step().Name, err)
		}
	}
	doubts, err := p.unused(job)
	if err != nil {
		return fmt.Errorf("%s: %w", job.Step().Name, err)
	}
	for i := range out.Energy {
		out.Energy[i].Doubts = append(out.Energy[i].Doubts, doubts...)
	}
	return step.WriteJSON(job, evidence.OutMetrics, out)
}

// derive adds the cells of one point.
func (p *metricsParams) derive(job step.Job, at point, out *evidence.LoadMetrics) error {
	var blocks []measured
	for t := 1; t <= p.Trials; t++ {
		b, err := p.readCell(job, at.Cell, t)
		if err != nil {
			return err
		}
		blocks = append(blocks, b...)
	}
	o := p.options(at)
	arranged(blocks, out)
	for _, b := range blocks {
		o.IntendedCache = o.IntendedCache || b.head.Prompts.Replayed > 0
	}
	switch p.Kind {
	case "energy":
		return p.energy(job, blocks, o, out)
	case "search":
		return p.search(blocks, o, out)
	case "replicas":
		return p.union(blocks, o, out)
	case "effective-context":
		return p.curve(blocks, o, out)
	case "ladder":
		return p.rung(blocks, at, out)
	case "bench":
		out.Cells = append(out.Cells, noted(metric.NewBench(o, trialsOf(blocks)), blocks)...)
		return nil
	}
	out.Cells = append(out.Cells, noted([]metric.Cell{metric.NewCell(o, trialsOf(blocks))}, blocks)...)
	return nil
}

// readCell reads the blocks of one trial, of which most kinds have one.
func (p *metricsParams) readCell(job step.Job, cell string, trial int) ([]measured, error) {
	blocks, err := readCell(job, cell, trial, p.Decode)
	if err != nil {
		return nil, err
	}
	want := max(p.Replicas, 1)
	if p.Kind != "search" && len(blocks) != want {
		return nil, fmt.Errorf("cell %s: %d blocks, and %d are to be there", cellInput(cell, trial), len(blocks), want)
	}
	for i, b := range blocks {
		if b.head.Kind != p.Kind {
			return nil, fmt.Errorf("cell %s: block %d is of %s, and %s was to be measured", cellInput(cell, trial), i, b.head.Kind, p.Kind)
		}
	}
	return blocks, nil
}

func (p *metricsParams) options(at point) metric.CellOptions {
	o := options(at.Cell, p.Protocol, at.Concurrency, at.Rate, p.SLO)
	o.IntendedCache = p.Cached
	return o
}

// arranged notes in what circumstances the cells were measured.
func arranged(blocks []measured, out *evidence.LoadMetrics) {
	for _, b := range blocks {
		if out.Apart == "" {
			out.Apart = b.head.Apart
		}
		out.Beside = append(out.Beside, b.head.Beside...)
	}
	slices.Sort(out.Beside)
	out.Beside = slices.Compact(out.Beside)
}

func trialsOf(blocks []measured) []metric.Trial {
	out := make([]metric.Trial, len(blocks))
	for i, b := range blocks {
		out[i] = b.trial
	}
	return out
}

// stalledMuch is the share of its clients' time that a cell may lose to the
// writing of rows.
const stalledMuch = 0.01

// noted adds what the headers of the blocks say that no formula knows of.
func noted(cells []metric.Cell, blocks []measured) []metric.Cell {
	var doubts []string
	bound := false
	for _, b := range blocks {
		h := &b.head
		if h.Stalls > 0 {
			doubts = append(doubts, fmt.Sprintf("trial %d: %d requests were not built yet when they were to be sent", h.Trial, h.Stalls))
		}
		if float64(h.StalledNS) > stalledMuch*float64(h.WallNS)*float64(max(h.Concurrency, 1)) {
			bound = true
			doubts = append(doubts, fmt.Sprintf("client-bound: trial %d: clients waited %.1f s for their rows to be written", h.Trial, float64(h.StalledNS)/1e9))
		}
		for _, s := range append(h.Prompts.Doubts, b.notes...) {
			doubts = append(doubts, b.says(s))
		}
		if h.Prompts.CalibratedBy == "nominal" && b.lengths() {
			doubts = append(doubts, fmt.Sprintf("trial %d: prompt lengths are nominal, at %v characters a token", h.Trial, h.Prompts.CharsPerToken))
		}
	}
	for i := range cells {
		cells[i].Doubts = append(cells[i].Doubts, doubts...)
		cells[i].ClientBound = cells[i].ClientBound || bound
	}
	return cells
}
