package llm

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// responsesDoc is the object of a response: a whole answer, or the last event
// of a stream.
type responsesDoc struct {
	Model      string         `json:"model"`
	Status     string         `json:"status"`
	Output     []responsesOut `json:"output"`
	Usage      jsontext.Value `json:"usage"`
	Error      jsontext.Value `json:"error"`
	MaxTokens  jsontext.Value `json:"max_output_tokens"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// responsesOut is one item of the output: a message, reasoning or a call.
type responsesOut struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments jsontext.Value  `json:"arguments"`
	Content   []responsesPart `json:"content"`
	Summary   []responsesPart `json:"summary"`
}

type responsesPart struct {
	Type     string         `json:"type"`
	Text     string         `json:"text"`
	Logprobs jsontext.Value `json:"logprobs"`
}

func (o *responsesOut) call() *toolDelta {
	id := o.CallID
	if id == "" {
		id = o.ID
	}
	return &toolDelta{ID: id, Function: toolFunction{Name: o.Name, Arguments: o.Arguments}}
}

func (d *decoding) wholeResponse(payload []byte, e event) error {
	var doc struct {
		responsesDoc `json:",inline"`
		Object       string `json:"object"`
	}
	if err := json.Unmarshal(payload, &doc); err != nil {
		return err
	}
	if doc.Object == "error" {
		d.failure = inBand(failedWords(payload))
		return nil
	}
	d.response(&doc.responsesDoc, e)
	return nil
}

// response ends an answer with its object.
func (d *decoding) response(doc *responsesDoc, e event) {
	switch {
	case present(doc.Error):
		d.failure = inBand(messageIn(doc.Error))
	case doc.Status == "failed" || doc.Status == "cancelled":
		d.failure = inBand("the response's status is " + doc.Status)
	case doc.Status != "" && doc.Status != "completed" && doc.Status != "incomplete":
		d.failure = &Failure{Class: ClassProtocol, Message: fmt.Sprintf("the answer's status is %q", escape(doc.Status, 80))}
	}
	if d.failure != nil {
		return
	}
	d.model(doc.Model)
	d.missing(doc.Output, e)
	if usage := usageOf(doc.Usage, responsesNames); usage != nil {
		d.resp.Usage = usage
	}
	d.finish(doc.finish(len(d.calls.done()) > 0, d.resp.Usage))
	d.finished, d.ended = true, e.at
}

// missing takes from the output what had not come in pieces: everything when
// the answer does not stream.
func (d *decoding) missing(output []responsesOut, e event) {
	text, reasoning, calls := d.text.Len() == 0, d.reasoning.Len() == 0, len(d.calls.done()) == 0
	logprobs := len(d.resp.Logprobs) == 0
	for i := range output {
		o := &output[i]
		switch {
		case o.Type == "function_call" && calls:
			t := o.call()
			d.calls.addWhole(t)
			d.output("", "", true, e)
		case o.Type == "reasoning" && reasoning:
			d.output("", o.reasoning(), false, e)
		case o.Type == "message" && text:
			for _, p := range o.Content {
				if p.Type != "output_text" {
					continue
				}
				d.output(p.Text, "", false, e)
				if logprobs {
					d.resp.Logprobs = appendLogprobs(d.resp.Logprobs, p.Logprobs)
				}
			}
		}
	}
}

// reasoning is the text itself, or else its summary.
func (o *responsesOut) reasoning() string {
	out := ""
	for _, p := range o.Content {
		out += p.Text
	}
	if out != "" {
		return out
	}
	for _, p := range o.Summary {
		out += p.Text
	}
	return out
}

// finish is the reason in the words of the other APIs. Ollama says "completed"
// also when the limit cut the answer: then its own count gives it away. An
// answer that ended by itself exactly there counts as cut.
func (doc *responsesDoc) finish(calls bool, u *Usage) string {
	limit := length(doc.MaxTokens)
	switch reason := doc.Incomplete.Reason; {
	case reason == "max_output_tokens", reason == "max_tokens":
		return "length"
	case reason != "":
		return reason
	case doc.Status == "incomplete":
		return doc.Status
	case limit > 0 && u != nil && u.OutputTokens != nil && *u.OutputTokens >= int64(limit):
		return "length"
	case calls:
		return "tool_calls"
	}
	return "stop"
}
