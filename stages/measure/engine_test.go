package measure

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

// engine is an endpoint with a tokenizer of four characters a token, a chat
// template of ten tokens, and one token an event.
type engine struct {
	*pintest.Endpoint
	took  func(inFlight int) time.Duration // of one answer, in the bubble's time; nil = 100 ms
	words func(r llm.Request) string       // the answer; nil = "ok"
	cache func(prompt int64) int64         // tokens of a prompt that it knew; nil = it does not say

	mu       sync.Mutex
	asked    []llm.Request // in order
	at       []time.Time
	inFlight int
	most     int
}

func newEngine() *engine {
	e := &engine{}
	e.Endpoint = endpoint(e.answer)
	return e
}

func tokensOf(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

const templateOf = 10 // tokens

func (e *engine) answer(ctx context.Context, r llm.Request) llm.Response {
	e.mu.Lock()
	e.asked, e.at = append(e.asked, r), append(e.at, time.Now())
	e.inFlight++
	e.most = max(e.most, e.inFlight)
	took := 100 * time.Millisecond
	if e.took != nil {
		took = e.took(e.inFlight)
	}
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.inFlight--
	}()
	select {
	case <-time.After(took): // of the bubble's clock
	case <-ctx.Done():
		return failing(llm.Failure{Class: llm.ClassCanceled})
	}
	text := "ok"
	if e.words != nil {
		text = e.words(r)
	}
	resp := streamed(r, text, took)
	if e.cache != nil {
		n := e.cache(*resp.Usage.PromptTokens)
		resp.Usage.CachedTokens = &n
	}
	return resp
}

// streamed is an answer of one token a word, evenly spread.
func streamed(r llm.Request, text string, took time.Duration) llm.Response {
	p, n := int64(templateOf+tokensOf(r.Messages[len(r.Messages)-1].Content)), int64(len(strings.Fields(text)))
	gap := int64(took) / max(n, 1)
	resp := llm.Response{Text: text, FinishReason: "stop", Usage: &llm.Usage{PromptTokens: &p, OutputTokens: &n}, ContentChunks: int(n),
		Times: llm.Times{FirstOutput: gap, FirstVisible: gap, LastOutput: gap * n, End: int64(took)}}
	for range n {
		resp.OutputNS = append(resp.OutputNS, gap)
	}
	return resp
}

// cellOf runs the one cell of a workload of fp8 and returns its blocks.
func cellOf(t *testing.T, c *spec.Campaign, ep Endpoint, inputs ...string) ([]cellBlock, error) {
	t.Helper()
	return cellOfAttempt(t, c, ep, "", inputs...)
}

// cellOfAttempt is cellOf with the attempt that Cell would draw.
func cellOfAttempt(t *testing.T, c *spec.Campaign, ep Endpoint, attempt string, inputs ...string) ([]cellBlock, error) {
	t.Helper()
	job := cellJob(t, load())
	for _, s := range Steps(c) {
		if s.Kind == KindCell {
			job.S = s
		}
	}
	for i := 0; i+1 < len(inputs); i += 2 {
		job.Inputs[inputs[i]] = []byte(inputs[i+1])
	}
	var err error
	synctest.Test(t, func(t *testing.T) {
		err = Cell{Dial: dial(ep), open: openInBubble, Attempt: func() string { return attempt }}.Run(t.Context(), job)
	})
	if err != nil {
		return nil, err
	}
	return readCellFile(t, job.Output(evidence.OutCell)), nil
}

func must(t *testing.T) func(blocks []cellBlock, err error) []cellBlock {
	return func(blocks []cellBlock, err error) []cellBlock {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return blocks
	}
}
