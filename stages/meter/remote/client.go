package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/stages/trace"
)

// Client asks a meter on another machine. Redirects are not followed, no proxy is
// used, and the token is in no error.
type Client struct {
	URL   string // http://host:9151, https://host/prefix
	Token string // "" = none

	RootCAs  *x509.CertPool   // that its certificate may be of; nil = the system's
	Patience time.Duration    // how long the other side may be silent; 0 = 20 s
	Every    time.Duration    // between two exchanges of clocks; 0 = 10 s
	Now      func() time.Time // wall clock; nil = time.Now

	ticks <-chan time.Time // tests: instead of Every
}

// Want says what is to be recorded.
type Want struct {
	GPUs []string // UUIDs or indices, none = all
	Hz   float64  // looks a second, 0 = record.UsualHz
}

// session is a client with its connections.
type session struct {
	Client
	at   *url.URL
	http *http.Client
}

func (c *Client) session() (*session, error) {
	s := &session{Client: *c}
	if s.Patience == 0 {
		s.Patience = 20 * time.Second
	}
	if s.Every == 0 {
		s.Every = 10 * time.Second
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil: // the text of err has the address, and what may be in it
		return nil, errors.New("the meter's address is no URL")
	case u.User != nil:
		return nil, errors.New("the meter's address has a user name or password in it: use a token")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.RawQuery != "", u.Fragment != "":
		return nil, fmt.Errorf("the meter's address %q: want http://host:port or https://host:port", u.Redacted())
	}
	u.Path = strings.TrimRight(u.Path, "/")
	s.at = u
	s.http = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: s.Patience}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.RootCAs},
			TLSHandshakeTimeout:    s.Patience,
			ResponseHeaderTimeout:  s.Patience + 5*time.Second, // the server waits for a driver itself
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        time.Minute,
			DisableCompression:     true,
		},
	}
	return s, nil
}

func (s *session) close() { s.http.CloseIdleConnections() }

// Meter returns the document that says what the meter can read.
func (c *Client) Meter(ctx context.Context) ([]byte, error) {
	s, err := c.session()
	if err != nil {
		return nil, err
	}
	defer s.close()
	ctx, cancel := context.WithTimeout(ctx, 2*s.Patience)
	defer cancel()
	resp, err := s.ask(ctx, http.MethodGet, meterPath, nil, http.StatusOK)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s%s: the answer was cut: %w", s.at, meterPath, bare(err))
	case len(b) > maxDocument:
		return nil, fmt.Errorf("%s%s: an answer of more than %d bytes", s.at, meterPath, maxDocument)
	}
	return b, nil
}

const (
	maxDocument = 4 << 20
	maxSaid     = 4 << 10 // of an answer that refuses
)

// ask sends one request and wants one status. The caller closes the body.
func (s *session) ask(ctx context.Context, method, path string, body any, want int) (*http.Response, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.at.String()+path, bytes.NewReader(text))
	if err != nil {
		return nil, errors.New("the meter's address is no URL")
	}
	if body != nil {
		req.Header.Set("Content-Type", jsonType)
	}
	if s.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.Token)
	}
	req.Header.Set("User-Agent", "cupel")
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", s.at, path, bare(err))
	}
	if resp.StatusCode == want {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, s.refused(resp, path)
}

// bare drops the method and address that package http puts in front.
func bare(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// Refused is an answer that is not what was asked for.
type Refused struct {
	Place  string // address and path
	Status int
	Said   string // by the server, in short; "" = nothing
}

func (r *Refused) Error() string {
	what := fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))
	if r.Status/100 == 3 {
		what += ", and redirects are not followed"
	}
	if r.Said != "" {
		what += ": " + r.Said
	}
	return r.Place + ": " + what
}

func (s *session) refused(resp *http.Response, path string) error {
	out := &Refused{Place: s.at.String() + path, Status: resp.StatusCode}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxSaid)) // a part of it does
	var f failure
	if json.Unmarshal(b, &f) == nil {
		out.Said = s.clean(f.Error)
	}
	return out
}

// clean makes one short line of what a server says, without the token in it.
func (s *session) clean(text string) string {
	if s.Token != "" {
		text = strings.ReplaceAll(text, s.Token, "[token]")
	}
	text = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	return strings.ToValidUTF8(text[:min(len(text), 300)], "")
}

// exchange asks for the other machine's wall clock once.
func (s *session) exchange(ctx context.Context) (o trace.Offset, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	o.Sent = s.Now().UnixNano()
	resp, err := s.ask(ctx, http.MethodGet, clockPath, nil, http.StatusOK)
	if err != nil {
		return o, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxSaid))
	o.Received = s.Now().UnixNano()
	var c clock
	switch {
	case err != nil:
		return o, fmt.Errorf("%s%s: the answer was cut: %w", s.at, clockPath, bare(err))
	case json.Unmarshal(b, &c) != nil, c.UnixNS <= 0:
		return o, fmt.Errorf("%s%s: the answer is no clock", s.at, clockPath)
	case o.Received < o.Sent:
		return o, errors.New("the wall clock of this machine was set back")
	}
	o.There = c.UnixNS
	return o, nil
}

// exchanges is how many are made before and after a recording: the quickest bounds
// the offset best, and the first has a connection to make.
const exchanges = 5

// exchangeSome makes several. It fails when not one succeeds.
func (s *session) exchangeSome(ctx context.Context) (out []trace.Offset, err error) {
	for range exchanges {
		o, e := s.exchange(ctx)
		if e != nil {
			err = e
			if ctx.Err() != nil || len(out) == 0 {
				break
			}
			continue
		}
		out = append(out, o)
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, err
}
