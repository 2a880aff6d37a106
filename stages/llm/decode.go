package llm

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decoding turns a recording into a Response. The strict decoder is the only
// reader of an event's content, so the output stamps and the text cannot
// disagree: every event carries the time of its own read.
type decoding struct {
	resp     *Response
	stream   bool
	same     func(model string) bool // is it the model that was asked for
	finished bool                    // a finish reason was seen
	ended    int64                   // time of the protocol's end, never = not seen
	failure  *Failure

	text, reasoning strings.Builder
	calls           toolCalls
	outputRead      int32 // read of the last output event
}

// decode reads all events up to the first that cannot be read.
func (d *decoding) decode(rec *recording, api API) {
	d.ended = never
	one := d.openAI
	if api == Ollama {
		one = d.ollama
	}
	for _, e := range rec.events {
		payload := rec.payload(e)
		if rec.frame == frameSSE && bytes.Equal(bytes.TrimSpace(payload), sentinel) {
			d.ended = e.at
			break
		}
		d.resp.Events++
		if e.failed {
			d.failure = inBand(failedWords(payload))
			break
		}
		if err := one(payload, e); err != nil {
			d.refuse(err, e)
			break
		}
		if d.failure != nil {
			break
		}
	}
	d.resp.Text, d.resp.Reasoning, d.resp.ToolCalls = d.text.String(), d.reasoning.String(), d.calls.done()
}

// refuse records an event that does not decode. One that the end of the stream
// left open was cut, which the caller finds out by itself.
func (d *decoding) refuse(err error, e event) {
	var semantic *json.SemanticError
	switch {
	case e.open:
		return
	case errors.As(err, &semantic):
		d.failure = &Failure{Class: ClassProtocol, Message: "an event is not of this protocol: " + err.Error()}
	default:
		d.failure = &Failure{Class: ClassInvalidJSON, Message: "an event is not valid JSON: " + err.Error()}
	}
}

func inBand(words string) *Failure { return &Failure{Class: ClassInBandError, Message: words} }

// failedWords is the text of an event that is an error by its name.
func failedWords(payload []byte) string {
	if words, ok := errorWords(payload); ok {
		return words
	}
	if v := jsontext.Value(payload); v.IsValid() {
		return messageIn(v)
	}
	return string(payload)
}

// output takes the deltas of one event and sets the stamps. Whitespace is
// content; empty strings are not output.
func (d *decoding) output(content, reasoning string, tool bool, e event) {
	if content == "" && reasoning == "" && !tool {
		return
	}
	d.text.WriteString(content)
	d.reasoning.WriteString(reasoning)
	if !d.stream {
		return // the parts of one document did not arrive one after the other
	}
	r := d.resp
	if r.Times.FirstOutput == never {
		r.Times.FirstOutput = e.at
	} else if e.read == d.outputRead {
		r.Coalesced++
	}
	d.outputRead = e.read
	r.Times.LastOutput = e.at
	if reasoning != "" {
		r.ReasoningChunks++
	}
	if content != "" {
		r.ContentChunks++
		if r.Times.FirstVisible == never {
			r.Times.FirstVisible = e.at
		}
	}
}

// finish notes a finish reason. Two of them say that the engine gave up.
func (d *decoding) finish(reason string) {
	switch reason {
	case "":
		return
	case "error", "abort":
		d.failure = inBand("finish reason " + reason)
	}
	d.finished = true
	d.resp.FinishReason = reason
}

// model keeps what the answer says of its model. A wrong name stays, so that a
// change in the middle of a stream cannot hide.
func (d *decoding) model(name string) {
	if name != "" && (d.resp.Model == "" || d.same(d.resp.Model)) {
		d.resp.Model = name
	}
}
