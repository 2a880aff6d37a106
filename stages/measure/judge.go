package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/judge"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
)

// Judge asks a judge about stored answers, or about the labelled ones that it is
// calibrated with. Its replies are answers like any others: kept, journaled and
// read later by a step that sends nothing.
type Judge struct{ Generate }

// judgeParams is what a judging depends on besides its pin and its inputs.
type judgeParams struct {
	Form         judge.Form      `json:"form"`
	Sampling     spec.Sampling   `json:"sampling"`
	Reasoning    *spec.Reasoning `json:"reasoning,omitempty"`
	SystemPrompt string          `json:"systemPrompt,omitempty"`
	Concurrency  int             `json:"concurrency"`
	Selection    *generateParams `json:"selection,omitempty"` // of the items that were answered; nil = labels are judged
}

func newJudgeParams(j spec.Judge) judgeParams {
	return judgeParams{
		Form: judge.FormOf(j), Sampling: j.Pins.Sampling, Reasoning: j.Pins.Reasoning,
		SystemPrompt: j.Pins.SystemPrompt, Concurrency: j.Concurrency,
	}
}

// judgeGrows is what says how many answers are judged: a verdict depends on the
// answer, which is in the request, and not on which others there are. The
// candidate's pin stays, so that each candidate's answers are judged for themselves.
var judgeGrows = step.Growth{Params: []string{"selection"}, Inputs: []string{itemsInput, answersInput, labelsInput}}

// judging is what the steps of a judge have in common. A judge is pinned and not
// preflighted: a judge that cannot reply gives no verdicts, and its calibration
// says so.
func judging(name string, j spec.Judge, p judgeParams) step.Step {
	return step.Step{
		Kind: KindJudge, Revision: judgeRevision, Trial: 1, Where: name,
		Params: plain(p), Hints: plain(generateHints{Retries: j.Retries, Timeout: j.Timeout}),
		Inputs:    map[string]step.Input{pin.Input: {Step: evidence.PinStep(name), Output: evidence.OutPin}},
		Resources: []string{"endpoint:" + name}, Grows: &judgeGrows,
	}
}

func judgeStep(c *spec.Campaign, cand, work, name string, trial int) step.Step {
	j, q := c.Judges[name], c.Measure[work].Quality
	p := newJudgeParams(j)
	p.Selection = selectionOf(*q)
	s := judging(name, j, p)
	s.Name, s.Trial = evidence.JudgeStep(cand, work, name, trial), trial
	s.Inputs[itemsInput] = evidence.ItemsOf(q)
	s.Inputs[answersInput] = step.Input{Step: evidence.GenerateStep(cand, work, trial), Output: evidence.OutResponses}
	s.Inputs[answersPinInput] = step.Input{Step: evidence.PinStep(cand), Output: evidence.OutPin}
	s.Cost = cost(q.Suite.Count*q.Samples*q.Repeats, j.Pins.Candidate())
	return s
}

func labelsStep(name string, j spec.Judge) step.Step {
	s := judging(name, j, newJudgeParams(j))
	s.Name = evidence.LabelsStep(name)
	s.Inputs[labelsInput] = step.Input{Blob: j.Labels.Digest, Path: j.Labels.Path}
	s.Cost = cost(j.Labels.Lines, j.Pins.Candidate())
	return s
}

// selectionOf is the part of a generation's parameters that selects items.
func selectionOf(q spec.Quality) *generateParams {
	p := newGenerateParams(spec.Candidate{}, q)
	return &generateParams{Where: p.Where, Split: p.Split, Limit: p.Limit, Stratify: p.Stratify}
}

// Run writes one reply per answer that there is.
func (j Judge) Run(ctx context.Context, job step.Job) error {
	return named(ctx, job, j.run(ctx, job))
}

func (j Judge) run(ctx context.Context, job step.Job) error {
	var p judgeParams
	if err := job.Params(&p); err != nil {
		return err
	}
	if err := p.Form.Check(); err != nil {
		return err
	}
	if p.Concurrency < 1 {
		return fmt.Errorf("concurrency %d: nothing would be sent", p.Concurrency)
	}
	if p.Selection != nil {
		if err := notItself(job); err != nil {
			return err
		}
	}
	return j.answer(ctx, job, p, passing{p.Concurrency, false, runAgain})
}

