package score

import "fmt"

// textCalls reads a call, or a list of calls, that the model wrote as its text:
// one JSON value and nothing else. why says what it is instead.
func textCalls(text string) (calls []call, why string) {
	v, err := parseJSON(text)
	if err != nil {
		return nil, "no tool call, and the text is none: " + err.Error()
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if len(list) == 0 || len(list) > maxCalls {
		return nil, fmt.Sprintf("the text is a list of %d calls", len(list))
	}
	for _, e := range list {
		c, why := textCall(e)
		if why != "" {
			return nil, why
		}
		calls = append(calls, c)
	}
	return calls, ""
}

func textCall(v any) (c call, why string) {
	obj, ok := v.(map[string]any)
	if !ok {
		return c, "no tool call, and the text is not an object"
	}
	name, ok := either(obj, "tool", "name")
	if c.name, _ = name.(string); !ok || c.name == "" {
		return c, `the text's object names no tool: want "tool" or "name", not both`
	}
	args, ok := either(obj, "args", "arguments")
	if c.args, _ = args.(map[string]any); !ok || c.args == nil {
		return c, `the text's object has no arguments: want an object "args" or "arguments", not both`
	}
	for _, key := range keys(obj) {
		switch key {
		case "tool", "name", "args", "arguments":
		default:
			return c, fmt.Sprintf("the text's object has the name %q, which a call does not have", clip(key))
		}
	}
	return c, ""
}

// either returns the one of two names that is present.
func either(obj map[string]any, a, b string) (any, bool) {
	x, okX := obj[a]
	y, okY := obj[b]
	if okX {
		return x, !okY
	}
	return y, okY
}
