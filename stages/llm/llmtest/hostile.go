package llmtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/stages/llm"
)

// End is what a hostile server does after its last piece.
type End int

// The ends.
const (
	Close End = iota // an orderly close
	Reset            // a connection reset
	Hold             // nothing more, until the client's deadline passes
)

// Hostile is one answer that a client must read right, or refuse for the
// right reason.
type Hostile struct {
	Name     string
	API      llm.API // "" = OpenAI
	Model    string  // asked for, "" = tiny
	NoStream bool
	NoOutput bool            // a probe of the prompt's length: an empty answer is fine
	Pieces   []string        // the raw HTTP response; in memory each piece is one read
	Pauses   []time.Duration // before each piece, those that are missing are 0
	End      End

	Class     llm.Class // "" = a usable answer
	Says      string    // part of the failure's message
	Text      string
	Reasoning string
	Tools     []llm.ToolCall
	Finish    string
	Tokens    int64  // output tokens, -1 = no usage, or a usage without them
	Usage     string // the whole usage as JSON, "" = not looked at
	Status    int
	Retry     int
	NoByte    bool
	Stamps    *Stamps // in memory, where the pauses are exact; nil = not looked at
}

// Stamps is what a client's clocks and counters must say, in time since
// dispatch.
type Stamps struct {
	Header, FirstOutput, FirstVisible, LastOutput, End time.Duration
	Output                                             []time.Duration // the first, then the gaps
	Coalesced, Events, Content, Reasoning              int
	FirstTokens                                        int
}

// Never is the stamp of what did not happen.
const Never time.Duration = -1

// Slug is the case's name in a URL.
func (h Hostile) Slug() string {
	words := strings.FieldsFunc(strings.ToLower(h.Name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}

// Client returns a client for the answer. rt nil = over TCP to url.
func (h Hostile) Client(tb testing.TB, url string, rt http.RoundTripper) (*llm.Client, *llm.Prepared) {
	tb.Helper()
	api := h.API
	if api == "" {
		api = llm.OpenAI
	}
	model := h.Model
	if model == "" {
		model = "tiny"
	}
	c, err := llm.New(llm.Options{URL: url, API: api, Model: model, APIKey: "sk-very-secret", Headers: map[string]string{"X-Team": "team-secret"}, Transport: rt})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	p, err := c.Prepare(llm.Request{
		Messages: []llm.Message{{Role: "user", Content: "hello"}},
		Sampling: llm.Sampling{TopP: 1, MaxTokens: 8}, NoStream: h.NoStream, NoOutput: h.NoOutput,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return c, p
}

// Check reports all problems of an answer.
func (h Hostile) Check(tb testing.TB, r llm.Response) {
	tb.Helper()
	for _, p := range h.Problems(r) {
		tb.Error(p)
	}
}

// Problems compares an answer with what must come out, stamps aside.
func (h Hostile) Problems(r llm.Response) (out []string) {
	f := r.Failure
	if f == nil {
		f = &llm.Failure{}
	}
	check := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			out = append(out, fmt.Sprintf("%s: %.200q, want %.200q (failure: %q)", what, fmt.Sprint(got), fmt.Sprint(want), f.Message))
		}
	}
	check("class", f.Class, h.Class)
	check("text", r.Text, h.Text)
	check("reasoning", r.Reasoning, h.Reasoning)
	check("tool calls", r.ToolCalls, h.Tools)
	check("finish reason", r.FinishReason, h.Finish)
	check("status", f.Status, h.Status)
	check("retry after", f.RetryAfter, h.Retry)
	check("no byte", f.NoByte, h.NoByte)
	check("output tokens", tokens(r.Usage), h.Tokens)
	if h.Usage != "" {
		u, err := json.Marshal(r.Usage)
		check("usage", string(u), h.Usage)
		check("usage as JSON", err, error(nil))
	}
	check("says "+h.Says, strings.Contains(f.Message, h.Says), true)
	check("message without a secret, of a fair length", !strings.Contains(f.Message, "secret") && len(f.Message) <= 2048 && (f.Class == "" || f.Message != ""), true)
	check("has an end", r.Times.End >= 0, slices.Contains([]llm.Class{"", llm.ClassEmpty, llm.ClassWrongModel}, h.Class))
	check("has a first visible output", r.Times.FirstVisible >= 0, r.Text != "" && !h.NoStream)
	check("has output stamps", len(r.OutputNS) > 0, r.Times.FirstOutput >= 0)
	check("its first output stamp", append(r.OutputNS, r.Times.FirstOutput)[0], r.Times.FirstOutput)
	check("its last output stamp", r.Times.LastOutput, lastStamp(r.OutputNS))
	return out
}

// lastStamp is where the stamps end: the sum of the first and the gaps.
func lastStamp(stamps []int64) (last int64) {
	if len(stamps) == 0 {
		return int64(Never)
	}
	for _, ns := range stamps {
		last += ns
	}
	return last
}

func tokens(u *llm.Usage) int64 {
	if u == nil || u.OutputTokens == nil {
		return -1
	}
	return *u.OutputTokens
}

// Timing compares the clocks and counters of an answer that came with exactly
// the case's reads and pauses.
func (h Hostile) Timing(r llm.Response) (out []string) {
	if h.Stamps == nil {
		return nil
	}
	t := &r.Times
	got := Stamps{Header: time.Duration(t.Header), FirstOutput: time.Duration(t.FirstOutput), FirstVisible: time.Duration(t.FirstVisible),
		LastOutput: time.Duration(t.LastOutput), End: time.Duration(t.End), Coalesced: r.Coalesced, Events: r.Events,
		Content: r.ContentChunks, Reasoning: r.ReasoningChunks, FirstTokens: r.FirstChunkToks}
	for _, ns := range r.OutputNS {
		got.Output = append(got.Output, time.Duration(ns))
	}
	if fmt.Sprint(got) != fmt.Sprint(*h.Stamps) {
		out = append(out, fmt.Sprintf("stamps\n     %+v\nwant %+v", got, *h.Stamps))
	}
	return out
}
