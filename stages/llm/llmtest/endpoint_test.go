package llmtest

import (
	"context"
	"errors"
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
)

// Every fault of the scripted endpoint shows as its class, in both protocols.
func TestFaults(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	for name, c := range map[string]struct {
		fault Fault
		class llm.Class
		text  string
	}{
		"none":      {Fault{}, "", "a b c"},
		"waited":    {Fault{Wait: closed}, "", "a b c"},
		"status":    {Fault{Status: 429, RetryAfter: "2", Message: "slow"}, llm.ClassOverload, ""},
		"in band":   {Fault{InBand: true, Message: "oom", After: 9}, llm.ClassInBandError, "a b c"},
		"cut":       {Fault{Cut: true, After: 0}, llm.ClassCutStream, ""},
		"no usage":  {Fault{NoUsage: true}, "", "a b c"},
		"empty":     {Fault{Empty: true}, llm.ClassEmpty, ""},
		"reasoning": {Fault{Reasoning: "hm hm"}, "", "a b c"},
		"tool":      {Fault{Empty: true, Tool: &llm.ToolCall{ID: "1", Name: "f", Arguments: "{}"}}, "", ""},
		"model":     {Fault{Model: "huge"}, llm.ClassWrongModel, "a b c"},
	} {
		for _, api := range []llm.API{llm.OpenAI, llm.Ollama} {
			t.Run(name+"/"+string(api), func(t *testing.T) {
				e := New(t, Script{Ollama: "1", Fault: func(int, string) Fault { return c.fault }})
				r := ask(t, e.Client(t, api), t.Context(), "a b c", 8)
				class := llm.Class("")
				if r.Failure != nil {
					class = r.Failure.Class
				}
				if class != c.class || r.Text != c.text || (r.Reasoning != "") != (c.fault.Reasoning != "") || (len(r.ToolCalls) > 0) != (c.fault.Tool != nil) {
					t.Errorf("%+v, failure %+v", r, r.Failure)
				}
				if class == "" && (r.Usage == nil) != c.fault.NoUsage {
					t.Errorf("usage %+v", r.Usage)
				}
			})
		}
	}
}

func ask(tb testing.TB, c *llm.Client, ctx context.Context, prompt string, limit int) llm.Response {
	tb.Helper()
	p, err := c.Prepare(llm.Request{Messages: []llm.Message{{Role: "user", Content: prompt}}, Sampling: llm.Sampling{TopP: 1, MaxTokens: limit}})
	if err != nil {
		tb.Fatal(err)
	}
	return c.Do(ctx, p)
}

// The limit cuts an answer, and the endpoint remembers what it was asked.
func TestLimitAndLog(t *testing.T) {
	e := New(t, Script{Answer: func(p string) string { return "one two three four" }})
	r := ask(t, e.Client(t, llm.OpenAI), t.Context(), "count", 2)
	if r.Text != "one two " || !r.Truncated() || *r.Usage.OutputTokens != 2 {
		t.Errorf("%q %s", r.Text, r.FinishReason)
	}
	if seen := e.Seen(); len(seen) != 1 || seen[0].Prompt != "count" || e.Requests() != 1 || e.MostInFlight() != 1 || e.Connections() != 1 {
		t.Errorf("%+v", seen)
	}
}

// A hanging answer ends with the caller's deadline.
func TestHang(t *testing.T) {
	ctx, expire := WithExpiry(t.Context())
	e := New(t, Script{Fault: func(int, string) Fault { expire(); return Fault{Hang: true, After: 1} }})
	if r := ask(t, e.Client(t, llm.OpenAI), ctx, "a b", 8); r.Failure == nil || r.Failure.Class != llm.ClassTimeout {
		t.Errorf("%+v", r.Failure)
	}
}

func TestWithExpiry(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	ctx, expire := WithExpiry(parent)
	if ctx.Err() != nil {
		t.Error("expired at once")
	}
	expire()
	<-ctx.Done()
	cancel()
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error(ctx.Err())
	}
	ctx, _ = WithExpiry(parent)
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}
