package measure

import (
	"context"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/measure/dispatch"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
	"github.com/cupel-dev/cupel/stages/metric"
)

// take keeps the row of a request that ended.
func (t *timed) take(ctx context.Context, b *block, r dispatch.Result, ask prompts.Prompt) {
	if ctx.Err() != nil {
		return // the block is given up
	}
	switch f := r.Response.Failure; {
	case f == nil:
		t.ok++
	case f.Class.Outside():
		t.outside.add(f)
	}
	row := b.row(r, ask)
	if b.keep {
		for len(t.kept) <= row.Index { // in the order of the plan, as they are read back
			t.kept = append(t.kept, metric.Request{})
		}
		t.kept[row.Index] = request(row, 0)
	}
	line, err := encode(row)
	if err != nil {
		t.rows.err = err
		return
	}
	t.rows.put(line)
}

// row holds an answer against what it was asked for. A failed request has
// broken no contract: there is no answer to look at.
func (b *block) row(r dispatch.Result, ask prompts.Prompt) *evidence.LoadRow {
	a := &r.Response
	row := &evidence.LoadRow{
		Index: r.Index, Planned: r.Planned, Dispatched: r.Dispatched, Times: a.Times, OutputNS: a.OutputNS,
		Server: a.Server, Usage: a.Usage, Finish: a.FinishReason, Failure: quiet(a.Failure),
		ContentChunks: a.ContentChunks, ReasonChunks: a.ReasoningChunks, FirstTokens: a.FirstChunkToks, Coalesced: a.Coalesced,
		PromptWords: ask.Length, AskedTokens: ask.AskedTokens, Group: ask.Group,
		MaxTokens: b.request(r.Index, ask).Sampling.MaxTokens,
	}
	if a.Failure == nil && b.judge != nil {
		b.judge(row, a.Text, ask)
	}
	return row
}

// quiet drops the words of a failure that are the client's own: they name
// addresses. The class stays, and what an endpoint said.
func quiet(f *llm.Failure) *llm.Failure {
	if f == nil || f.Status != 0 || !f.Class.Outside() {
		return f
	}
	q := *f
	q.Message = ""
	if q.Class == llm.ClassCanceled {
		q.Message = "the sending window had ended"
	}
	return &q
}
