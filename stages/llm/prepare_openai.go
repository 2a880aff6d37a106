package llm

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// chatBody is an OpenAI-compatible request. max_tokens and not
// max_completion_tokens: Ollama ignores the latter and answers without a limit.
type chatBody struct {
	Model          string         `json:"model"`
	Messages       []chatMessage  `json:"messages"`
	Stream         bool           `json:"stream"`
	StreamOptions  *streamOptions `json:"stream_options,omitzero"`
	Temperature    float64        `json:"temperature"`
	TopP           float64        `json:"top_p"`
	Seed           int64          `json:"seed"`
	MaxTokens      int            `json:"max_tokens"`
	Stop           []string       `json:"stop,omitempty"`
	Tools          jsontext.Value `json:"tools,omitzero"`
	ResponseFormat jsontext.Value `json:"response_format,omitzero"`

	TemplateKwargs  *templateKwargs `json:"chat_template_kwargs,omitzero"`
	ReasoningEffort string          `json:"reasoning_effort,omitzero"`
	Logprobs        bool            `json:"logprobs,omitzero"`
	TopLogprobs     int             `json:"top_logprobs,omitzero"`
	IgnoreEOS       bool            `json:"ignore_eos,omitzero"`
	MinTokens       int             `json:"min_tokens,omitzero"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// templateKwargs are given to the chat template of vLLM, SGLang and llama.cpp.
type templateKwargs struct {
	EnableThinking bool `json:"enable_thinking"`
}

type chatMessage struct {
	Role       string         `json:"role"`
	Content    any            `json:"content"` // a string, or parts when there are media
	ToolCallID string         `json:"tool_call_id,omitempty"`
	ToolCalls  jsontext.Value `json:"tool_calls,omitzero"`
}

func chatBodyOf(d *draft) (any, error) {
	s := &d.Sampling
	b := &chatBody{Model: d.model, Stream: d.stream, StreamOptions: d.usageInStream(), Temperature: s.Temperature, TopP: s.TopP,
		Seed: s.Seed, MaxTokens: s.MaxTokens, Stop: s.Stop,
		ReasoningEffort: d.control.Effort, Logprobs: d.Logprobs != 0, TopLogprobs: max(d.Logprobs, 0),
		IgnoreEOS: d.IgnoreEOS, MinTokens: d.minTokens()}
	if t := d.control.Thinking; t != nil {
		b.TemplateKwargs = &templateKwargs{EnableThinking: *t}
	}
	var err error
	if b.Tools, err = compact(d.Tools, "tools", '['); err != nil {
		return nil, err
	}
	if b.ResponseFormat, err = compact(d.Format, "response format", '{'); err != nil {
		return nil, err
	}
	for i, m := range d.Messages {
		calls, err := compact(m.ToolCalls, fmt.Sprintf("message %d: tool calls", i+1), '[')
		if err != nil {
			return nil, err
		}
		b.Messages = append(b.Messages, chatMessage{Role: m.Role, Content: chatContent(m), ToolCallID: m.ToolCallID, ToolCalls: calls})
	}
	return b, nil
}

func (d *draft) usageInStream() *streamOptions {
	if !d.stream {
		return nil
	}
	return &streamOptions{IncludeUsage: true}
}

// minTokens goes with ignore_eos: a model may have more end tokens than the
// one that ignore_eos is about.
func (d *draft) minTokens() int {
	if !d.IgnoreEOS {
		return 0
	}
	return d.Sampling.MaxTokens
}

// completionBody is a request of the older completions API. No template is
// applied to its prompt.
type completionBody struct {
	Model         string         `json:"model"`
	Prompt        string         `json:"prompt"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitzero"`
	Temperature   float64        `json:"temperature"`
	TopP          float64        `json:"top_p"`
	Seed          int64          `json:"seed"`
	MaxTokens     int            `json:"max_tokens"`
	Stop          []string       `json:"stop,omitempty"`
	Logprobs      int            `json:"logprobs,omitzero"`
	IgnoreEOS     bool           `json:"ignore_eos,omitzero"`
	MinTokens     int            `json:"min_tokens,omitzero"`
}

func completionBodyOf(d *draft) (any, error) {
	system, prompt, err := d.bare(OpenAICompletions)
	switch {
	case err != nil:
		return nil, err
	case system != "":
		return nil, step.WithHint(errors.New("a bare prompt has no place for a system message"), "use api: openai")
	case len(d.Format) > 0:
		return nil, step.WithHint(errors.New("the completions API has no response format that every server knows"), "use api: openai")
	}
	s := &d.Sampling
	logprobs := d.Logprobs
	if logprobs < 0 {
		logprobs = 1 // 0 means none to Ollama and llama.cpp, and the chosen token's alone to others
	}
	return &completionBody{Model: d.model, Prompt: prompt, Stream: d.stream, StreamOptions: d.usageInStream(), Temperature: s.Temperature, TopP: s.TopP,
		Seed: s.Seed, MaxTokens: s.MaxTokens, Stop: s.Stop, Logprobs: logprobs, IgnoreEOS: d.IgnoreEOS, MinTokens: d.minTokens()}, nil
}
