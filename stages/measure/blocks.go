package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/scrape"
)

// cellInput and scrapesInput are the names under which a metrics step opens
// the outputs of a cell.
func cellInput(cell string, trial int) string { return fmt.Sprintf("%s-t%d", cell, trial) }

func scrapesInput(cell string, trial int) string { return cellInput(cell, trial) + "-server" }

// measured is one block as it was read back.
type measured struct {
	head  evidence.CellHeader
	trial metric.Trial
	notes []string // on the engine's own metrics
}

// says puts the trial before a sentence, and the replica where there are some.
func (b *measured) says(sentence string) string {
	if b.head.Replica > 0 {
		return fmt.Sprintf("trial %d, replica %d: %s", b.head.Trial, b.head.Replica, sentence)
	}
	return fmt.Sprintf("trial %d: %s", b.head.Trial, sentence)
}

// lengths reports whether its prompts were to have a length.
func (b *measured) lengths() bool {
	return len(b.trial.Requests) > 0 && b.trial.Requests[0].AskedPromptTokens > 0
}

// readCell reads the blocks of one cell file and checks that each is whole:
// every row there once. decode is the number of output tokens that a request
// had to have, 0 = any.
func readCell(job step.Job, cell string, trial int, decode int) ([]measured, error) {
	input := cellInput(cell, trial)
	blocks, err := readBlocks(job, input, decode)
	if err == nil {
		err = readScrapes(job, scrapesInput(cell, trial), blocks)
	}
	if err != nil {
		return nil, fmt.Errorf("cell %s: %w", input, err)
	}
	for _, b := range blocks {
		if b.head.Cell != cell || b.head.Trial != trial {
			return nil, fmt.Errorf("cell %s: its header says %s-t%d", input, b.head.Cell, b.head.Trial)
		}
	}
	return blocks, nil
}

func readBlocks(job step.Job, input string, decode int) (out []measured, err error) {
	r, err := job.Open(input)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	for {
		b, err := readBlock(dec, decode)
		if errors.Is(err, io.EOF) && b == nil {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", len(out), err)
		}
		out = append(out, *b)
	}
	if len(out) == 0 {
		return nil, errors.New("there is no block in it")
	}
	return out, nil
}

// mostRows bounds what a header can make the reader allocate.
const mostRows = 1_000_000

// readBlock reads a header and its rows. At the end of the file it returns nil
// and io.EOF.
func readBlock(dec *json.Decoder, decode int) (*measured, error) {
	b := &measured{}
	if err := dec.Decode(&b.head); err == io.EOF {
		return nil, io.EOF
	} else if err != nil {
		return b, fmt.Errorf("header: %w", err)
	}
	h := &b.head
	if h.Requests < 0 || h.Requests > mostRows {
		return b, fmt.Errorf("its header says %d requests", h.Requests)
	}
	b.trial = clientTrial(h, nil)
	var there []bool
	for n := range h.Requests {
		var row evidence.LoadRow
		if err := dec.Decode(&row); err != nil {
			return b, fmt.Errorf("row %d of %d: %w", n, h.Requests, notEOF(err))
		}
		if row.Index < 0 || row.Index >= h.Requests {
			return b, fmt.Errorf("row %d has the index %d of %d", n, row.Index, h.Requests)
		}
		for len(there) <= row.Index {
			there = append(there, false)
			b.trial.Requests = append(b.trial.Requests, metric.Request{})
		}
		if there[row.Index] {
			return b, fmt.Errorf("row %d has the index %d, which was there before", n, row.Index)
		}
		there[row.Index] = true
		b.trial.Requests[row.Index] = request(&row, decode)
	}
	return b, nil
}

