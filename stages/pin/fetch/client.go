package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// Options of a client. The zero value is ready.
type Options struct {
	// Notice is told, in one sentence, of each time something is tried again.
	// It may be called from several goroutines.
	Notice func(string)
	// Sleep waits, or returns early with the error of ctx; nil = the clock.
	Sleep func(ctx context.Context, d time.Duration) error
	// Now is the clock that a Retry-After date is read with; nil = time.Now.
	Now func() time.Time
	// Idle ends an answer in which nothing arrives for so long; 0 = a minute.
	Idle time.Duration
}

// Client sends requests. It may be used from several goroutines.
type Client struct {
	o  Options
	rt http.RoundTripper
}

const (
	maxRedirects = 10
	usualIdle    = time.Minute
)

// New returns a client.
func New(o Options) *Client {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Idle == 0 {
		o.Idle = usualIdle
	}
	return &Client{o: o, rt: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		DisableCompression:     true, // what is hashed is what was sent
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    15 * time.Second,
		ResponseHeaderTimeout:  time.Minute,
		MaxResponseHeaderBytes: 1 << 20,
	}}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Request is a GET, or a HEAD.
type Request struct {
	Method string // "" = GET
	URL    string
	Header http.Header // goes along every redirect
	// Authorization goes to the host of URL and to no other.
	Authorization string
}

// Response is what the last server of a chain of redirects answered.
type Response struct {
	Code   int
	Header http.Header // of the last answer
	Origin http.Header // of the last answer by the host that was asked
	Body   io.ReadCloser
	URL    *url.URL
}

// Do sends one request and follows its redirects. An answer other than 2xx is a
// *Status; the caller closes the body of every other one. Do does not try again.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	origin, err := url.Parse(r.URL)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", r.URL, bare(err))
	}
	if err := checkURL(origin, loopback(origin)); err != nil {
		return nil, err
	}
	at, said := origin, http.Header{}
	for range maxRedirects + 1 {
		resp, err := c.one(ctx, r, at, sameHost(at, origin))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place(at), err)
		}
		if sameHost(at, origin) {
			said = resp.Header
		}
		if next := redirect(resp); next != "" {
			discard(resp)
			if at, err = follow(at, next, loopback(origin)); err != nil {
				return nil, err
			}
			continue
		}
		if resp.StatusCode/100 != 2 {
			return nil, newStatus(resp, at, said, r.Authorization)
		}
		return &Response{Code: resp.StatusCode, Header: resp.Header, Origin: said, Body: resp.Body, URL: at}, nil
	}
	return nil, fmt.Errorf("%s redirects more than %d times", place(origin), maxRedirects)
}

// one sends one request to one server.
func (c *Client) one(ctx context.Context, r Request, at *url.URL, own bool) (*http.Response, error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, method, at.String(), nil)
	if err != nil {
		cancel(nil)
		return nil, bare(err)
	}
	for name, values := range r.Header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", "cupel")
	req.Header.Set("Accept-Encoding", "identity")
	if own && r.Authorization != "" {
		req.Header.Set("Authorization", r.Authorization)
	}
	resp, err := c.rt.RoundTrip(req)
	if err != nil {
		cancel(nil)
		return nil, &Broken{bare(err)}
	}
	resp.Body = newWatched(ctx, cancel, resp.Body, c.o.Idle)
	return resp, nil
}

// redirect returns where an answer sends its reader, "" for nowhere.
func redirect(resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location")
	}
	return ""
}

func follow(at *url.URL, location string, plain bool) (*url.URL, error) {
	next, err := at.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("%s redirects to something that is no address", place(at))
	}
	if err := checkURL(next, plain); err != nil {
		return nil, fmt.Errorf("%s redirects: %w", place(at), err)
	}
	return next, nil
}

// CheckBase says why text cannot be the address of a server, nil when it can:
// https, or http on this machine, without credentials, query and fragment.
func CheckBase(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("%q is not an address", text)
	}
	if err := checkURL(u, loopback(u)); err != nil {
		return err
	}
	if u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return fmt.Errorf("%s: a base address has no ? or # part", place(u))
	}
	return nil
}

// checkURL wants https; plain also allows http to this machine.
func checkURL(u *url.URL, plain bool) error {
	switch {
	case u.User != nil:
		return step.WithHint(fmt.Errorf("%s: an address with credentials", place(u)), "name an environment variable that holds them instead")
	case u.Hostname() == "":
		return fmt.Errorf("%q names no host", u.Redacted())
	case u.Scheme == "https", u.Scheme == "http" && plain && loopback(u):
		return nil
	case u.Scheme == "http":
		return step.WithHint(fmt.Errorf("%s: plain http, where anybody on the way can change what is sent", place(u)), "use https; http is for servers on this machine (127.0.0.1)")
	}
	return fmt.Errorf("%s: want an https address", place(u))
}

// loopback reports whether u is on this machine.
func loopback(u *url.URL) bool {
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || host == "localhost"
}

// Loopback reports whether a host, with or without a port, is this machine.
func Loopback(host string) bool { return loopback(&url.URL{Host: host}) }

func sameHost(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"https": "443", "http": "80"}[u.Scheme]
}

// place is an address without its query: that of a CDN is a credential.
func place(u *url.URL) string {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return clip(bare.String(), 300)
}

// bare drops the address that net/http puts in front.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
