package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
)

// metricsParams names the cells that are derived.
type metricsParams struct {
	Workload    string `json:"workload"`
	Protocol    string `json:"protocol"`
	Concurrency []int  `json:"concurrency"`
	Trials      int    `json:"trials"`
}

// cellInput is the name under which a cell file is opened.
func cellInput(concurrency, trial int) string { return fmt.Sprintf("c%d-t%d", concurrency, trial) }

// Metrics derives a candidate's load metrics from its cell files. It is pure.
type Metrics struct{}

// Run writes evidence.LoadMetrics: one cell per concurrency with its trials
// pooled, in the order of the campaign, and each trial within it.
func (Metrics) Run(_ context.Context, job step.Job) error {
	var p metricsParams
	if err := job.Params(&p); err != nil {
		return err
	}
	out := evidence.LoadMetrics{Workload: p.Workload, Protocol: p.Protocol, Cells: []metric.Cell{}}
	for _, n := range p.Concurrency {
		var trials []metric.Trial
		for t := 1; t <= p.Trials; t++ {
			trial, err := readCell(job, cellInput(n, t))
			if err != nil {
				return fmt.Errorf("%s: cell %s: %w", job.Step().Name, cellInput(n, t), err)
			}
			trials = append(trials, trial)
		}
		out.Cells = append(out.Cells, metric.NewCell(n, metric.Protocol(p.Protocol), trials))
	}
	return step.WriteJSON(job, evidence.OutMetrics, out)
}

// readCell reads a cell file and checks that it is whole.
func readCell(job step.Job, input string) (t metric.Trial, err error) {
	r, err := job.Open(input)
	if err != nil {
		return t, err
	}
	defer r.Close()
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	var head evidence.CellHeader
	if err := dec.Decode(&head); err != nil {
		return t, fmt.Errorf("header: %w", err)
	}
	t.WallNS, t.CPUNS = head.WallNS, head.CPUSelfNS
	for {
		var row evidence.LoadRow
		if err := dec.Decode(&row); err == io.EOF {
			break
		} else if err != nil {
			return t, fmt.Errorf("row %d: %w", len(t.Requests), err)
		}
		if row.Index != len(t.Requests) {
			return t, fmt.Errorf("row %d has the index %d", len(t.Requests), row.Index)
		}
		t.Requests = append(t.Requests, request(&row))
	}
	if len(t.Requests) != head.Requests {
		return t, fmt.Errorf("%d rows, and its header says %d", len(t.Requests), head.Requests)
	}
	return t, nil
}

// request is a row as the metric dictionary takes it.
func request(row *evidence.LoadRow) metric.Request {
	r := metric.Request{
		FirstOutput: row.Times.FirstOutput, FirstVisible: row.Times.FirstVisible, LastOutput: row.Times.LastOutput, End: row.Times.End,
		ContentChunks: row.ContentChunks, ReasoningChunks: row.ReasonChunks,
		Eligible: (row.Canary == nil || row.Canary.Passed) && (row.Output == nil || row.Output.Passed),
	}
	u := row.Usage
	if u == nil {
		u = &llm.Usage{}
	}
	r.PromptTokens, r.OutputTokens, r.ReasoningTokens, r.CachedTokens = u.PromptTokens, u.OutputTokens, u.ReasoningTokens, u.CachedTokens
	if row.Server != nil {
		r.ServerPrefill = row.Server.PromptEval
	}
	if row.Failure != nil {
		r.FailureClass = string(row.Failure.Class)
	}
	return r
}
