package measure

import (
	"fmt"
	"os"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/arrival"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// layout makes of a cell's parameters what its kind measures.
func (p *cellParams) layout(job step.Job) (layout, error) {
	head, err := p.header(job)
	if err != nil {
		return nil, err
	}
	w := p.Workload
	switch {
	case w.Capacity != nil:
		return newCapacity(p, head, w.Capacity)
	case w.OpenLoop != nil:
		return newOpenLoop(p, head, job)
	case w.Search != nil:
		return newSearch(p, head)
	case w.Decode != nil:
		return newDecode(p, head)
	case w.Ladder != nil:
		return newLadder(p, head)
	case w.EffectiveContext != nil:
		return newContext(p, head)
	case w.PrefixBurst != nil:
		return newBurst(p, head)
	case w.Bench != nil:
		return newBench(p, head)
	}
	return nil, fmt.Errorf("workload of kind %q has no cells", w.Kind)
}

// ask is the request that carries a prompt as the candidate is configured.
func (p *cellParams) ask(_ int, a prompts.Prompt) llm.Request {
	return llm.Request{
		Messages: messages(p.System, a.Text),
		Sampling: sampling(p.Sampling, p.Reasoning, 0), Reasoning: control(p.Reasoning),
	}
}

// messages puts the candidate's system prompt first, if it has one.
func messages(system, text string) []llm.Message {
	user := llm.Message{Role: "user", Content: text}
	if system == "" {
		return []llm.Message{user}
	}
	return []llm.Message{{Role: "system", Content: system}, user}
}

// untimed asks for the prompts that follow the n timed ones.
func (p *cellParams) untimed(b prompts.Builder, n int) func(int) (llm.Request, error) {
	return func(i int) (llm.Request, error) {
		a, err := b.Build(n + i)
		return p.ask(i, a), err
	}
}

// contract holds an answer against the canary and the output that its prompt
// asked for.
func contract(prompt spec.CapacityPrompt, out spec.CapacityOutput) func(*evidence.LoadRow, string, prompts.Prompt) {
	return func(row *evidence.LoadRow, text string, ask prompts.Prompt) {
		if prompt.Canary {
			row.Canary = prompts.Canary(text, ask)
		}
		if out.Words > 0 {
			row.Output = prompts.Output(text, ask, out.Policy)
		}
	}
}

// answer holds an answer against the one that is right.
func answer(row *evidence.LoadRow, text string, ask prompts.Prompt) {
	row.Answer = prompts.Answer(text, ask)
}

// Check says what a serving workload asks for that no prompt can carry. A
// workload without prompts of its own is fine.
func Check(w spec.Workload) error {
	c := prompts.Cell{Concurrency: 1, Trial: 1, Requests: 1}
	switch {
	case w.Capacity != nil:
		c.Prompt, c.Output = w.Capacity.Prompt, w.Capacity.Output
	case w.OpenLoop != nil:
		c.Prompt, c.Output = w.OpenLoop.Prompt, w.OpenLoop.Output
	case w.Search != nil:
		c.Prompt, c.Output = w.Search.Prompt, w.Search.Output
	case w.EffectiveContext != nil:
		_, err := contextItems(*w.EffectiveContext, "")
		return err
	default:
		return nil
	}
	b, err := prompts.New(c)
	if err == nil {
		_, err = b.Build(0)
	}
	if err == nil && w.OpenLoop != nil {
		err = checkSchedules(w)
	}
	return err
}

// checkSchedules draws every schedule of an open loop, and reads its trace.
func checkSchedules(w spec.Workload) error {
	o := w.OpenLoop
	var rows []arrival.TraceRow
	if t := o.Arrivals.Trace; t != nil {
		f, err := os.Open(t.Path)
		if err != nil {
			return err
		}
		defer f.Close()
		if rows, err = arrival.ReadTrace(f); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	for _, at := range w.Points(nil) {
		for trial := 1; trial <= o.Trials; trial++ {
			if _, err := arrival.Plan(o.Arrivals, at.Rate, o.Seed, trial, rows); err != nil {
				return fmt.Errorf("%s: %w", at.Cell, err)
			}
		}
	}
	return nil
}
