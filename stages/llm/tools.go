package llm

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// toolDelta is a tool call or a part of one.
type toolDelta struct {
	Index    *int64       `json:"index"`
	ID       string       `json:"id"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"` // a string; an object from Ollama and some others
}

// toolDeltas are the parts in one event. Older versions of TGI send a single
// part without a list around it.
type toolDeltas []toolDelta

// UnmarshalJSON reads a list or its only element.
func (t *toolDeltas) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() == '{' {
		*t = make(toolDeltas, 1)
		return json.Unmarshal(b, &(*t)[0])
	}
	return json.Unmarshal(b, (*[]toolDelta)(t))
}

// arguments is the text of the arguments as sent.
func (t *toolDelta) arguments() string {
	var s string
	switch v := t.Function.Arguments; {
	case !present(v):
		return ""
	case v.Kind() == '"' && json.Unmarshal(v, &s) == nil:
		return s
	default:
		return string(v)
	}
}

// toolCalls puts the parts of tool calls together, in order of appearance.
type toolCalls struct {
	calls []*partialCall
	index map[int64]int
}

type partialCall struct {
	id              string
	name, arguments []byte
}

// add takes one part and reports whether it holds output. Parts belong
// together by index; a server that sends none means the last call, unless a
// new id begins.
func (t *toolCalls) add(d *toolDelta) bool {
	c := t.find(d)
	if c.id == "" {
		c.id = d.ID
	}
	if name := d.Function.Name; name != string(c.name) { // some servers repeat it in every part
		c.name = append(c.name, name...)
	}
	args := d.arguments()
	c.arguments = append(c.arguments, args...)
	return d.Function.Name != "" || args != ""
}

// addRest takes a call that is repeated at its end, with its arguments if they
// had not come before.
func (t *toolCalls) addRest(d *toolDelta) bool {
	c := t.find(d)
	if c.id == "" {
		c.id = d.ID
	}
	if d.Function.Name == string(c.name) {
		d.Function.Name = ""
	}
	if len(c.arguments) > 0 {
		d.Function.Arguments = nil
	}
	return t.add(d)
}

// addWhole takes a call that comes in one piece, whatever its index says.
func (t *toolCalls) addWhole(d *toolDelta) {
	t.calls = append(t.calls, &partialCall{id: d.ID, name: []byte(d.Function.Name), arguments: []byte(d.arguments())})
}

func (t *toolCalls) find(d *toolDelta) *partialCall {
	if d.Index != nil {
		if i, ok := t.index[*d.Index]; ok {
			return t.calls[i]
		}
		if t.index == nil {
			t.index = map[int64]int{}
		}
		t.index[*d.Index] = len(t.calls)
	} else if n := len(t.calls); n > 0 && (d.ID == "" || d.ID == t.calls[n-1].id) {
		return t.calls[n-1]
	}
	c := &partialCall{}
	t.calls = append(t.calls, c)
	return c
}

func (t *toolCalls) done() []ToolCall {
	var out []ToolCall
	for _, c := range t.calls {
		if len(c.name) > 0 || len(c.arguments) > 0 {
			out = append(out, ToolCall{ID: c.id, Name: string(c.name), Arguments: string(c.arguments)})
		}
	}
	return out
}
