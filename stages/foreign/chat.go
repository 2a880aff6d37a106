package foreign

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/llm"
)

// completion is the body of an answer of OpenAI's APIs: chat completions,
// completions, and responses.
type completion struct {
	Model   string       `json:"model"`
	Usage   *openAIUsage `json:"usage"`
	Choices []choice     `json:"choices"`

	Output     []outputItem `json:"output"` // of responses
	Status     string       `json:"status"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Error jsontext.Value `json:"error"`
}

type choice struct {
	Text    jsontext.Value `json:"text"` // of completions
	Message *struct {
		Content   jsontext.Value `json:"content"`
		Refusal   jsontext.Value `json:"refusal"`
		Reasoning string         `json:"reasoning"`
		Content2  string         `json:"reasoning_content"`
		ToolCalls []openAICall   `json:"tool_calls"`
	} `json:"message"`
	Finish string `json:"finish_reason"`
}

type outputItem struct {
	Type      string         `json:"type"`
	Content   jsontext.Value `json:"content"`
	Name      string         `json:"name"`
	CallID    string         `json:"call_id"`
	Arguments jsontext.Value `json:"arguments"`
}

// rows are the answers in a body: one for each choice.
func (c *completion) rows(base Row) ([]Row, error) {
	base.Model, base.Usage = c.Model, c.Usage.usage()
	switch {
	case !isNull(c.Error):
		base.Failure = failed(ClassToolError, message(c.Error))
		return []Row{base}, nil
	case c.Output != nil:
		err := base.fromOutput(c)
		return []Row{base}, err
	case len(c.Choices) == 0:
		base.Failure = failed(ClassNoOutput, "the body holds no choice")
		return []Row{base}, nil
	}
	rows := make([]Row, len(c.Choices))
	for i, ch := range c.Choices {
		rows[i] = base
		rows[i].Sample = i
		if i > 0 {
			rows[i].Usage = nil // it is of all choices
		}
		if err := rows[i].fromChoice(ch); err != nil {
			return nil, fmt.Errorf("choice %d: %w", i+1, err)
		}
	}
	return rows, nil
}

func (r *Row) fromChoice(ch choice) error {
	r.Finish = ch.Finish
	if ch.Message == nil {
		r.output(ch.Text, nil)
		return nil
	}
	r.ToolCalls = openAICalls(ch.Message.ToolCalls)
	said, err := readContent(ch.Message.Content)
	if err != nil {
		return err
	}
	r.Text, r.Reasoning = said.text, ch.Message.Reasoning+ch.Message.Content2+said.reasoning
	if said.none {
		r.Text = text(ch.Message.Refusal)
	}
	if said.none && r.Text == "" && r.ToolCalls == nil {
		r.Failure = failed(ClassNoOutput, "the content is null")
	}
	return nil
}

// fromOutput reads the items of the responses API.
func (r *Row) fromOutput(c *completion) error {
	none := true
	for i, it := range c.Output {
		switch it.Type {
		case "message":
			said, err := readContent(it.Content)
			if err != nil {
				return fmt.Errorf("output %d: %w", i+1, err)
			}
			r.Text += said.text
			none = none && said.none
		case "function_call":
			r.ToolCalls = append(r.ToolCalls, llm.ToolCall{ID: it.CallID, Name: it.Name, Arguments: arguments(it.Arguments)})
			none = false
		}
	}
	switch {
	case c.Incomplete.Reason == "max_output_tokens":
		r.Finish = "length"
	case c.Incomplete.Reason != "":
		r.Finish = c.Incomplete.Reason
	case c.Status == "completed":
		r.Finish = "stop"
	}
	if none {
		r.Failure = failed(ClassNoOutput, "the output holds no message")
	}
	return nil
}
