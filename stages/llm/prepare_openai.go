package llm

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
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
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role       string         `json:"role"`
	Content    string         `json:"content"`
	ToolCallID string         `json:"tool_call_id,omitempty"`
	ToolCalls  jsontext.Value `json:"tool_calls,omitzero"`
}

func openAIBody(r *Request, p *Prepared) (*chatBody, error) {
	s := &r.Sampling
	b := &chatBody{Model: p.model, Stream: p.stream, Temperature: s.Temperature, TopP: s.TopP,
		Seed: s.Seed, MaxTokens: s.MaxTokens, Stop: s.Stop}
	if p.stream {
		b.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	var err error
	if b.Tools, err = compact(r.Tools, "tools", '['); err != nil {
		return nil, err
	}
	if b.ResponseFormat, err = compact(r.Format, "response format", '{'); err != nil {
		return nil, err
	}
	for i, m := range r.Messages {
		calls, err := compact(m.ToolCalls, fmt.Sprintf("message %d: tool calls", i+1), '[')
		if err != nil {
			return nil, err
		}
		b.Messages = append(b.Messages, chatMessage{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID, ToolCalls: calls})
	}
	return b, nil
}
