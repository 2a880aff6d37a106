package measure

import (
	"context"
	"errors"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

// loaded is what the kinds whose prompts a campaign describes have in common.
type loaded struct {
	p      *cellParams
	head   evidence.CellHeader
	prompt spec.CapacityPrompt
	output spec.CapacityOutput
	seed   int64
	warmup int
	stage  string // that is added to the point, for prompts that no other stage sends
	served int    // context length of the endpoint, 0 = it does not say
	cal    calibrated
}

// cell is what the prompts of n requests at a point depend on.
func (l *loaded) cell(point string, concurrency, n int) prompts.Cell {
	return prompts.Cell{
		Prompt: l.prompt, Output: l.output, Concurrency: concurrency, Trial: l.head.Trial, Point: l.p.place(point + l.stage), Requests: n, Seed: l.seed,
		Shared: l.p.salt(), CharsPerToken: l.cal.perToken, MaxTokens: sampling(l.p.Sampling, l.p.Reasoning, 0).MaxTokens, ContextLimit: l.served,
	}
}

// calibrate finds how many characters a token has in prompts like those of c.
// The texts that it sends have a place of their own: a cache that holds them
// holds nothing of what is timed, or of what another cell sends.
func (l *loaded) calibrate(ctx context.Context, at *station, c prompts.Cell) (err error) {
	l.served = at.pin.Served()
	asked := c.Prompt.Calibrate == "endpoint"
	if c.Prompt.Tokens, err = typical(c); err != nil {
		return err
	}
	if !prompts.Calibrates(c.Prompt) {
		if asked {
			err = step.WithHint(errors.New("the prompt's length cannot be calibrated: its builder, or a template without {filler}, fixes its text"), "leave calibrate out, or give tokens and a template with {filler}")
		}
		return err
	}
	c.Point = l.p.calibrating(c.Trial)
	c.Prompt.Lengths, c.Lengths, c.Blocks, c.ContextLimit, c.Seed, c.Shared = nil, nil, nil, l.served, ^c.Seed, c.Point
	l.cal, err = at.calibrate(ctx, c.Prompt.Tokens, asked, func(perToken float64, k int) (prompts.Prompt, error) {
		c.CharsPerToken = perToken
		b, err := prompts.New(c)
		if err != nil {
			return prompts.Prompt{}, err
		}
		return b.Build(k)
	})
	return err
}

// typical is the prompt length that stands for those of a cell.
func typical(c prompts.Cell) (int, error) {
	switch {
	case c.Lengths != nil:
		return median(c.Lengths), nil
	case c.Prompt.Lengths != nil:
		drawn, err := prompts.Lengths(*c.Prompt.Lengths, max(c.Requests, 1))
		if err != nil {
			return 0, err
		}
		return median(drawn), nil
	}
	return c.Prompt.Tokens, nil
}

// block is what is common to all blocks of prompts of c.
func (l *loaded) block(c prompts.Cell) (*block, error) {
	pause, err := duration(l.p.common().coolDown)
	if err != nil {
		return nil, err
	}
	builder, err := prompts.New(c)
	if err != nil {
		return nil, err
	}
	b := &block{
		head: l.head, prompts: builder, requests: c.Requests, request: l.p.ask, judge: contract(l.prompt, l.output),
		untimed: l.warmup, before: l.p.untimed(builder, c.Requests), pause: pause,
	}
	if c.Prompt.Tokens > 0 || c.Prompt.Lengths != nil || c.Lengths != nil {
		l.cal.describe(&b.head)
	}
	return b, nil
}

// capacity is closed-loop load at one concurrency.
type capacity struct {
	loaded
	requests int
	done     bool
}

func newCapacity(p *cellParams, head evidence.CellHeader, c *spec.Capacity) (*capacity, error) {
	if c.Requests < 1 || p.Concurrency < 1 {
		return nil, p.nothing(c.Requests)
	}
	return &capacity{requests: c.Requests, loaded: loaded{
		p: p, head: head, prompt: c.Prompt, output: c.Output, seed: c.Seed, warmup: c.Warmup,
	}}, nil
}

func (c *capacity) conns() int { return c.p.Concurrency }

func (c *capacity) start(ctx context.Context, at *station) error {
	return c.calibrate(ctx, at, c.prompts())
}

func (c *capacity) prompts() prompts.Cell { return c.cell(c.p.Cell, c.p.Concurrency, c.requests) }

func (c *capacity) next(*timed) (*block, error) {
	if c.done {
		return nil, nil
	}
	c.done = true
	b, err := c.block(c.prompts())
	if err == nil {
		b.workers = c.p.Concurrency
	}
	return b, err
}
