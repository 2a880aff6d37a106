package suite

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cupel-dev/cupel/stages/items"
)

// line mirrors items.Item with its shortest forms, in a fixed order of fields.
// What is nil is left out and what is empty is kept: an empty "expect_tool"
// says that no tool may be called.
type line struct {
	ID         string            `json:"id"`
	Strata     map[string]string `json:"strata,omitempty"`
	Input      any               `json:"input"`
	Tools      json.RawMessage   `json:"tools,omitempty"`
	System     string            `json:"system,omitempty"`
	Scorer     any               `json:"scorer,omitempty"`
	Answer     json.RawMessage   `json:"answer,omitempty"`
	Tol        json.RawMessage   `json:"tol,omitempty"`
	Facts      []string          `json:"facts,omitzero"`
	Schema     json.RawMessage   `json:"schema,omitempty"`
	ExpectTool items.Calls       `json:"expect_tool,omitzero"`
	Tests      json.RawMessage   `json:"tests,omitempty"`
	Rubric     string            `json:"rubric,omitempty"`
	Source     string            `json:"source,omitempty"`
	Weight     *float64          `json:"weight,omitempty"`
	Cluster    string            `json:"cluster,omitempty"`
}

// Encode writes an item as one line with its line end. Equal items give equal
// bytes, whatever the order of fields and the white space they were read with.
func Encode(it *items.Item) ([]byte, error) {
	return encodeLine(asLine(it))
}

func asLine(it *items.Item) line {
	return line{
		ID: it.ID, Strata: it.Strata, Input: input(it.Input), Tools: it.Tools, System: it.System,
		Scorer: scorers(it.Scorer), Answer: it.Answer, Tol: it.Tol, Facts: it.Facts, Schema: it.Schema,
		ExpectTool: it.ExpectTool, Tests: it.Tests, Rubric: it.Rubric, Source: it.Source, Weight: it.Weight, Cluster: it.Cluster,
	}
}

func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a line: %w", err)
	}
	return b.Bytes(), nil
}

func input(in items.Input) any {
	if len(in) == 1 && in[0].Role == "user" && in[0].ToolCallID == "" && in[0].ToolCalls == nil && in[0].Media == nil {
		return in[0].Content
	}
	return []items.Message(in)
}

func scorers(all items.Scorers) any {
	out := make([]any, len(all))
	for i, s := range all {
		if out[i] = s; len(s.Params) == 0 {
			out[i] = s.Name
		}
	}
	switch len(out) {
	case 0:
		return nil
	case 1:
		return out[0]
	}
	return out
}
