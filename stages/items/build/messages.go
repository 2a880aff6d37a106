package build

import (
	"encoding/json"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
)

// parseInput reads a text or a list of messages, as the chat, completions and
// responses APIs have them.
func parseInput(v []byte) ([]items.Message, error) {
	if s, ok := text(v); ok {
		return []items.Message{{Role: "user", Content: s}}, nil
	}
	if v[0] != '[' {
		return nil, badInput
	}
	list, err := parseList(v)
	if err != nil {
		return nil, err
	}
	msgs := make([]items.Message, 0, len(list))
	for _, raw := range list {
		m, err := parseMessage(raw)
		if err != nil {
			return nil, err
		}
		if m.Role == "system" && m.Content == "" {
			continue
		}
		msgs = append(msgs, m)
	}
	return msgs, nil
}

func parseMessage(raw []byte) (items.Message, error) {
	var m items.Message
	if raw[0] != '{' {
		return m, badInput
	}
	o, err := parseObject(raw)
	if err != nil {
		return m, err
	}
	if kind, ok := text(o.get("type")); ok && kind != "message" {
		return m, notMessage
	}
	role, ok := text(o.get("role"))
	if !ok {
		return m, badInput
	}
	switch role {
	case "developer":
		role = "system"
	case "system", "user", "assistant", "tool":
	default:
		return m, otherRole
	}
	m.Role = role
	if m.Content, err = content(o.get("content")); err != nil {
		return m, err
	}
	m.ToolCallID, _ = text(o.get("tool_call_id"))
	return m, toolCalls(o.get("tool_calls"), &m)
}

func toolCalls(v []byte, m *items.Message) error {
	if v == nil || string(v) == "[]" {
		return nil
	}
	if v[0] != '[' {
		return badTools
	}
	m.ToolCalls = json.RawMessage(v)
	return nil
}

// content returns a text or the texts of a list of parts, one a line.
func content(v []byte) (string, error) {
	if v == nil {
		return "", nil
	}
	if s, ok := text(v); ok {
		return s, nil
	}
	if v[0] != '[' {
		return "", badInput
	}
	parts, err := parseList(v)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, raw := range parts {
		if raw[0] != '{' {
			return "", badInput
		}
		part, err := parseObject(raw)
		if err != nil {
			return "", err
		}
		s, ok := text(part.get("text"))
		kind, _ := text(part.get("type"))
		if !ok || kind != "" && kind != "text" && kind != "input_text" && kind != "output_text" {
			return "", notText
		}
		texts = append(texts, s)
	}
	return strings.Join(texts, "\n"), nil
}
