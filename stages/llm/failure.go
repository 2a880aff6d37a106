package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sendFailure classifies a request that got no response headers. A kept
// connection that turns out to be dead ends here too, without a first byte:
// nothing was sent again.
func (c *Client) sendFailure(ctx context.Context, err error, firstByte bool) *Failure {
	f := &Failure{Message: c.redact.words(networkWords(err), false)}
	var netErr net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		f.Class = ClassCanceled
	case ctx.Err() != nil || errors.As(err, &netErr) && netErr.Timeout():
		f.Class = ClassTimeout
	case firstByte:
		f.Class = ClassProtocol // something answered, but not in HTTP
	default:
		f.Class, f.NoByte = ClassUnreachable, true
	}
	return f
}

// networkWords is an error's text without the addresses of an established
// connection: its port numbers differ from run to run.
func networkWords(err error) string {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var oe *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no complete answer before the deadline"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed in the middle of the answer"
	case errors.Is(err, io.EOF):
		return "the connection was closed without an answer"
	case errors.As(err, &oe) && oe.Op != "dial":
		return oe.Op + ": " + oe.Err.Error()
	}
	return err.Error()
}

// refusal classifies an answer by its status; nil = 200.
func (c *Client) refusal(resp *http.Response) *Failure {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	f := &Failure{Class: statusClass(resp.StatusCode), Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header)}
	said, cut := readSome(resp.Body)
	words, _ := errorWords(said)
	if to := resp.Header.Get("Location"); f.Class == ClassProtocol && to != "" {
		words, cut = "redirects to "+to+", which is not followed", false
	}
	if words == "" {
		words = "HTTP " + strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode) + quoteSaid(said)
	}
	f.Message = c.redact.words(words, cut)
	return f
}

func statusClass(status int) Class {
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		return ClassOverload
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return ClassAuth
	case status == http.StatusNotFound:
		return ClassNotFound
	case status == http.StatusRequestTimeout:
		return ClassTimeout
	case status >= 500:
		return ClassServerError
	case status >= 400:
		return ClassRejected
	}
	return ClassProtocol
}

// retryAfter reads both forms of the header: seconds, and a date, which is
// taken relative to the answer's own Date so that no clock is involved.
func retryAfter(h http.Header) int {
	const longest = 24 * 60 * 60
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(v); err == nil {
		return min(max(n, 0), longest)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(int((at.Sub(now)+time.Second-1)/time.Second), 0), longest)
}

// readSome reads the beginning of a failed answer; cut = there may be more.
// What arrives before an error is enough.
func readSome(body io.Reader) (said []byte, cut bool) {
	said, err := io.ReadAll(io.LimitReader(body, maxSaid))
	return said, err != nil || len(said) == maxSaid
}

// quoteSaid adds the beginning of an answer to a sentence about it.
func quoteSaid(said []byte) string {
	if s := strings.TrimSpace(string(said)); s != "" {
		return ": " + s
	}
	return ""
}

// errorWords finds the message in an error document: {"error": "..."},
// {"error": {"message": "..."}}, {"object": "error", "message": "..."} and
// {"detail": ...}. It is lenient, as it reads only for people.
func errorWords(doc []byte) (string, bool) {
	var e struct {
		Error   jsontext.Value `json:"error"`
		Object  string         `json:"object"`
		Message string         `json:"message"`
		Detail  jsontext.Value `json:"detail"`
	}
	if json.Unmarshal(doc, &e, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return "", false
	}
	switch {
	case present(e.Error):
		return messageIn(e.Error), true
	case e.Object == "error" && e.Message != "":
		return e.Message, true
	case present(e.Detail):
		return messageIn(e.Detail), true
	}
	return "", false
}

// present reports whether a member was there and not null.
func present(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

// messageIn is the text of an error value: a string, its message member, or
// the value as it is.
func messageIn(v jsontext.Value) string {
	var s string
	if json.Unmarshal(v, &s, jsontext.AllowInvalidUTF8(true)) == nil {
		return s
	}
	var o struct {
		Message string         `json:"message"`
		Type    string         `json:"type"`
		Code    jsontext.Value `json:"code"`
	}
	if json.Unmarshal(v, &o, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) == nil && o.Message != "" {
		return o.Message
	}
	return fmt.Sprintf("%s", v)
}
