package measure

import (
	"context"
	"fmt"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
)

// cellParams is what a cell depends on besides its pin and trial.
type cellParams struct {
	Protocol    string              `json:"protocol"`
	Concurrency int                 `json:"concurrency"`
	Requests    int                 `json:"requests"`
	Warmup      int                 `json:"warmup"`
	Prompt      spec.CapacityPrompt `json:"prompt"`
	Output      spec.CapacityOutput `json:"output"`
	Sampling    spec.Sampling       `json:"sampling"`
	Reasoning   *spec.Reasoning     `json:"reasoning,omitempty"`
	Timeout     string              `json:"timeout,omitempty"`
}

func newCellParams(c spec.Candidate, w spec.Capacity, concurrency int) cellParams {
	return cellParams{
		Protocol: w.Protocol, Concurrency: concurrency, Requests: w.Requests, Warmup: w.Warmup,
		Prompt: w.Prompt, Output: w.Output, Sampling: c.Sampling, Reasoning: c.Reasoning, Timeout: w.Timeout,
	}
}

func (p cellParams) check() error {
	switch metric.Protocol(p.Protocol) {
	case metric.CapacityV3, metric.CapacityV4Reasoning:
	default:
		return step.WithHint(fmt.Errorf("protocol %q is not known", p.Protocol), "use capacity-v3 or capacity-v4-reasoning")
	}
	if p.Requests < 1 || p.Concurrency < 1 || p.Warmup < 0 {
		return fmt.Errorf("%d requests at concurrency %d after %d of warm-up cannot be measured", p.Requests, p.Concurrency, p.Warmup)
	}
	return sendable(p.Reasoning)
}

// Cell measures closed-loop load at one concurrency. It is not resumable: a
// cell that was stopped says nothing about load and is measured again.
type Cell struct {
	Dial Dial
	CPU  func() int64 // CPU time of this process in ns, -1 = not known; nil = the operating system's answer
}

// Run writes the cell file. Failures of the outside are rows of it, unless
// nothing at all succeeded: then it is the endpoint that is not there.
func (c Cell) Run(ctx context.Context, job step.Job) error {
	if err := c.run(ctx, job); err != nil {
		return fmt.Errorf("%s: %w", job.Step().Name, err)
	}
	return nil
}

func (c Cell) run(ctx context.Context, job step.Job) error {
	var p cellParams
	if err := job.Params(&p); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	ep, err := c.Dial.open(ctx, job, p.Timeout, p.Concurrency)
	if err != nil {
		return err
	}
	defer ep.Close()
	reqs, prompts, err := p.build(ep, job.Step().Trial)
	if err != nil {
		return err
	}
	head := evidence.CellHeader{Protocol: p.Protocol, Concurrency: p.Concurrency, Trial: job.Step().Trial, Requests: p.Requests}
	answers, err := c.measure(ctx, job, p, ep, reqs, &head)
	if err != nil {
		return err
	}
	if err := hopeless(answers); err != nil {
		return err
	}
	if err := p.write(job, head, answers, prompts); err != nil {
		return err
	}
	return ep.recheck(ctx)
}

// hopeless returns an error when nothing succeeded and the outside is why.
func hopeless(answers []llm.Response) error {
	var fail tally
	for i := range answers {
		switch f := answers[i].Failure; {
		case f == nil:
			return nil
		case f.Class.Outside():
			fail.add(f)
		}
	}
	if fail.n == 0 {
		return nil
	}
	return step.WithHint(fail.err(0, len(answers)-fail.n, len(answers)), "nothing was kept; run again when the endpoint is well")
}

// build prepares every request before the first is sent.
func (p cellParams) build(ep Endpoint, trial int) ([]*llm.Prepared, []prompt, error) {
	b, err := newPrompter(p, trial)
	if err != nil {
		return nil, nil, err
	}
	n := p.Requests + p.Warmup
	reqs, prompts := make([]*llm.Prepared, n), make([]prompt, n)
	for i := range n {
		prompts[i] = b.build(i)
		turns := []llm.Message{{Role: "user", Content: prompts[i].text}}
		prompts[i].text = "" // the prepared body holds it
		if reqs[i], err = ep.Prepare(llm.Request{Messages: turns, Sampling: sampling(p.Sampling, p.Reasoning, 0)}); err != nil {
			return nil, nil, fmt.Errorf("request %d: %w", i, err)
		}
	}
	return reqs, prompts, nil
}

// measure warms up and then runs the timed pool. Connections are opened last,
// as an idle one is dropped after a few seconds.
func (c Cell) measure(ctx context.Context, job step.Job, p cellParams, ep Endpoint, reqs []*llm.Prepared, head *evidence.CellHeader) ([]llm.Response, error) {
	if p.Warmup > 0 {
		job.Progress(0, p.Requests, "warm-up")
		pool{ep: ep, workers: p.Concurrency}.run(ctx, reqs[p.Requests:])
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := ep.Warm(ctx, p.Concurrency); err != nil {
		return nil, err
	}
	job.Progress(0, p.Requests, "measuring")
	cpu := c.CPU
	if cpu == nil {
		cpu = cpuTime
	}
	before, began := cpu(), time.Now()
	answers, most := pool{ep: ep, workers: p.Concurrency}.run(ctx, reqs[:p.Requests])
	head.WallNS = int64(time.Since(began))
	head.StartUnixNS, head.MaxInFlight, head.CPUSelfNS = began.UnixNano(), most, used(before, cpu())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	job.Progress(p.Requests, p.Requests, fmt.Sprintf("%.1f s", time.Duration(head.WallNS).Seconds()))
	return answers, nil
}

func used(before, after int64) int64 {
	if before < 0 || after < 0 {
		return -1
	}
	return after - before
}

func (p cellParams) write(job step.Job, head evidence.CellHeader, answers []llm.Response, prompts []prompt) error {
	out, err := createLines(job, evidence.OutCell)
	if err != nil {
		return err
	}
	line, err := encode(head)
	if err != nil {
		return err
	}
	out.put(line)
	for i := range answers {
		if line, err = encode(p.row(i, &answers[i], prompts[i])); err != nil {
			return err
		}
		out.put(line)
	}
	return out.close()
}

// row holds an answer against what it was asked for. A failed request has
// broken no contract: there is no answer to look at.
func (p cellParams) row(i int, r *llm.Response, ask prompt) evidence.LoadRow {
	row := evidence.LoadRow{
		Index: i, Times: r.Times, Server: r.Server, Usage: r.Usage, Finish: r.FinishReason, Failure: r.Failure,
		ContentChunks: r.ContentChunks, ReasonChunks: r.ReasoningChunks, Coalesced: r.Coalesced,
		PromptWords: ask.length,
	}
	if r.Failure != nil {
		return row
	}
	marker := ""
	if p.Prompt.Canary {
		marker = ask.marker
		row.Canary = checkCanary(r.Text, marker)
	}
	if p.Output.Words > 0 {
		row.Output = checkOutput(r.Text, marker, ask.words, p.Output.Policy)
	}
	return row
}
