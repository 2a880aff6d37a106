package tinyengine

import (
	"context"
	"errors"
)

// Options are the sampling parameters of one request.
type Options struct {
	MaxTokens   int      // tokens to produce at most; 0: until the context is full
	Temperature float64  // 0: greedy
	TopP        float64  // nucleus, in (0, 1]; 0 means 1
	Seed        uint64   // of the draws when Temperature > 0
	Stop        []string // texts that end the answer and are not part of it

	// OnToken, if set, is called once per token with the text that it made
	// certain, which may be empty. An error ends the request.
	OnToken func(text string) error
}

// Finish reasons.
const (
	FinishStop   = "stop"   // the end token or a stop string
	FinishLength = "length" // MaxTokens or the context
)

// Result is a finished answer.
type Result struct {
	Text             string
	Finish           string
	PromptTokens     int // with BOS and the tags of the chat format
	CompletionTokens int // with the end token if it was produced
}

// Generate answers messages. It computes in the calling goroutine and returns
// the context's error soon after ctx is done. A prompt that does not fit is a
// *ContextError.
func (m *Model) Generate(ctx context.Context, messages []Message, o Options) (Result, error) {
	if len(messages) == 0 {
		return Result{}, errors.New("no messages: at least one is needed")
	}
	prompt, err := m.render(messages)
	if err != nil {
		return Result{}, err
	}
	return m.generate(ctx, prompt, o)
}

func (m *Model) generate(ctx context.Context, prompt []int32, o Options) (Result, error) {
	s := m.sequences.Get().(*sequence)
	defer m.sequences.Put(s)
	s.n = 0
	r := Result{PromptTokens: len(prompt)}
	pick := newSampler(o.Temperature, o.TopP, o.Seed)
	hold := &holdback{stop: o.Stop}
	limit := m.cfg.context - len(prompt)
	if o.MaxTokens > 0 {
		limit = min(limit, o.MaxTokens)
	}
	logits, err := s.extend(ctx, prompt)
	for err == nil {
		id := pick.next(logits)
		r.CompletionTokens++
		if id == m.tok.eos {
			return m.finish(r, FinishStop, hold.rest(), o)
		}
		text, stopped := hold.add(m.tok.text(nil, id))
		if stopped {
			return m.finish(r, FinishStop, text, o)
		}
		if r.CompletionTokens == limit {
			return m.finish(r, FinishLength, text+hold.rest(), o)
		}
		r.Text += text
		if err = notify(o, text); err == nil {
			logits, err = s.extend(ctx, []int32{id})
		}
	}
	return r, err
}

func (m *Model) finish(r Result, why, text string, o Options) (Result, error) {
	r.Finish = why
	r.Text += text
	return r, notify(o, text)
}

func notify(o Options, text string) error {
	if o.OnToken == nil {
		return nil
	}
	return o.OnToken(text)
}
