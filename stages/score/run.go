package score

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
)

// Run is that of a Stage without programs.
func Run(ctx context.Context, job step.Job) error { return Stage{}.Run(ctx, job) }

// Run scores the answers of one generation. Answers are streamed; what is kept
// in memory is a tally for each selected item.
func (s Stage) Run(ctx context.Context, job step.Job) (err error) {
	var p stepParams
	if err := job.Params(&p); err != nil {
		return err
	}
	c, err := NewCompiler(p.Scorers)
	if err != nil {
		return err
	}
	if p.Runtimes != nil {
		c.Use(ctx, s.Programs)
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	b := newBook(p, c)
	if b.verdicts, err = readVerdicts(job, p.Judge); err != nil {
		return err
	}
	if err := withInput(job, inItems, b.readItems); err != nil {
		return err
	}
	err = withInput(job, inResponses, func(r io.Reader) error {
		return items.ReadRows(evidence.OutResponses, r, func(row evidence.ResponseRow) error {
			if b.answers%1000 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
				job.Progress(b.answers, len(b.tallies)*p.Answers, "")
			}
			return b.answer(&row)
		})
	})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // a program that was ended by it has scored nothing
	}
	if err := b.writeScores(job); err != nil {
		return err
	}
	return step.WriteJSON(job, evidence.OutSummary, b.summary())
}

func withInput(job step.Job, name string, f func(io.Reader) error) error {
	r, err := job.Open(name)
	if err != nil {
		return fmt.Errorf("score: input %s: %w", name, err)
	}
	defer r.Close()
	return f(r)
}

func (b *book) writeScores(job step.Job) error {
	w, err := job.Create(evidence.OutScores, "application/jsonl")
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(buffered)
	enc.SetEscapeHTML(false)
	for _, id := range keys(b.tallies) {
		row := b.tallies[id].row(b.params.Answers)
		if b.params.heldOut() {
			withhold(&row, b.tallies[id])
		}
		if err := enc.Encode(row); err != nil {
			w.Close()
			return err
		}
	}
	if err := buffered.Flush(); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}
