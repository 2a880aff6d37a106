package gen

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cupel-dev/cupel/stages/items"
)

// question is an item without what all items of a suite have in common.
type question struct {
	system   string
	input    items.Input
	tools    []tool
	labels   map[string]string
	scorers  items.Scorers
	answer   any // nil = none
	schema   any // nil = none
	calls    items.Calls
	callsSet bool // calls count, also when there are none
}

// ask is one user message.
func ask(format string, args ...any) items.Input {
	return items.Input{{Role: "user", Content: fmt.Sprintf(format, args...)}}
}

// item numbers a question within its task, which becomes its stratum.
func (q question) item(task string, number int) items.Item {
	it := items.Item{
		ID: fmt.Sprintf("%s-%03d", task, number), Strata: map[string]string{"task": task},
		Input: q.input, System: q.system, Scorer: q.scorers, Source: "expert",
	}
	for label, value := range q.labels {
		it.Strata[label] = value
	}
	if q.answer != nil {
		it.Answer = raw(q.answer)
	}
	if q.schema != nil {
		it.Schema = raw(q.schema)
	}
	if len(q.tools) > 0 {
		it.Tools = toolList(q.tools)
	}
	if q.callsSet {
		it.ExpectTool = append(items.Calls{}, q.calls...)
	}
	return it
}

// raw is a value as JSON, with characters as they are and the names of maps in
// alphabetical order.
func raw(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("gen: items are plain data: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

// scorer names one with parameters that differ from its defaults.
func scorer(name string, params map[string]any) items.ScorerRef {
	ref := items.ScorerRef{Name: name}
	for key, value := range params {
		if ref.Params == nil {
			ref.Params = map[string]json.RawMessage{}
		}
		ref.Params[key] = raw(value)
	}
	return ref
}

// The scorers that suites share. Models put a full stop behind a word and JSON
// into a code fence; neither is what these suites are about.
var (
	sameText  = scorer("exact", map[string]any{"ignore_case": true, "ignore_punctuation": true, "collapse_space": true})
	sameBytes = scorer("exact", nil)
	sameJSON  = scorer("json_equal", map[string]any{"extract": true})
	validJSON = scorer("json_schema", map[string]any{"extract": true})
	aNumber   = scorer("numeric", map[string]any{"which": "last"})
	sameCalls = scorer("tool_call", map[string]any{"ignore_case": true, "trim": true})
)

// call is an expected tool call.
func call(name string, args map[string]any) items.Call {
	if args == nil {
		args = map[string]any{}
	}
	return items.Call{Name: name, Arguments: raw(args)}
}

// ordered is a JSON object whose names keep their order.
type ordered []pair

type pair struct {
	name  string
	value any
}

// MarshalJSON writes the pairs as they stand.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(raw(p.name))
		b.WriteByte(':')
		b.Write(raw(p.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