// notEOF: a file that ends within a block is torn.
func notEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// request is a row as the metric dictionary takes it.
func request(row *evidence.LoadRow, decode int) metric.Request {
	r := metric.Request{
		Planned: row.Planned, Dispatched: row.Dispatched,
		Written: row.Times.Written, FirstOutput: row.Times.FirstOutput, FirstVisible: row.Times.FirstVisible,
		LastOutput: row.Times.LastOutput, End: row.Times.End,
		ContentChunks: row.ContentChunks, ReasoningChunks: row.ReasonChunks, FirstTokens: row.FirstTokens,
		AskedPromptTokens: row.AskedTokens, Group: row.Group,
		Eligible: (row.Canary == nil || row.Canary.Passed) && (row.Output == nil || row.Output.Passed),
	}
	if len(row.OutputNS) > 0 {
		r.Gaps = row.OutputNS[1:]
	}
	if u := row.Usage; u != nil {
		r.PromptTokens, r.OutputTokens, r.ReasoningTokens, r.CachedTokens = u.PromptTokens, u.OutputTokens, u.ReasoningTokens, u.CachedTokens
	}
	if n := r.OutputTokens; n != nil && (decode > 0 && *n != int64(decode) || row.MaxTokens > 0 && *n > int64(row.MaxTokens)) {
		r.Eligible = false // more than the limit: it was not kept, or the count is wrong
	}
	if s := row.Server; s != nil {
		r.ServerTotal, r.ServerPrefill, r.ServerDecode = s.Total, s.PromptEval, s.Eval
	}
	if row.Answer != nil {
		r.Check = &row.Answer.Passed
	}
	if row.Failure != nil {
		r.FailureClass = string(row.Failure.Class)
	} else if r.FirstVisible < 0 && len(row.OutputNS) > row.ReasonChunks {
		r.FirstVisible = sum(row.OutputNS[:row.ReasonChunks+1])
	}
	return r
}

// sum of the first stamp and the gaps after it is the last of them. An answer
// that consists of tool calls has no visible text; its first call, which comes
// after any reasoning, is what a client waits for.
func sum(ns []int64) (last int64) {
	for _, n := range ns {
		last += n
	}
	return last
}

// readScrapes hands the engine's own metrics to the blocks that they were read
// beside: each block that has some begins with a look before it.
func readScrapes(job step.Job, input string, blocks []measured) error {
	r, err := job.Open(input)
	if err != nil {
		return err
	}
	defer r.Close()
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	var looks []scrape.Look
	at := -1
	flush := func() {
		if at >= 0 {
			blocks[at].summarise(looks)
		}
		looks = nil
	}
	for {
		var row evidence.ScrapeRow
		if err := dec.Decode(&row); err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("metrics of the engine: %w", err)
		}
		if row.Phase == scrape.PhaseBefore {
			flush()
			for at++; at < len(blocks) && blocks[at].head.ServerScrape != ""; at++ {
			}
		}
		if at < 0 || at >= len(blocks) {
			return errors.New("metrics of the engine: they belong to no block")
		}
		if row.Failed != "" {
			blocks[at].notes = append(blocks[at].notes, fmt.Sprintf("the engine's metrics %s it: %s", row.Phase, row.Failed))
			continue
		}
		looks = append(looks, scrape.Look{AtNS: row.AtNS, Phase: row.Phase, Body: []byte(row.Body)})
	}
	flush()
	return nil
}

// summarise keeps what the engine said over the block. What cannot be read is
// no reason to lose the cell: the client's own numbers stand by themselves.
func (b *measured) summarise(looks []scrape.Look) {
	s, notes, err := scrape.Summarise(looks, b.head.Model)
	if err != nil {
		notes = append(notes, err.Error())
	} else {
		b.trial.Server = s
	}
	for _, n := range notes {
		b.notes = append(b.notes, "the engine's metrics: "+n)
	}
	if more := len(b.notes) - mostNotes; more > 0 {
		b.notes = append(b.notes[:mostNotes], fmt.Sprintf("the engine's metrics: %d more notes like these", more))
	}
}

// mostNotes is how many sentences about the engine's metrics a block may add.
const mostNotes = 3
