package llm

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// responsesBody is a request of the responses API. Nothing is to be stored,
// and a prompt that is too long is to be refused and not cut. seed and
// ignore_eos are vLLM's additions.
type responsesBody struct {
	Model       string             `json:"model"`
	Input       []responsesItem    `json:"input"`
	Stream      bool               `json:"stream"`
	Temperature float64            `json:"temperature"`
	TopP        float64            `json:"top_p"`
	Seed        int64              `json:"seed"`
	MaxTokens   int                `json:"max_output_tokens"`
	Store       bool               `json:"store"`
	Truncation  string             `json:"truncation"`
	Tools       []jsontext.Value   `json:"tools,omitempty"`
	Text        *responsesText     `json:"text,omitzero"`
	Reasoning   *responsesThinking `json:"reasoning,omitzero"`
	Include     []string           `json:"include,omitempty"`
	TopLogprobs int                `json:"top_logprobs,omitzero"`
	IgnoreEOS   bool               `json:"ignore_eos,omitzero"`
}

type responsesText struct {
	Format jsontext.Value `json:"format"`
}

type responsesThinking struct {
	Effort string `json:"effort"`
}

// responsesItem is a turn, a tool call of one, or a tool's answer.
type responsesItem struct {
	Role      string  `json:"role,omitzero"`
	Content   any     `json:"content,omitzero"` // a string, or parts when there are media
	Type      string  `json:"type,omitzero"`
	CallID    string  `json:"call_id,omitzero"`
	Name      string  `json:"name,omitzero"`
	Arguments *string `json:"arguments,omitzero"`
	Output    *string `json:"output,omitzero"`
}

func responsesBodyOf(d *draft) (any, error) {
	s := &d.Sampling
	if len(s.Stop) > 0 {
		return nil, step.WithHint(errors.New("the responses API has no stop sequences"), "use api: openai, or drop sampling.stop")
	}
	b := &responsesBody{Model: d.model, Stream: d.stream, Temperature: s.Temperature, TopP: s.TopP, Seed: s.Seed,
		MaxTokens: s.MaxTokens, Truncation: "disabled", TopLogprobs: max(d.Logprobs, 0), IgnoreEOS: d.IgnoreEOS}
	if d.control.Effort != "" {
		b.Reasoning = &responsesThinking{Effort: d.control.Effort}
	}
	if d.Logprobs != 0 {
		b.Include = []string{"message.output_text.logprobs"}
	}
	var err error
	if b.Tools, err = responsesTools(d.Tools); err != nil {
		return nil, err
	}
	if b.Text, err = responsesFormat(d.Format); err != nil {
		return nil, err
	}
	for i, m := range d.Messages {
		items, err := responsesItems(m)
		if err != nil {
			return nil, fmt.Errorf("message %d: tool calls: %w", i+1, err)
		}
		b.Input = append(b.Input, items...)
	}
	return b, nil
}

// responsesItems spreads a message: its calls are items of their own.
func responsesItems(m Message) ([]responsesItem, error) {
	if m.Role == "tool" {
		return []responsesItem{{Type: "function_call_output", CallID: m.ToolCallID, Output: &m.Content}}, nil
	}
	calls, err := compact(m.ToolCalls, "array", '[')
	if err != nil {
		return nil, err
	}
	var out []responsesItem
	if m.Content != "" || calls == nil {
		out = append(out, responsesItem{Role: m.Role, Content: responsesContent(m)})
	}
	if calls == nil {
		return out, nil
	}
	var in []toolDelta
	if err := json.Unmarshal(calls, &in); err != nil {
		return nil, err
	}
	for i := range in {
		args := in[i].arguments()
		out = append(out, responsesItem{Type: "function_call", CallID: in[i].ID, Name: in[i].Function.Name, Arguments: &args})
	}
	return out, nil
}

// responsesTools lifts the members of each "function" up by one level.
func responsesTools(raw []byte) ([]jsontext.Value, error) {
	v, err := compact(raw, "tools", '[')
	if v == nil || err != nil {
		return nil, err
	}
	var in []struct {
		Function jsontext.Value `json:"function"`
	}
	if err := json.Unmarshal(v, &in); err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	out := make([]jsontext.Value, len(in))
	for i, t := range in {
		if out[i] = withType("function", t.Function); out[i] == nil {
			return nil, fmt.Errorf("tools: tool %d has no function", i+1)
		}
	}
	return out, nil
}

// responsesFormat turns {"type":"json_schema","json_schema":{...}} into its
// form with one level less; other formats are the same in both APIs.
func responsesFormat(raw []byte) (*responsesText, error) {
	v, err := compact(raw, "response format", '{')
	if v == nil || err != nil {
		return nil, err
	}
	var f struct {
		Type   string         `json:"type"`
		Schema jsontext.Value `json:"json_schema"`
	}
	if err := json.Unmarshal(v, &f); err != nil {
		return nil, fmt.Errorf("response format: %w", err)
	}
	if f.Type == "json_schema" {
		if v = withType(f.Type, f.Schema); v == nil {
			return nil, errors.New("response format: json_schema has no schema object")
		}
	}
	return &responsesText{Format: v}, nil
}

// withType puts a type member in front of a compact object's own; nil = it is
// not an object with members.
func withType(name string, object jsontext.Value) jsontext.Value {
	if object.Kind() != '{' || len(object) <= len("{}") {
		return nil
	}
	return append(jsontext.Value(`{"type":"`+name+`",`), object[1:]...)
}
