package llm

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

const (
	defaultTimeout  = 10 * time.Minute
	defaultMaxConns = 64
	askTimeout      = 30 * time.Second       // identity, health and detection calls
	drainTimeout    = 250 * time.Millisecond // after the end of a stream, to get the connection back
)

// Client talks to one endpoint. It may be used by many goroutines at once.
type Client struct {
	header    http.Header // sent with every request; holds credentials
	host      string      // Host header, "" = the URL's
	redact    *redactor
	timeout   time.Duration
	maxConns  int
	transport http.RoundTripper
	beside    http.RoundTripper // for calls during a cell: they must not take its connections
	known     atomic.Pointer[known]
	clock     func() time.Time
}

// known is what has been found out so far. It is replaced, never changed.
type known struct {
	where   place
	api     API
	served  string
	aliases []string // other names under which the endpoint said it answers
	engine  string   // as Identity names it
	tokens  int      // the form of /tokenize that was answered, 0 = not asked yet
	unset   bool     // Ollama: the model sets no context of its own
}

// New checks the options and returns a client. It opens no connection: an API
// or a model that is left out is found by the first of Identity, Health and
// Warm, and Prepare refuses to guess before that.
func New(o Options) (*Client, error) {
	where, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	header, host, err := headers(o)
	if err != nil {
		return nil, err
	}
	api := o.API
	if api == "" && where.v1 {
		api = OpenAI
	}
	_, ok := api.protocol()
	switch {
	case api == "":
	case !ok:
		return nil, step.WithHint(fmt.Errorf("api %q is not known", api), "use "+apiNames+", or leave it out")
	case !api.ollama():
		where = where.openAI()
	case where.v1:
		return nil, step.WithHint(fmt.Errorf("endpoint URL: %q ends in /v1, which is not Ollama's own API", o.URL), "drop /v1, or use api: openai")
	}
	if o.Timeout < 0 || o.MaxConns < 0 {
		return nil, fmt.Errorf("time-out %s and connections %d must not be negative", o.Timeout, o.MaxConns)
	}
	c := &Client{
		header: header, host: host, redact: newRedactor(o),
		timeout: o.Timeout, maxConns: o.MaxConns, transport: o.Transport, beside: o.Transport, clock: time.Now,
	}
	if c.timeout == 0 {
		c.timeout = defaultTimeout
	}
	if c.maxConns == 0 {
		c.maxConns = defaultMaxConns
	}
	if c.transport == nil {
		c.transport, c.beside = newTransport(c.maxConns), newTransport(1)
	}
	c.known.Store(&known{where: where, api: api, served: o.Model})
	return c, nil
}

// Served is the model id that requests use; "" until Identity has found the
// only one that an endpoint lists.
func (c *Client) Served() string { return c.known.Load().served }

// API is the wire protocol; "" until it is detected.
func (c *Client) API() API { return c.known.Load().api }

// Close drops idle connections. Requests in flight go on.
func (c *Client) Close() {
	for _, rt := range []http.RoundTripper{c.transport, c.beside} {
		if t, ok := rt.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}

// learn replaces what is known, keeping what change does not touch.
func (c *Client) learn(change func(*known)) {
	for {
		old := c.known.Load()
		next := *old
		change(&next)
		if c.known.CompareAndSwap(old, &next) {
			return
		}
	}
}

// ours are the headers that the client sets itself, because the protocol or
// the timing depends on them.
var ours = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Connection": true, "Content-Length": true,
	"Content-Type": true, "Expect": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// headers checks the extra headers. Errors name a header, never its value.
func headers(o Options) (h http.Header, host string, err error) {
	h = http.Header{"User-Agent": {"cupel"}}
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		canon := http.CanonicalHeaderKey(name)
		value := o.Headers[name]
		switch {
		case !isToken(name):
			return nil, "", fmt.Errorf("header %q: not a header name", name)
		case !isHeaderValue(value):
			return nil, "", fmt.Errorf("header %s: its value holds a control character", canon)
		case ours[canon]:
			return nil, "", fmt.Errorf("header %s: cupel sets it itself", canon)
		case canon == "Host":
			host = value
			continue
		}
		h.Set(canon, value)
	}
	if o.APIKey == "" {
		return h, host, nil
	}
	if h.Get("Authorization") != "" {
		return nil, "", step.WithHint(errors.New("both an API key and an Authorization header are set"), "keep one")
	}
	if !isHeaderValue(o.APIKey) {
		return nil, "", step.WithHint(errors.New("the API key holds a control character"), "look for a line end in its variable")
	}
	h.Set("Authorization", "Bearer "+o.APIKey)
	return h, host, nil
}

func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(marks, c) >= 0) {
			return false
		}
	}
	return s != ""
}

func isHeaderValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
