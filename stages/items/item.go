package items

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Item is one question with its reference. What is absent is nil, which differs
// from empty: an empty list of facts is an error of the item, a missing one is
// not.
type Item struct {
	ID     string            `json:"id"`
	Strata map[string]string `json:"strata,omitempty"` // label -> value, such as task -> extraction
	Input  Input             `json:"input"`
	Tools  json.RawMessage   `json:"tools,omitempty"`  // OpenAI tool array, sent as it stands
	System string            `json:"system,omitempty"` // goes before Input

	Scorer     Scorers         `json:"scorer"`
	Answer     json.RawMessage `json:"answer,omitempty"` // any JSON value; null is a value
	Tol        json.RawMessage `json:"tol,omitempty"`    // absolute tolerance, a number >= 0 as written
	Facts      []string        `json:"facts,omitempty"`
	Schema     json.RawMessage `json:"schema,omitempty"` // JSON Schema: an object or a boolean
	ExpectTool Calls           `json:"expect_tool,omitempty"`
	Tests      json.RawMessage `json:"tests,omitempty"`  // for code: a text, {before, source} or a list of {stdin, stdout}
	Rubric     string          `json:"rubric,omitempty"` // for judge: what a good answer is, over the judge's own

	Source  string   `json:"source,omitempty"` // log | expert | public
	Weight  *float64 `json:"weight,omitempty"` // share of the traffic, > 0
	Cluster string   `json:"cluster,omitempty"`
}

// Message is one turn of a conversation; llm.Message says the same.
type Message struct {
	Role       string          `json:"role"` // system | user | assistant | tool
	Content    string          `json:"content"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
	ToolCalls  json.RawMessage `json:"tool_calls,omitempty"`
	Media      []Media         `json:"media,omitempty"` // of a user, after the text
}

// Turns returns the conversation to send: the item's system text, if there is
// one, and then its input. A candidate's own system prompt is not in it.
func (it *Item) Turns() []Message {
	turns := make([]Message, 0, len(it.Input)+1)
	if it.System != "" {
		turns = append(turns, Message{Role: "system", Content: it.System})
	}
	return append(turns, it.Input...)
}

// Stratum returns the value of a label, "" when the item does not carry it.
func (it *Item) Stratum(label string) string { return it.Strata[label] }

// Input is a conversation; in a file a string (one user message) or a list of
// messages.
type Input []Message

// UnmarshalJSONFrom reads either form.
func (in *Input) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		*in = Input{{Role: "user"}}
		return decodeNext(dec, &(*in)[0].Content)
	}
	return decodeNext(dec, (*[]Message)(in))
}

// Call is a tool call that is expected. Nil Arguments mean that any will do;
// an empty object means that there must be none.
type Call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Calls are the tool calls that are expected together; in a file one object or
// a list. An empty list says that no tool may be called.
type Calls []Call

// UnmarshalJSONFrom reads either form.
func (c *Calls) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '{' {
		*c = make(Calls, 1)
		return decodeNext(dec, &(*c)[0])
	}
	return decodeNext(dec, (*[]Call)(c))
}

// ScorerRef names a scorer, with parameters where the defaults will not do.
type ScorerRef struct {
	Name   string                     `json:"name"`
	Params map[string]json.RawMessage `json:"params,omitempty"`
}

// Scorers are the scorers that must all hold; in a file a name, an object
// {name, params}, or a list of these.
type Scorers []ScorerRef

// UnmarshalJSONFrom reads any of the three forms.
func (s *Scorers) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '[' {
		*s = make(Scorers, 1)
		return (*s)[0].decode(dec)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	*s = Scorers{}
	for dec.PeekKind() != ']' {
		var ref ScorerRef
		if err := ref.decode(dec); err != nil {
			return err
		}
		*s = append(*s, ref)
	}
	_, err := dec.ReadToken()
	return err
}

func (r *ScorerRef) decode(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		return decodeNext(dec, &r.Name)
	}
	return decodeNext(dec, r)
}

// isNull reports whether a field was written as null.
func isNull(v json.RawMessage) bool { return bytes.Equal(v, []byte("null")) }
