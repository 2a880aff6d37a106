package llm

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ollamaShared is what both of Ollama's own requests have. truncate and shift
// are always sent as false: Ollama would else cut a long prompt, or drop its
// beginning while it answers, without saying so.
type ollamaShared struct {
	Stream      bool           `json:"stream"`
	Think       jsontext.Value `json:"think,omitzero"`
	Truncate    bool           `json:"truncate"`
	Shift       bool           `json:"shift"`
	Format      jsontext.Value `json:"format,omitzero"`
	Tools       jsontext.Value `json:"tools,omitzero"`
	Logprobs    bool           `json:"logprobs,omitzero"`
	TopLogprobs int            `json:"top_logprobs,omitzero"`
	Options     ollamaOptions  `json:"options"`
}

// ollamaChat is a request of /api/chat.
type ollamaChat struct {
	Model        string              `json:"model"`
	Messages     []ollamaChatMessage `json:"messages"`
	ollamaShared `json:",inline"`
}

// ollamaGenerate is a request of /api/generate. The model's template is
// applied to its prompt.
type ollamaGenerate struct {
	Model        string   `json:"model"`
	System       string   `json:"system,omitzero"`
	Prompt       string   `json:"prompt"`
	Images       []string `json:"images,omitempty"` // base64
	ollamaShared `json:",inline"`
}

// ollamaOptions are the sampling parameters. The stop sequences are left out
// when there are none: an empty list would switch the model's own ones off.
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
	Images     []string         `json:"images,omitempty"` // base64
}

// ollamaToolCall has its arguments as an object, where OpenAI has a string.
type ollamaToolCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

func ollamaChatOf(d *draft) (any, error) {
	shared, err := ollamaSharedOf(d)
	if err != nil {
		return nil, err
	}
	b := &ollamaChat{Model: d.model, ollamaShared: shared}
	for i, m := range d.Messages {
		calls, err := ollamaCalls(m.ToolCalls)
		if err != nil {
			return nil, fmt.Errorf("message %d: tool calls: %w", i+1, err)
		}
		b.Messages = append(b.Messages, ollamaChatMessage{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID, ToolCalls: calls, Images: ollamaImages(m)})
	}
	return b, nil
}

func ollamaGenerateOf(d *draft) (any, error) {
	system, prompt, err := d.bare(OllamaGenerate)
	if err != nil {
		return nil, err
	}
	shared, err := ollamaSharedOf(d)
	if err != nil {
		return nil, err
	}
	images := ollamaImages(d.Messages[len(d.Messages)-1])
	return &ollamaGenerate{Model: d.model, System: system, Prompt: prompt, Images: images, ollamaShared: shared}, nil
}

func ollamaSharedOf(d *draft) (b ollamaShared, err error) {
	s := &d.Sampling
	b = ollamaShared{Stream: d.stream, Think: d.control.think(), Logprobs: d.Logprobs != 0, TopLogprobs: max(d.Logprobs, 0),
		Options: ollamaOptions{Temperature: s.Temperature, TopP: s.TopP, Seed: s.Seed, NumPredict: s.MaxTokens, Stop: s.Stop}}
	if b.Tools, err = compact(d.Tools, "tools", '['); err != nil {
		return b, err
	}
	b.Format, err = ollamaFormat(d.Format)
	return b, err
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
