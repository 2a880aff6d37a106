package llm

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"
)

// Do sends a prepared request once and returns what came back. It returns no
// error: whatever goes wrong is in Response.Failure, together with what had
// arrived. The request ends at the client's time-out or when ctx ends,
// whichever comes first.
func (c *Client) Do(ctx context.Context, p *Prepared) Response {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	x := &exchange{c: c, p: p, ctx: ctx, cancel: cancel}
	x.run()
	x.marks.fill(&x.resp.Times)
	return x.resp
}

// exchange is one request and its answer.
type exchange struct {
	c      *Client
	p      *Prepared
	ctx    context.Context // of this request only
	cancel context.CancelFunc
	stop   error // why ctx had ended when reading stopped
	t0     time.Time
	marks  marks
	resp   Response
}

func (x *exchange) since() int64 { return int64(x.c.clock().Sub(x.t0)) }

func (x *exchange) run() {
	at := x.c.known.Load().where.base
	accept := "application/json"
	if x.p.stream {
		accept = streamType(x.p.api)
	}
	ctx := httptrace.WithClientTrace(x.ctx, x.marks.trace(x.since))
	req, err := x.c.newRequest(ctx, at+x.p.path, x.p.Body, accept)
	x.t0 = x.c.clock()
	x.resp.Times = unstarted(x.t0)
	if err != nil {
		x.fail(ClassUnreachable, err.Error())
		return
	}
	resp, err := x.c.transport.RoundTrip(req)
	if err != nil {
		x.resp.Failure = x.c.sendFailure(x.ctx, err, x.marks.firstByte.Load() != 0)
		return
	}
	x.resp.Times.Header = x.since()
	if x.resp.Failure = x.c.refusal(resp); x.resp.Failure != nil {
		x.endRefused(resp)
		return
	}
	if problem := x.wrongType(resp); problem != "" {
		x.refuseType(resp, problem)
		return
	}
	x.read(resp.Body)
}

// read records the answer, then decodes it.
func (x *exchange) read(body io.ReadCloser) {
	rec := newRecording(x.framing())
	defer rec.release()
	last, err := rec.readAll(body, x.since)
	x.resp.Raw = rec.raw
	x.stop = x.ctx.Err() // before decoding, which takes time of its own
	d := &decoding{resp: &x.resp, stream: x.p.stream, same: x.same}
	d.decode(rec, x.p.api)
	x.conclude(d, rec, last, err)
	if rec.done || err == io.EOF {
		drain(body, x.cancel)
	} else {
		_ = body.Close()
	}
}

func (x *exchange) same(model string) bool { return x.c.sameModel(x.p.model, model) }

func (x *exchange) framing() framing {
	switch {
	case !x.p.stream:
		return frameWhole
	case x.p.api.ollama():
		return frameNDJSON
	}
	return frameSSE
}

func streamType(a API) string {
	if a.ollama() {
		return "application/x-ndjson"
	}
	return "text/event-stream"
}

// wrongType says what is wrong with the answer's form, "" = nothing.
func (x *exchange) wrongType(resp *http.Response) string {
	if e := resp.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return fmt.Sprintf("compresses its answer (%s) though it was not asked to", e)
	}
	got, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case x.p.stream && got == streamType(x.p.api), !x.p.stream && got == "application/json":
		return ""
	case x.p.stream && x.p.api.ollama() && (got == "application/ndjson" || got == "application/jsonl"):
		return ""
	case x.p.stream && got == "application/json":
		return "does not stream: it answered with one JSON document"
	case got == "":
		return "sent no content type"
	}
	want := "application/json"
	if x.p.stream {
		want = streamType(x.p.api)
	}
	return fmt.Sprintf("answered with content type %q, not %s", got, want)
}

// refuseType reports an answer of the wrong form with its own words; an error
// object in it is the better message.
func (x *exchange) refuseType(resp *http.Response, problem string) {
	said, cut := readSome(resp.Body)
	if words, ok := errorWords(said); ok {
		x.resp.Failure = &Failure{Class: ClassInBandError, Status: resp.StatusCode, Message: x.c.redact.words(words, cut)}
	} else {
		x.resp.Failure = &Failure{Class: ClassProtocol, Status: resp.StatusCode,
			Message: x.c.redact.words(problem+quoteSaid(said), cut)}
	}
	x.endRefused(resp)
}

// endRefused gives the connection of an answer without a stream back.
func (x *exchange) endRefused(resp *http.Response) { drain(resp.Body, x.cancel) }

func (x *exchange) fail(class Class, message string) {
	x.resp.Failure = &Failure{Class: class, Message: x.c.redact.words(message, false)}
}
