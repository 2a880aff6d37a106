package foreign

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/llm"
)

// content is what a message says.
type content struct {
	text, reasoning string
	none            bool // null or absent: not an empty answer
}

// part is one element of a message's content, in the words of the OpenAI and
// the inspect formats.
type part struct {
	Type      string         `json:"type"`
	Text      jsontext.Value `json:"text"`
	Reasoning jsontext.Value `json:"reasoning"`
	Refusal   jsontext.Value `json:"refusal"`
}

// readContent reads a content that is a string or a list of parts. Parts that
// hold no text, such as images, are left out.
func readContent(v jsontext.Value) (content, error) {
	switch {
	case isNull(v):
		return content{none: true}, nil
	case v.Kind() == '"':
		return content{text: text(v)}, nil
	}
	var parts []part
	if _, err := decode(v, &parts); err != nil {
		return content{}, err
	}
	var said, thought strings.Builder
	for _, p := range parts {
		switch p.Type {
		case "text", "output_text":
			said.WriteString(text(p.Text))
		case "refusal":
			said.WriteString(text(p.Refusal))
		case "reasoning":
			thought.WriteString(text(p.Reasoning))
		}
	}
	return content{text: said.String(), reasoning: thought.String(), none: len(parts) == 0}, nil
}

// openAICall is a tool call as chat completions hold it.
type openAICall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

func openAICalls(list []openAICall) []llm.ToolCall {
	var out []llm.ToolCall
	for _, c := range list {
		out = append(out, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: arguments(c.Function.Arguments)})
	}
	return out
}

// arguments are a text that should be JSON, or the JSON itself.
func arguments(v jsontext.Value) string {
	switch {
	case isNull(v):
		return ""
	case v.Kind() == '"':
		return text(v)
	}
	return compact(v)
}
