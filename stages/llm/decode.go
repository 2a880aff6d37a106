package llm

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decoding turns a recording into a Response, after the answer has ended. Every
// event carries the time of its own read, so the output stamps and the text
// cannot disagree. The strict decoder is the one that decides; the usual
// events are read by a scanner that is quicker and does the same, or does
// nothing.
type decoding struct {
	resp     *Response
	stream   bool
	strict   bool                    // never take the scanner's word: the fuzz tests compare
	same     func(model string) bool // is it the model that was asked for
	finished bool                    // a finish reason was seen
	ended    int64                   // time of the protocol's end, never = not seen
	failure  *Failure

	text, reasoning strings.Builder
	calls           toolCalls
	outputRead      int32 // read of the last output event
	events          int   // recorded, an upper bound for the stamps
	scan            scan
	event           usualEvent
	likeness        likeness
}

// decode reads all events up to the first that cannot be read.
func (d *decoding) decode(rec *recording, api API) {
	d.ended = never
	d.events = len(rec.log.events)
	proto, _ := api.protocol() // a prepared request has one
	usual := d.usual(api)
	for _, e := range rec.log.events {
		payload := rec.log.payload(e)
		if rec.frame == frameSSE && isSentinel(payload) {
			d.ended = e.at
			break
		}
		d.resp.Events++
		if e.failed {
			d.failure = inBand(failedWords(payload))
			break
		}
		if usual(payload, e) {
			continue
		}
		if err := proto.read(d, payload, e); err != nil {
			d.refuse(err, e)
			break
		}
		if d.failure != nil || d.ended != never {
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

func inBand(words string) *Failure {
	if strings.TrimSpace(words) == "" {
		words = "an error that says nothing"
	}
	return &Failure{Class: ClassInBandError, Message: words}
}

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
	d.text.WriteString(content)
	d.reasoning.WriteString(reasoning)
	if content != "" || reasoning != "" || tool {
		d.stamp(content != "", reasoning != "", e)
	}
}

// stamp notes when an output event came: one with visible content, with
// reasoning, or with neither but a part of a tool call.
func (d *decoding) stamp(content, reasoning bool, e event) {
	if !d.stream {
		return // the parts of one document did not arrive one after the other
	}
	r := d.resp
	if r.Times.FirstOutput == never {
		r.Times.FirstOutput = e.at
		r.OutputNS = append(make([]int64, 0, d.events), e.at)
	} else {
		r.OutputNS = append(r.OutputNS, e.at-r.Times.LastOutput)
		if e.read == d.outputRead {
			r.Coalesced++
		}
	}
	d.outputRead = e.read
	r.Times.LastOutput = e.at
	if reasoning {
		r.ReasoningChunks++
	}
	if content {
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
