package llm

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// Sizes of net/http's buffers. A thousand connections have a thousand of each;
// a read buffer holds some twenty events, more than a paced stream ever has
// waiting, and larger pieces of a body pass it by.
const (
	readBuffer  = 4 << 10
	writeBuffer = 4 << 10
)

// newTransport keeps up to conns idle connections and does nothing on its own:
// no proxy, no compression (a compressing proxy may hold events back), no
// HTTP/2, no limit on open connections that would queue requests unseen.
// Redirects are not followed because RoundTrip never follows them.
func newTransport(conns int) *http.Transport {
	var http1 http.Protocols
	http1.SetHTTP1(true)
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: -1} // a probe that gets lost must not end a long prefill
	return &http.Transport{
		DialContext:            dialer.DialContext,
		Protocols:              &http1,
		DisableCompression:     true,
		MaxIdleConns:           conns,
		MaxIdleConnsPerHost:    conns,
		IdleConnTimeout:        4 * time.Second, // below the 5 s after which common servers close
		TLSHandshakeTimeout:    15 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
	}
}

// oneShot is a request body without GetBody: net/http cannot send it a second
// time behind our back when a kept connection turns out to be dead.
type oneShot struct{ *bytes.Reader }

func (oneShot) Close() error { return nil }

// newRequest builds a request: a POST of body, a GET when body is nil.
func (c *Client) newRequest(ctx context.Context, url string, body []byte, accept string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	req.Header.Set("Accept", accept)
	if c.host != "" {
		req.Host = c.host
	}
	if body != nil {
		req.Method, req.Body, req.ContentLength = http.MethodPost, oneShot{bytes.NewReader(body)}, int64(len(body))
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// drain reads what is left of a finished answer, so that its connection can be
// used again, and gives up soon: a server may keep the stream open for good.
func drain(body io.ReadCloser, cancel context.CancelFunc) {
	t := time.AfterFunc(drainTimeout, cancel)
	_, _ = io.CopyN(io.Discard, body, 256<<10) // what it says no longer matters
	t.Stop()
	_ = body.Close()
}
