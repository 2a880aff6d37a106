package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// maxAsked bounds an answer about the endpoint itself; /api/show lists every tensor.
const maxAsked = 16 << 20

// ask sends one small, untimed request and returns the JSON document that
// answers it. A nil body means GET.
func (c *Client) ask(ctx context.Context, url string, body []byte) ([]byte, *Failure) {
	return c.page(ctx, c.transport, url, body, jsonPage)
}

// pageKind is what an untimed call expects.
type pageKind struct {
	accept string
	types  []string // content types, the first one for messages
	most   int      // bytes
}

var jsonPage = pageKind{"application/json", []string{"application/json"}, maxAsked}

// page sends one untimed request and returns the whole page that answers it.
func (c *Client) page(ctx context.Context, via http.RoundTripper, url string, body []byte, kind pageKind) ([]byte, *Failure) {
	ctx, cancel := context.WithTimeout(ctx, min(c.timeout, askTimeout))
	defer cancel()
	resp, f := c.openVia(ctx, via, url, body, kind.accept)
	if f != nil {
		return nil, f
	}
	defer resp.Body.Close()
	doc, err := io.ReadAll(io.LimitReader(resp.Body, int64(kind.most)+1))
	switch {
	case err != nil:
		return nil, c.sendFailure(ctx, err, false)
	case len(doc) > kind.most:
		return nil, &Failure{Class: ClassProtocol, Message: fmt.Sprintf("the answer is longer than %d MiB", kind.most>>20)}
	}
	got, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	said := doc[:min(len(doc), maxSaid)]
	refuse := func(what string) ([]byte, *Failure) {
		return nil, &Failure{Class: ClassProtocol, Status: resp.StatusCode, Message: c.redact.words(what+quoteSaid(said), len(said) < len(doc))}
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		said = nil
		return refuse(fmt.Sprintf("compresses its answer (%s) though it was not asked to", e))
	}
	if !slices.Contains(kind.types, got) {
		return refuse(fmt.Sprintf("answered with content type %q, not %s", got, kind.types[0]))
	}
	return doc, nil
}

// open sends a request and returns its answer with the body unread.
func (c *Client) open(ctx context.Context, url string, body []byte) (*http.Response, *Failure) {
	return c.openVia(ctx, c.transport, url, body, "application/json")
}

func (c *Client) openVia(ctx context.Context, via http.RoundTripper, url string, body []byte, accept string) (*http.Response, *Failure) {
	req, err := c.newRequest(ctx, url, body, accept)
	if err != nil {
		return nil, &Failure{Class: ClassUnreachable, Message: c.redact.words(err.Error(), false)}
	}
	resp, err := via.RoundTrip(req)
	if err != nil {
		return nil, c.sendFailure(ctx, err, false)
	}
	if f := c.refusal(resp); f != nil {
		_ = resp.Body.Close()
		return nil, f
	}
	return resp, nil
}

// problem makes an error of a failed call. It wraps step.ErrUnreachable when
// nothing answered and step.ErrOutside when something answered wrongly.
func problem(call string, f *Failure) error {
	mark := step.ErrOutside
	switch f.Class {
	case ClassUnreachable, ClassTimeout:
		mark = step.ErrUnreachable
	case ClassCanceled:
		return fmt.Errorf("%s: %w", call, context.Canceled)
	}
	status := ""
	if f.Status != 0 {
		status = fmt.Sprintf(" (HTTP %d)", f.Status)
	}
	return step.WithHint(step.Mark(mark, fmt.Errorf("%s: %s: %s%s", call, f.Class, f.Message, status)), hintFor(f.Class))
}

func hintFor(c Class) string {
	switch c {
	case ClassUnreachable:
		return "start the server, or correct the url of the binding"
	case ClassTimeout:
		return "see whether the server is overloaded or still loading its model"
	case ClassOverload:
		return "the server is busy or still loading its model: try again later"
	case ClassAuth:
		return "name a variable that holds a valid key in apiKeyEnv of the binding"
	case ClassNotFound:
		return "an OpenAI-compatible url usually ends in /v1, Ollama's has no path"
	case ClassProtocol, ClassInvalidJSON:
		return "see whether the url of the binding is that of an OpenAI-compatible server (usually ending in /v1) or of Ollama"
	}
	return "look at the server's log"
}

// untold reports whether a failed call left open if the page exists.
func (f *Failure) untold() bool {
	switch f.Class {
	case ClassUnreachable, ClassTimeout, ClassCanceled, ClassOverload:
		return true
	}
	return false
}

// badDoc reports an answer that does not decode.
func (c *Client) badDoc(call string, err error) error {
	return problem(call, &Failure{Class: ClassInvalidJSON, Message: c.redact.words(err.Error(), false)})
}

var errNoModel = errors.New("the endpoint lists no model")
