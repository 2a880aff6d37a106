package preflight

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cupel-dev/cupel/stages/llm"
)

// tool is one that a check offers.
type tool struct {
	name, about, schema string
	compiled            *jsonschema.Schema
}

const citySchema = `{"type":"object","properties":{"city":{"type":"string","minLength":1}},"required":["city"],"additionalProperties":false}`

var (
	weatherTool = newTool("get_weather", "The current weather of one city.", citySchema)
	timeTool    = newTool("get_local_time", "The local time of one city.", citySchema)
)

// offered are the tools of a request: more than one, so that the right one has
// to be chosen.
var offered = []tool{weatherTool, timeTool}

func newTool(name, about, schema string) tool {
	return tool{name, about, schema, mustCompile(schema)}
}

// definitions are the tools in the form of the chat API.
func definitions(tools ...tool) json.RawMessage {
	var parts []string
	for _, t := range tools {
		parts = append(parts, fmt.Sprintf(`{"type":"function","function":{"name":%q,"description":%q,"parameters":%s}}`, t.name, t.about, t.schema))
	}
	return json.RawMessage("[" + strings.Join(parts, ",") + "]")
}

// made says how many calls were made.
func made(n int) string {
	switch n {
	case 0:
		return "no call was made"
	case 1:
		return "one call was made"
	}
	return fmt.Sprintf("%d calls were made", n)
}

// leakMarks show that a call was printed instead of made, or that bytes were
// lost on the way.
var leakMarks = []string{"<<tool", "<|", "function=", "\ufffd"}

// leak says which mark of a broken call stands in the visible text, "" = none.
func leak(text string) string {
	for _, m := range leakMarks {
		if strings.Contains(text, m) {
			return fmt.Sprintf("the visible text holds %q, a piece of a call that was not made", m)
		}
	}
	return ""
}

// callWrong says what is wrong with one call, "" = nothing: the tool is one of
// those offered and its arguments are one JSON value that its schema takes.
func callWrong(c llm.ToolCall, tools []tool) string {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == c.Name })
	if i < 0 {
		return fmt.Sprintf("it calls %q, which was not offered", clip(c.Name, 64))
	}
	return violation(tools[i].compiled, c.Arguments, "the argument object of "+c.Name)
}

// cityOf is the argument of a call that callWrong has passed.
func cityOf(c llm.ToolCall) string {
	var a struct {
		City string `json:"city"`
	}
	_ = json.Unmarshal([]byte(c.Arguments), &a) // valid by the schema
	return a.City
}

// violation says why text is not one JSON value that the schema takes.
func violation(s *jsonschema.Schema, text, what string) string {
	if why := oneValue(text, nil); why != "" {
		return what + strings.TrimPrefix(why, "the answer")
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return what + ": " + err.Error()
	}
	if err := s.Validate(v); err != nil {
		return fmt.Sprintf("%s does not fit the schema: %s", what, firstCause(err))
	}
	return ""
}

// callFinish are the finish reasons of an answer that calls a tool. Ollama's own
// APIs say stop, as of any other answer.
func (s *session) callFinish() []string {
	switch s.pin.Observed.API {
	case llm.Ollama, llm.OllamaGenerate:
		return []string{"tool_calls", "stop"}
	}
	return []string{"tool_calls"}
}

func (s *session) finishWrong(a answer) string {
	if want := s.callFinish(); !slices.Contains(want, a.FinishReason) {
		return fmt.Sprintf("the finish reason is %q, want %s", clip(a.FinishReason, 64), strings.Join(want, " or "))
	}
	return ""
}

// history is an answer's calls as the next turn repeats them.
func history(calls []llm.ToolCall) json.RawMessage {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	out := make([]call, len(calls))
	for i, c := range calls {
		out[i] = call{or(c.ID, fmt.Sprintf("call_%d", i+1)), "function", function{c.Name, c.Arguments}}
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic("preflight: calls are plain text: " + err.Error())
	}
	return b
}
