package llm

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// responsesEvent is one event of a responses stream. Its type is repeated in
// the event's name, which is not needed.
type responsesEvent struct {
	Type      string         `json:"type"`
	Index     *int64         `json:"output_index"`
	Delta     responsesDelta `json:"delta"`
	Text      jsontext.Value `json:"text"`
	Arguments jsontext.Value `json:"arguments"`
	Logprobs  jsontext.Value `json:"logprobs"`
	Item      *responsesOut  `json:"item"`
	Response  *responsesDoc  `json:"response"`
	Error     jsontext.Value `json:"error"`
	Object    string         `json:"object"`
}

// responsesDelta is a piece of text. Some versions of vLLM wrapped it.
type responsesDelta string

// UnmarshalJSON reads a string, or an object with a content or text member.
func (t *responsesDelta) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() != '{' {
		return json.Unmarshal(b, (*string)(t))
	}
	var o struct {
		Content string `json:"content"`
		Text    string `json:"text"`
	}
	err := json.Unmarshal(b, &o)
	*t = responsesDelta(o.Content + o.Text)
	return err
}

// responses reads one event of the responses API, or the whole answer. The
// terminal event ends the answer: many servers send no [DONE].
func (d *decoding) responses(payload []byte, e event) error {
	if !d.stream {
		return d.wholeResponse(payload, e)
	}
	var v responsesEvent
	if err := json.Unmarshal(payload, &v); err != nil {
		return err
	}
	if v.Type == "error" || v.Type == "response.error" || v.Object == "error" || present(v.Error) {
		d.failure = inBand(failedWords(payload))
		return nil
	}
	switch v.Type {
	case "response.output_text.delta":
		d.output(string(v.Delta), "", false, e)
		d.resp.Logprobs = appendLogprobs(d.resp.Logprobs, v.Logprobs)
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta", "response.reasoning.delta":
		d.output("", string(v.Delta), false, e)
	case "response.function_call_arguments.delta":
		d.callPart(&toolDelta{Index: v.Index, Function: toolFunction{Arguments: quoted(string(v.Delta))}}, e)
	case "response.function_call_arguments.done":
		d.callRest(&toolDelta{Index: v.Index, Function: toolFunction{Arguments: v.Arguments}}, e)
	case "response.output_item.added", "response.output_item.done":
		d.item(&v, e)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		d.lastResponse(&v, e)
	default:
		if v.Response != nil {
			d.model(v.Response.Model)
		}
	}
	return nil
}

// item takes the frame around a tool call: its name at the beginning, and its
// arguments at the end when they had not come in pieces.
func (d *decoding) item(v *responsesEvent, e event) {
	if v.Item == nil || v.Item.Type != "function_call" {
		return
	}
	t := v.Item.call()
	t.Index = v.Index
	if v.Type == "response.output_item.added" {
		t.Function.Arguments = nil
		d.callPart(t, e)
		return
	}
	d.callRest(t, e)
}

func (d *decoding) callPart(t *toolDelta, e event) { d.output("", "", d.calls.add(t), e) }
func (d *decoding) callRest(t *toolDelta, e event) { d.output("", "", d.calls.addRest(t), e) }

func (d *decoding) lastResponse(v *responsesEvent, e event) {
	doc := v.Response
	if doc == nil {
		doc = &responsesDoc{}
	}
	if doc.Status == "" || v.Type != "response.completed" {
		doc.Status = v.Type[len("response."):]
	}
	d.response(doc, e)
}

func quoted(s string) jsontext.Value {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return nil // not UTF-8, which the decoder does not let through
	}
	return b
}
