package score

import (
	"errors"
	"fmt"

	"github.com/cupel-dev/cupel/stages/items"
)

type toolCallParams struct {
	Partial    bool `json:"partial" doc:"the value is the share of calls and arguments that are right, instead of all or nothing"`
	Order      bool `json:"order" doc:"calls must come in the order in which they are expected"`
	ExtraCalls bool `json:"extra_calls" doc:"calls that are not expected do not count against the answer"`
	ExtraArgs  bool `json:"extra_args" doc:"arguments that are not expected do not count against a call"`
	Sets       bool `json:"sets" doc:"the order of array elements in arguments does not matter"`
	Trim       bool `json:"trim" doc:"white space at the ends of string arguments does not count"`
	IgnoreCase bool `json:"ignore_case" doc:"case does not count in string arguments"`
	Text       bool `json:"text" doc:"without tool calls, the text may hold the call as JSON: {\"tool\" or \"name\", \"args\" or \"arguments\"}"`
}

var toolCall = define("tool_call", 1,
	`1 when the calls are those of "expect_tool": names and arguments by value, each expected call paired with one of the answer so that most fits`,
	toolCallParams{Text: true}, buildToolCall)

// maxCalls bounds the calls of one answer that are looked at.
const maxCalls = 128

// call is a tool call with its arguments parsed; nil args: any will do.
type call struct {
	name string
	args map[string]any
	bad  string // why the arguments cannot be read
}

func buildToolCall(p toolCallParams, it *items.Item, _ *env) (Func, error) {
	if it.ExpectTool == nil {
		return nil, errors.New(`the item has no "expect_tool"; an empty list says that no tool may be called`)
	}
	if len(it.ExpectTool) > maxCalls {
		return nil, fmt.Errorf(`"expect_tool" lists %d calls, at most %d are allowed`, len(it.ExpectTool), maxCalls)
	}
	want := make([]call, len(it.ExpectTool))
	for i, c := range it.ExpectTool {
		want[i].name = c.Name
		if c.Arguments == nil {
			continue
		}
		var bad string
		if want[i].args, bad = parseArguments(string(c.Arguments)); bad != "" {
			return nil, fmt.Errorf(`"expect_tool": arguments of %s: %s`, c.Name, bad)
		}
	}
	cmp := comparer{p, equality{sets: p.Sets, trim: p.Trim, fold: p.IgnoreCase}}
	return func(out Output) (float64, string, error) {
		got, why := p.calls(out, len(want) > 0)
		if why != "" {
			return 0, why, nil
		}
		value, reason := cmp.compare(got, want)
		return value, reason, nil
	}, nil
}

// calls returns the calls of an answer; why is set when there are none to
// compare although some are needed.
func (p toolCallParams) calls(out Output, needed bool) (got []call, why string) {
	if len(out.ToolCalls) > maxCalls {
		return nil, fmt.Sprintf("%d tool calls, more than the %d that are looked at", len(out.ToolCalls), maxCalls)
	}
	for _, tc := range out.ToolCalls {
		c := call{name: tc.Name}
		c.args, c.bad = parseArguments(tc.Arguments)
		got = append(got, c)
	}
	if len(got) > 0 || !p.Text {
		return got, ""
	}
	fromText, why := textCalls(out.Text)
	if why != "" && !needed {
		return nil, "" // prose is what is expected
	}
	return fromText, why
}

// parseArguments reads a JSON object; no text at all is an empty one, which is
// how some servers send a call without arguments.
func parseArguments(text string) (args map[string]any, bad string) {
	if text == "" {
		return map[string]any{}, ""
	}
	v, err := parseJSON(text)
	if err != nil {
		return nil, "arguments are " + err.Error()
	}
	args, ok := v.(map[string]any)
	if !ok {
		return nil, "arguments are not an object"
	}
	return args, ""
}
