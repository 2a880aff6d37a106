package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/llm"
)

// generateParams is what a generation depends on besides its pin and items.
type generateParams struct {
	Sampling     spec.Sampling       `json:"sampling"`
	Reasoning    *spec.Reasoning     `json:"reasoning,omitempty"`
	SystemPrompt string              `json:"systemPrompt,omitempty"`
	Where        map[string][]string `json:"where,omitempty"`
	Split        string              `json:"split,omitempty"` // "" | held-out
	Limit        int                 `json:"limit,omitempty"`
	Stratify     string              `json:"stratify,omitempty"` // only with Limit: labels alone change no request
	Samples      int                 `json:"samples"`
	Repeats      int                 `json:"repeats"`
	Concurrency  int                 `json:"concurrency"`
	Failures     string              `json:"failures,omitempty"` // only when "record"
}

// recordFailures makes a request that the endpoint keeps failing for a failed
// answer, as long as it answers others.
const recordFailures = "record"

// generateHints are the fields of a quality workload that cannot change an
// answer: a request that runs into them has none, and is asked again by the
// next run.
type generateHints struct {
	Retries int    `json:"retries"`
	Timeout string `json:"timeout,omitempty"`
}

func hints(job step.Job) (h generateHints, err error) {
	if err := json.Unmarshal(job.Step().Hints, &h); err != nil {
		return h, fmt.Errorf("hints: %w", err)
	}
	return h, nil
}

func newGenerateParams(c spec.Candidate, q spec.Quality) generateParams {
	p := generateParams{
		Sampling: c.Sampling, Reasoning: c.Reasoning, SystemPrompt: c.SystemPrompt,
		Where: normal(q.Where), Split: q.Split, Limit: q.Limit,
		Samples: q.Samples, Repeats: q.Repeats, Concurrency: q.Concurrency,
	}
	if q.Limit > 0 {
		p.Stratify = q.Stratify
	}
	if q.Failures == recordFailures {
		p.Failures = recordFailures
	}
	return p
}

// normal sorts the accepted values: their order means nothing.
func normal(where map[string][]string) map[string][]string {
	out := make(map[string][]string, len(where))
	for label, values := range where {
		out[label] = slices.Compact(slices.Sorted(slices.Values(values)))
	}
	return out
}

// check refuses what this version would not do as it is written.
func (p generateParams) check() error {
	if p.Split != "" && !p.heldOut() {
		return fmt.Errorf("split %q: there is no such part", p.Split)
	}
	if p.Concurrency < 1 {
		return fmt.Errorf("concurrency %d: nothing would be sent", p.Concurrency)
	}
	return nil
}

// heldOut reports whether no text of the items may be quoted anywhere.
func (p generateParams) heldOut() bool { return p.Split == spec.SplitHeldOut }

// ask is one request that is to be answered.
type ask struct {
	place place
	key   rowKey
	req   *llm.Prepared
	held  bool // the item is held out
}

// place is the position of a row in the outputs: file order of the items, then
// sample, then repeat.
type place int

// rowKey names a row.
type rowKey struct {
	ID             string
	Sample, Repeat int
}

// each calls f with every selected item in file order. The file is streamed:
// it may be far larger than memory.
func (p generateParams) each(job step.Known, f func(items.Item) error) error {
	r, err := job.Open(itemsInput)
	if err != nil {
		return err
	}
	defer r.Close()
	sel := items.NewSelector(p.Where, p.Limit, p.Stratify)
	err = items.Read(r, func(it items.Item) error {
		if !sel.Keep(&it) {
			return nil
		}
		return f(it)
	})
	if p.heldOut() {
		return items.WithoutText(err)
	}
	return err
}

// count returns the number of rows, and finds every damaged line of the item
// file before the first request is sent.
func (p generateParams) count(job step.Known) (rows int, err error) {
	err = p.each(job, func(it items.Item) error {
		rows += p.Samples * p.Repeats
		return haveMedia(job, &it)
	})
	if err == nil && rows == 0 {
		err = step.WithHint(errors.New("no item is selected"), "look at where, samples and repeats of the workload")
	}
	return rows, err
}

// asks builds every request of every selected item and hands them to f in the
// order of the outputs.
func (p generateParams) asks(ctx context.Context, job step.Known, prepare prepare, f func(ask) error) error {
	next := place(0)
	return p.each(job, func(it items.Item) error {
		for s := range p.Samples {
			asked := p.request(&it, s)
			err := attach(job, &it, asked.Messages)
			var req *llm.Prepared
			if err == nil {
				req, err = prepare(asked)
			}
			if err != nil {
				return fmt.Errorf("item %s: %w", it.ID, p.quiet(err))
			}
			for r := range p.Repeats {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err := f(ask{next, rowKey{it.ID, s, r}, req, p.heldOut()}); err != nil {
					return err
				}
				next++
			}
		}
		return nil
	})
}

// quiet replaces an error that may quote a held-out item.
func (p generateParams) quiet(err error) error {
	if p.heldOut() {
		return errors.New("no request can be made of it; why is not quoted, since it is held out")
	}
	return err
}

// request puts the candidate's system prompt first, unless the item brings one.
func (p generateParams) request(it *items.Item, sample int) llm.Request {
	var turns []llm.Message
	own := it.Turns()
	if p.SystemPrompt != "" && (len(own) == 0 || own[0].Role != "system") {
		turns = append(turns, llm.Message{Role: "system", Content: p.SystemPrompt})
	}
	for _, m := range own {
		turns = append(turns, llm.Message{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID, ToolCalls: m.ToolCalls})
	}
	return llm.Request{Messages: turns, Tools: it.Tools, Sampling: sampling(p.Sampling, p.Reasoning, sample), Reasoning: control(p.Reasoning)}
}
