package llm

import "github.com/go-json-experiment/json"

// generate reads a line of /api/generate. Its context, the numbers of all
// tokens so far, is left alone: it only serves to go on.
func (d *decoding) generate(payload []byte, e event) error {
	var l struct {
		ollamaLine `json:",inline"`
		Response   string      `json:"response"`
		Thinking   string      `json:"thinking"`
		ToolCalls  []toolDelta `json:"tool_calls"`
	}
	if err := json.Unmarshal(payload, &l); err != nil {
		return err
	}
	d.line(&l.ollamaLine, &ollamaMessage{Content: l.Response, Thinking: l.Thinking, ToolCalls: l.ToolCalls}, e)
	return nil
}
