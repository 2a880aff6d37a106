package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

const (
	tries    = 6                // of one request without progress
	longest  = 30 * time.Second // wait that nobody asked for
	patience = 5 * time.Minute  // longest wait that a server may ask for
)

// Retry calls f until it succeeds, fails for good, or has failed six times
// without progress. It waits as the server asks, up to five minutes, or 1, 2, 4
// seconds and so on. f reports whether it got further than before, and may be
// called again after any error.
//
// what begins the sentences about it, "" when the errors of f say what they are
// about.
func (c *Client) Retry(ctx context.Context, what string, f func() (progress bool, err error)) error {
	if what != "" {
		what += ": "
	}
	for failed := 0; ; {
		further, err := f()
		if err == nil || ctx.Err() != nil || !Passing(err) {
			return err
		}
		if further {
			failed = 0
		}
		if failed++; failed == tries {
			return fmt.Errorf("%sgiven up after %d tries: %w", what, tries, err)
		}
		wait, err := c.wait(what, err, failed)
		if err != nil {
			return err
		}
		if err := c.o.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// wait says how long, or that it would be too long, and tells of it.
func (c *Client) wait(what string, err error, failed int) (time.Duration, error) {
	wait := min(time.Second<<(failed-1), longest)
	var s *Status
	if errors.As(err, &s) {
		asked, ok := retryAfter(s.Header.Get("Retry-After"), c.o.Now())
		if asked > patience {
			return 0, step.WithHint(fmt.Errorf("%s%w; it asks to wait %v, and more than %v is not waited for", what, err, asked.Round(time.Second), patience), "run the same command later; what is there is kept")
		}
		if ok {
			wait = max(asked, time.Second)
		}
	}
	c.o.Notice(fmt.Sprintf("%s%v; trying again in %v", what, err, wait.Round(time.Second)))
	return wait, nil
}

// retryAfter reads seconds or a date (RFC 9110, 10.2.3).
func retryAfter(s string, now time.Time) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return time.Duration(n) * time.Second, true
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

// Passing reports whether an error may be gone the next time: a server that is
// busy, a connection that broke. What a server says about the request itself,
// a wrong certificate and an unknown host stay.
func Passing(err error) bool {
	var s *Status
	if errors.As(err, &s) {
		switch s.Code {
		case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	var cert *tls.CertificateVerificationError
	var dns *net.DNSError
	if errors.As(err, &cert) || errors.As(err, &dns) && dns.IsNotFound {
		return false
	}
	var b *Broken
	return errors.As(err, &b)
}

// Broken is a connection that did not come about, or broke, or an answer that
// ended early.
type Broken struct{ Err error }

func (b *Broken) Error() string { return b.Err.Error() }
func (b *Broken) Unwrap() error { return b.Err }

// JSON asks for a document of at most limit bytes, and tries again where that
// may help. Links of the answer are in Header.
func (c *Client) JSON(ctx context.Context, r Request, limit int64) (b []byte, resp *Response, err error) {
	r.Header = r.Header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Accept", "application/json")
	err = c.Retry(ctx, "", func() (bool, error) {
		if resp, err = c.Do(ctx, r); err != nil {
			return false, err
		}
		b, err = resp.ReadAll(limit)
		return false, err
	})
	if err != nil {
		return nil, nil, err
	}
	if ct := resp.Header.Get("Content-Type"); strings.HasPrefix(ct, "text/html") {
		return nil, nil, step.WithHint(fmt.Errorf("%s answers with a page for browsers, where JSON was asked for", resp.Place()), "check the address; a proxy or a login page may stand before it")
	}
	return b, resp, nil
}
