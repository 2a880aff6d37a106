// Package fetch gets one page over https, because somebody asked for it by name:
// never while a campaign runs. It follows few redirects, reads a bounded number of
// bytes in a bounded time, uses no proxy, and connects to public addresses only:
// every address is looked at when it is dialled, so a name that points into a
// private network gives nothing.
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
	"syscall"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// Limits of one fetch.
const (
	MaxBytes     = 16 << 20 // after decompression
	Timeout      = 30 * time.Second
	MaxRedirects = 5
)

// Page is what was fetched.
type Page struct {
	FinalURL    string // that answered, after redirects
	ContentType string
	Bytes       []byte
}

// Client fetches. The zero value is what the command uses; the fields are for
// tests, which have a server on loopback.
type Client struct {
	allow     func(netip.Addr) error // nil = public
	transport *http.Transport        // nil = a new one
	maxBytes  int64                  // 0 = MaxBytes
}

// Get fetches one page. An error that is marked step.ErrOutside is the outside's;
// others are the URL's.
func (c Client) Get(ctx context.Context, address string) (Page, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Page{}, fmt.Errorf("%q is no URL", address)
	}
	if err := admit(u); err != nil {
		return Page{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, err
	}
	req.Header.Set("User-Agent", "cupel")
	req.Header.Set("Accept", "text/html, text/markdown, text/csv, application/json, text/plain")
	resp, err := c.client().Do(req)
	if err != nil {
		return Page{}, outside(u, err)
	}
	defer resp.Body.Close()
	return c.read(u, resp)
}

// admit wants https, a host and no credentials.
func admit(u *url.URL) error {
	switch {
	case u.Scheme != "https":
		return step.WithHint(fmt.Errorf("%s: only https is fetched", u.Redacted()), "save the page yourself and import the file")
	case u.Hostname() == "":
		return fmt.Errorf("%s: there is no host in it", u.Redacted())
	case u.User != nil:
		return step.WithHint(fmt.Errorf("%s: it holds credentials", u.Redacted()), "they would be kept in source.json; save the page yourself and import the file")
	}
	return nil
}

var errRedirects = fmt.Errorf("more than %d redirects", MaxRedirects)

func (c Client) client() *http.Client {
	t := c.transport
	if t == nil {
		t = new(http.Transport)
	}
	t.Proxy = nil // a proxy would be dialled in the place of the host
	t.DialContext = c.dialer().DialContext
	t.TLSHandshakeTimeout = 10 * time.Second
	t.DisableKeepAlives = true
	t.MaxResponseHeaderBytes = 1 << 20
	return &http.Client{Transport: t, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > MaxRedirects {
			return errRedirects
		}
		return admit(req.URL)
	}}
}

// dialer looks at the address that is about to be connected to, after the name
// was resolved.
func (c Client) dialer() *net.Dialer {
	allow := c.allow
	if allow == nil {
		allow = public
	}
	return &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return allow(ap.Addr().Unmap())
	}}
}

// reserved are ranges that are neither private nor loopback by name and lead
// nowhere public all the same, or to an IPv4 address that was not looked at.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

var errNotPublic = errors.New("is not a public address")

// public refuses every address that does not lie in the public internet.
func public(a netip.Addr) error {
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.Zone() != "" {
		return fmt.Errorf("%s %w", a, errNotPublic)
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return fmt.Errorf("%s %w", a, errNotPublic)
		}
	}
	return nil
}

func (c Client) read(asked *url.URL, resp *http.Response) (Page, error) {
	if resp.StatusCode != http.StatusOK {
		return Page{}, outside(asked, fmt.Errorf("the answer is %s", resp.Status))
	}
	limit := c.maxBytes
	if limit == 0 {
		limit = MaxBytes
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return Page{}, outside(asked, err)
	}
	if int64(len(b)) > limit {
		return Page{}, step.WithHint(fmt.Errorf("%s: more than %d bytes", asked.Redacted(), limit), "fetch the table itself, such as its CSV, and not the page around it")
	}
	final := *resp.Request.URL
	final.Fragment = ""
	return Page{FinalURL: final.String(), ContentType: strings.TrimSpace(resp.Header.Get("Content-Type")), Bytes: b}, nil
}

// outside words an error of the connection.
func outside(u *url.URL, err error) error {
	hint := "save the page yourself and import the file"
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	if errors.Is(err, errNotPublic) {
		hint = "pages of a private network are saved by hand and imported as files"
	}
	return step.WithHint(step.Mark(step.ErrOutside, fmt.Errorf("%s: %w", u.Redacted(), err)), hint)
}
