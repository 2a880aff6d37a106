package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// conclude decides how a read answer ended. readErr is why reading stopped
// (nil at the protocol's end), last the time of the last read.
//
// An answer is complete at [DONE], at Ollama's done:true, or when a finish
// reason was followed by a clean end. A server that neither sends [DONE] nor
// closes is waited for until the deadline; if a finish reason had come, the
// answer is complete then, and it ended with its last event, not with the
// deadline.
func (x *exchange) conclude(d *decoding, rec *recording, last int64, readErr error) {
	end := int64(never)
	switch f := x.stopped(d, rec, readErr); {
	case f != nil:
		x.resp.Failure = f
	case d.ended != never:
		end = d.ended
	case readErr == io.EOF:
		end = last
	default:
		end = rec.log.events[len(rec.log.events)-1].at
	}
	x.resp.Times.End = end
	x.resp.Ended = d.ended != never
	if x.resp.Failure == nil {
		x.resp.Failure = x.unusable()
	}
}

// stopped returns why the answer is not complete, nil = it is.
func (x *exchange) stopped(d *decoding, rec *recording, readErr error) *Failure {
	words := x.c.redact.words
	timedOut := errors.Is(x.stop, context.DeadlineExceeded)
	switch {
	case d.failure != nil:
		d.failure.Message = words(d.failure.Message, false)
		return d.failure
	case rec.err != nil:
		return &Failure{Class: ClassProtocol, Message: rec.err.Error()}
	case d.ended != never:
		return nil
	case d.finished && (readErr == io.EOF || timedOut):
		return nil
	case readErr == io.EOF:
		return x.cut(rec)
	case timedOut:
		return &Failure{Class: ClassTimeout, Message: fmt.Sprintf("the deadline passed after %d events", len(rec.log.events))}
	case x.stop != nil:
		return &Failure{Class: ClassCanceled, Message: "stopped by the caller"}
	}
	return &Failure{Class: ClassCutStream, Message: words(fmt.Sprintf("after %d events: %s", len(rec.log.events), networkWords(readErr)), false)}
}

// cut describes a stream that ended early but in good order.
func (x *exchange) cut(rec *recording) *Failure {
	f := &Failure{Class: ClassCutStream}
	if len(rec.log.events) == 0 {
		f.Message = x.c.redact.words("the answer holds no event"+quoteSaid(rec.beginning()), true)
		return f
	}
	f.Message = fmt.Sprintf("the stream ended after %d events without a finish reason", len(rec.log.events))
	return f
}

// unusable returns why a complete answer cannot be used, nil = it can. A tool
// call is visible output; reasoning alone is not.
func (x *exchange) unusable() *Failure {
	r := &x.resp
	switch {
	case r.Model != "" && !x.same(r.Model):
		return &Failure{Class: ClassWrongModel, Message: x.c.redact.words(fmt.Sprintf("asked for %q, answered by %q", x.p.model, r.Model), false)}
	case r.Text == "" && len(r.ToolCalls) == 0 && !x.p.noOutput:
		return &Failure{Class: ClassEmpty, Message: emptyWords(r)}
	case !r.Times.consistent() || backwards(r.OutputNS):
		return &Failure{Class: ClassInconsistent, Message: fmt.Sprintf("first output %d, first visible %d, last output %d, end %d ns after dispatch",
			r.Times.FirstOutput, r.Times.FirstVisible, r.Times.LastOutput, r.Times.End)}
	}
	return nil
}

func emptyWords(r *Response) string {
	what := "the answer is complete and empty"
	if r.Reasoning != "" {
		what = "the answer is complete and holds reasoning only"
	}
	if r.FinishReason == "" {
		return what
	}
	return fmt.Sprintf("%s (finish reason %q)", what, escape(r.FinishReason, 80))
}

// sameModel reports whether an answer's model is the one that was asked for:
// the name itself, Ollama's name:latest for name, or a name that the endpoint
// gave to the served model when it was asked for its identity.
func (c *Client) sameModel(asked, got string) bool {
	if sameName(asked, got) {
		return true
	}
	k := c.known.Load()
	if !sameName(asked, k.served) {
		return false
	}
	for _, a := range k.aliases {
		if sameName(a, got) {
			return true
		}
	}
	return false
}
