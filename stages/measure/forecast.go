package measure

import (
	"context"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
)

// Forecast implements step.Forecaster: the rows that neither the journal nor an
// earlier set has. Requests are prepared as for the endpoint that the pin
// describes, so that their digests are those that will be sent.
func (g Generate) Forecast(job step.Known) (step.Cost, string, error) {
	var p generateParams
	if err := job.Params(&p); err != nil {
		return step.Cost{}, "", err
	}
	if err := p.check(); err != nil {
		return step.Cost{}, "", err
	}
	return forecast(job, p, sampling(p.Sampling, p.Reasoning, 0).MaxTokens)
}

// Forecast implements step.Forecaster: it can tell once the answers are there.
func (j Judge) Forecast(job step.Known) (step.Cost, string, error) {
	var p judgeParams
	if err := job.Params(&p); err != nil {
		return step.Cost{}, "", err
	}
	return forecast(job, p, sampling(p.Sampling, p.Reasoning, 0).MaxTokens)
}

func forecast(job step.Known, q questions, tokens int) (step.Cost, string, error) {
	fail := func(err error) (step.Cost, string, error) { return step.Cost{}, "", err }
	asked, err := q.count(job)
	if err != nil {
		return fail(err)
	}
	kept, err := readJournal(job)
	if err != nil {
		return fail(err)
	}
	note := ""
	if len(kept) > 0 || len(job.Earlier()) > 0 {
		doc, err := pin.Read(job)
		if err != nil {
			return fail(err)
		}
		if doc.Observed.ServedCut { // which requests were answered cannot be told
			return step.Cost{Requests: asked, Tokens: asked * tokens}, note, nil
		}
		prepare := llm.PrepareFor(doc.Observed)
		earlier, err := takeOver(context.Background(), job, q, prepare, kept)
		if err != nil {
			return fail(err)
		}
		asked = 0
		err = q.asks(context.Background(), job, prepare, func(a ask) error {
			if _, taken := earlier.rows[a.key]; !taken && !kept.has(a) {
				asked++
			}
			return nil
		})
		if err != nil {
			return fail(err)
		}
		if len(earlier.rows) > 0 {
			note = earlier.note(asked)
		}
	}
	return step.Cost{Requests: asked, Tokens: asked * tokens, Exact: true}, note, nil
}
