package measure

import (
	"context"
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/arrival"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// mostInFlight bounds the connections of an open loop that are kept.
const mostInFlight = 4096

// openLoop sends on a schedule that does not wait for answers.
type openLoop struct {
	loaded
	arrivals spec.Arrivals
	plan     arrival.Schedule
	done     bool
}

func newOpenLoop(p *cellParams, head evidence.CellHeader, job step.Job) (*openLoop, error) {
	w := p.Workload.OpenLoop
	p.trace = digestOf(job)
	o := &openLoop{arrivals: w.Arrivals, loaded: loaded{
		p: p, head: head, prompt: w.Prompt, output: w.Output, seed: w.Seed, warmup: w.Warmup,
	}}
	var rows []arrival.TraceRow
	var err error
	if w.Arrivals.Process == "trace" {
		if rows, err = readTrace(job); err != nil {
			return nil, err
		}
	}
	o.plan, err = arrival.Plan(w.Arrivals, p.Rate, w.Seed, head.Trial, rows)
	return o, err
}

// digestOf is the digest of the trace that a step replays, "" = none.
func digestOf(job step.Job) string {
	if in, ok := job.Step().Inputs[traceInput]; ok {
		return in.Blob.String()
	}
	return ""
}

func readTrace(job step.Job) ([]arrival.TraceRow, error) {
	r, err := job.Open(traceInput)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer r.Close()
	return arrival.ReadTrace(r)
}

func (o *openLoop) conns() int { return min(len(o.plan.Offsets), mostInFlight) }

func (o *openLoop) start(ctx context.Context, at *station) error {
	return o.calibrate(ctx, at, o.prompts())
}

// prompts are as long as the trace says, and begin with the same blocks, where
// one is replayed.
func (o *openLoop) prompts() prompts.Cell {
	c := o.cell(o.p.Cell, 0, len(o.plan.Offsets))
	for _, row := range o.plan.Rows {
		c.Lengths = append(c.Lengths, row.Prompt)
		c.Blocks = append(c.Blocks, row.Prefix)
	}
	return c
}

// replayed counts the requests of the trace whose blocks are known.
func (o *openLoop) replayed() (n int) {
	for _, row := range o.plan.Rows {
		if row.Prefix != "" {
			n++
		}
	}
	return n
}

func (o *openLoop) next(*timed) (*block, error) {
	if o.done {
		return nil, nil
	}
	o.done = true
	c := o.prompts()
	b, err := o.block(c)
	if err != nil {
		return nil, err
	}
	b.open(o.plan, o.arrivals, o.p.Rate, o.seed)
	if len(o.plan.Rows) > 0 {
		b.request = o.recorded
	}
	switch n := o.replayed(); {
	case n > 0 && c.Replays():
		b.head.Prompts.Replayed = n
	case n > 0:
		b.head.Prompts.Doubts = append(b.head.Prompts.Doubts, "the prefixes that prompts of the trace shared were not replayed: the prompt's builder or cache has its own")
	}
	return b, nil
}

// recorded asks for as much output as the trace's row had.
func (o *openLoop) recorded(i int, a prompts.Prompt) llm.Request {
	r := o.p.ask(i, a)
	if n := o.plan.Rows[i].Output; n > 0 {
		r.Sampling.MaxTokens = n
	}
	return r
}

// open makes b an open loop that follows plan.
func (b *block) open(plan arrival.Schedule, a spec.Arrivals, rate float64, seed int64) {
	b.offsets, b.window, b.cancel = plan.Offsets, plan.Window, a.Drain == "cancel"
	b.workers = 1
	if a.Process == "trace" {
		rate = float64(len(plan.Offsets)) / plan.Window.Seconds()
	}
	b.head.Loop, b.head.Concurrency = "open", 0
	b.head.Arrivals = &evidence.Arrivals{
		Process: a.Process, Rate: rate, To: a.To, Burstiness: a.Burstiness, Seed: seed,
		WindowNS: int64(plan.Window), Planned: len(plan.Offsets), PlanSHA256: plan.Digest(),
	}
}