// notItself refuses a judge that serves the weights of the candidate that it is
// to judge, whatever the two are called.
func notItself(job step.Job) error {
	own, err := pin.Read(job)
	if err != nil {
		return err
	}
	theirs, err := pin.ReadFrom(job, answersPinInput)
	if err != nil {
		return err
	}
	a, b := own.Observed, theirs.Observed
	for _, same := range []struct{ what, a, b string }{
		{"weights", a.WeightsDigest, b.WeightsDigest}, {"model", a.ModelDigest, b.ModelDigest},
	} {
		if same.a != "" && same.a == same.b {
			return step.WithHint(step.Mark(step.ErrOutside, fmt.Errorf("the judge serves the same %s as the candidate that it is to judge (%.12s)", same.what, same.a)),
				"a candidate cannot be its own judge; bind the judge to another model")
		}
	}
	return nil
}

func (p judgeParams) count(job step.Known) (rows int, err error) {
	err = p.each(job, func(rowKey, judge.Subject) error {
		rows++
		return nil
	})
	return rows, err
}

func (p judgeParams) asks(ctx context.Context, job step.Known, prepare prepare, f func(ask) error) error {
	next := place(0)
	return p.each(job, func(key rowKey, s judge.Subject) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		req, err := prepare(p.request(s))
		if err != nil {
			return fmt.Errorf("item %s: %w", key.ID, err)
		}
		next++
		return f(ask{next - 1, key, req, p.Selection != nil && p.Selection.heldOut()})
	})
}

func (p judgeParams) request(s judge.Subject) llm.Request {
	var turns []llm.Message
	if p.SystemPrompt != "" {
		turns = append(turns, llm.Message{Role: "system", Content: p.SystemPrompt})
	}
	turns = append(turns, llm.Message{Role: "user", Content: p.Form.Prompt(s)})
	return llm.Request{Messages: turns, Format: p.Form.Format(), Sampling: sampling(p.Sampling, p.Reasoning, 0), Reasoning: control(p.Reasoning)}
}

// each calls f with every answer that is to be judged, in the order of the
// outputs. A failed answer has nothing to judge; an empty one has not either.
func (p judgeParams) each(job step.Known, f func(rowKey, judge.Subject) error) error {
	if p.Selection == nil {
		return p.eachLabel(job, f)
	}
	next, stop := iter.Pull2(p.items(job))
	defer stop()
	var current items.Item
	return eachRow(job, answersInput, func(row evidence.ResponseRow) error {
		if row.Failure != nil {
			return nil
		}
		for current.ID != row.ID {
			it, err, ok := next()
			switch {
			case !ok:
				return fmt.Errorf("there is an answer to item %q, which is not selected", row.ID)
			case err != nil:
				return err
			}
			current = it
		}
		if !judged(&current) {
			return nil
		}
		return f(rowKey{row.ID, row.Sample, row.Repeat}, judge.SubjectOf(&current, row.Text, row.ToolCalls))
	})
}

// judged reports whether a judge scores the item.
func judged(it *items.Item) bool {
	for _, s := range it.Scorer {
		if s.Name == items.JudgeScorer {
			return true
		}
	}
	return false
}

// items are the selected items, as a sequence that can be pulled.
func (p judgeParams) items(job step.Known) iter.Seq2[items.Item, error] {
	return func(yield func(items.Item, error) bool) {
		err := p.Selection.each(job, func(it items.Item) error {
			if !yield(it, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(items.Item{}, err)
		}
	}
}

// errStop ends a reading that has no more readers.
var errStop = errors.New("stopped")

func (p judgeParams) eachLabel(job step.Known, f func(rowKey, judge.Subject) error) error {
	r, err := job.Open(labelsInput)
	if err != nil {
		return err
	}
	defer r.Close()
	return p.Form.ReadLabels("labels", r, func(l judge.Label, _ float64) error {
		return f(rowKey{ID: l.Key()}, l.Subject())
	})
}

func eachRow(job step.Known, input string, f func(evidence.ResponseRow) error) error {
	r, err := job.Open(input)
	if err != nil {
		return err
	}
	defer r.Close()
	return items.ReadRows(input, io.Reader(r), f)
}
