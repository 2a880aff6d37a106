package llm

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ollamaChat is a request of Ollama's own API. Its stop sequences are left out
// when there are none: an empty list would switch the model's own ones off.
type ollamaChat struct {
	Model    string              `json:"model"`
	Messages []ollamaChatMessage `json:"messages"`
	Stream   bool                `json:"stream"`
	Format   jsontext.Value      `json:"format,omitzero"`
	Tools    jsontext.Value      `json:"tools,omitzero"`
	Options  ollamaOptions       `json:"options"`
}

type ollamaOptions struct {
	Temperature float64  `json:"temperature"`
	TopP        float64  `json:"top_p"`
	Seed        int64    `json:"seed"`
	NumPredict  int      `json:"num_predict"`
	Stop        []string `json:"stop,omitempty"`
}

type ollamaChatMessage struct {
	Role       string           `json:"role"`
	Content    string           `json:"content"`
	ToolCallID string           `json:"tool_call_id,omitempty"`
	ToolCalls  []ollamaToolCall `json:"tool_calls,omitempty"`
}

// ollamaToolCall has its arguments as an object, where OpenAI has a string.
type ollamaToolCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

func ollamaBody(r *Request, p *Prepared) (*ollamaChat, error) {
	s := &r.Sampling
	b := &ollamaChat{Model: p.model, Stream: p.stream, Options: ollamaOptions{
		Temperature: s.Temperature, TopP: s.TopP, Seed: s.Seed, NumPredict: s.MaxTokens, Stop: s.Stop}}
	var err error
	if b.Tools, err = compact(r.Tools, "tools", '['); err != nil {
		return nil, err
	}
	if b.Format, err = ollamaFormat(r.Format); err != nil {
		return nil, err
	}
	for i, m := range r.Messages {
		calls, err := ollamaCalls(m.ToolCalls)
		if err != nil {
			return nil, fmt.Errorf("message %d: tool calls: %w", i+1, err)
		}
		b.Messages = append(b.Messages, ollamaChatMessage{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID, ToolCalls: calls})
	}
	return b, nil
}

// ollamaFormat translates an OpenAI response_format.
func ollamaFormat(raw []byte) (jsontext.Value, error) {
	v, err := compact(raw, "response format", '{')
	if v == nil || err != nil {
		return nil, err
	}
	var f struct {
		Type   string `json:"type"`
		Schema struct {
			Schema jsontext.Value `json:"schema"`
		} `json:"json_schema"`
	}
	if err := json.Unmarshal(v, &f); err != nil {
		return nil, fmt.Errorf("response format: %w", err)
	}
	switch {
	case f.Type == "text":
		return nil, nil
	case f.Type == "json_object":
		return jsontext.Value(`"json"`), nil
	case f.Type == "json_schema" && f.Schema.Schema.Kind() == '{':
		return f.Schema.Schema, nil
	case f.Type == "json_schema":
		return nil, fmt.Errorf("response format: json_schema has no schema object")
	}
	return nil, fmt.Errorf("response format: type %q is none of text, json_object, json_schema", f.Type)
}

func ollamaCalls(raw []byte) ([]ollamaToolCall, error) {
	v, err := compact(raw, "array", '[')
	if v == nil || err != nil {
		return nil, err
	}
	var in []toolDelta
	if err := json.Unmarshal(v, &in); err != nil {
		return nil, err
	}
	out := make([]ollamaToolCall, len(in))
	for i := range in {
		args := jsontext.Value(in[i].arguments())
		if err := args.Compact(); err != nil || args.Kind() != '{' {
			return nil, fmt.Errorf("the arguments of call %d are not a JSON object", i+1)
		}
		out[i].ID, out[i].Function.Name, out[i].Function.Arguments = in[i].ID, in[i].Function.Name, args
	}
	return out, nil
}
