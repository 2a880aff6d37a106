package measure

import (
	"bytes"
	"encoding/json"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// row is one answer as it is kept: Response and Timing are encoded lines of
// the outputs, so that a row that comes back from the journal has the same
// bytes as one that never left memory.
type row struct {
	Key      rowKey          `json:"-"`
	Request  step.Digest     `json:"request"`
	Response json.RawMessage `json:"response"`
	Timing   json.RawMessage `json:"timing"`
}

// voidLine is a line of the journal that takes back all lines before it.
var voidLine = []byte(`{"void":true}`)

func newRow(a ask, r *llm.Response, attempts int) (row, error) {
	out := row{Key: a.key, Request: a.req.Digest}
	var err error
	out.Response, err = encode(evidence.ResponseRow{
		ID: a.key.ID, Sample: a.key.Sample, Repeat: a.key.Repeat, HeldOut: a.held, Request: a.req.Digest,
		Text: r.Text, Reasoning: r.Reasoning, ToolCalls: r.ToolCalls,
		Finish: r.FinishReason, Model: r.Model, Usage: r.Usage, Failure: r.Failure,
	})
	if err != nil {
		return out, err
	}
	out.Timing, err = encode(evidence.TimingRow{
		ID: a.key.ID, Sample: a.key.Sample, Repeat: a.key.Repeat, Attempts: attempts,
		Times: r.Times, Server: r.Server, ContentChunks: r.ContentChunks,
	})
	return out, err
}

// journal are the rows that earlier attempts of a step made durable.
type journal map[rowKey]row

// readJournal keeps the last row of each key. A line that it cannot read is a
// row that is asked for again.
func readJournal(job step.Known) (journal, error) {
	kept := journal{}
	err := job.Journal(func(line []byte) error {
		if bytes.Equal(line, voidLine) {
			clear(kept)
			return nil
		}
		if r, ok := parseRow(line); ok {
			kept[r.Key] = r
		}
		return nil
	})
	return kept, err
}

func parseRow(line []byte) (r row, ok bool) {
	if json.Unmarshal(line, &r) != nil {
		return r, false
	}
	same, _, ok := parsePair(r.Response, r.Timing)
	r.Key = same.Key
	return r, ok && same.Request == r.Request
}

// parsePair reads a line of the responses and that of the timings beside it.
func parsePair(response, timing []byte) (r row, x extract, ok bool) {
	var resp evidence.ResponseRow
	var times evidence.TimingRow
	if json.Unmarshal(response, &resp) != nil || json.Unmarshal(timing, &times) != nil {
		return r, x, false
	}
	r = row{Key: rowKey{resp.ID, resp.Sample, resp.Repeat}, Request: resp.Request, Response: response, Timing: timing}
	x = extract{failed: resp.Failure != nil, start: times.Times.StartUnixNS, end: times.Times.End}
	return r, x, r.Key == rowKey{times.ID, times.Sample, times.Repeat} && !r.Request.IsZero()
}

// has reports whether the journal answers a.
func (j journal) has(a ask) bool {
	r, ok := j[a.key]
	return ok && r.Request == a.req.Digest
}

// find returns the row that answers a, if the very same request was answered.
// The row is taken out: it is needed once.
func (j journal) find(a ask) (row, bool) {
	r, ok := j[a.key]
	delete(j, a.key)
	return r, ok && r.Request == a.req.Digest
}
