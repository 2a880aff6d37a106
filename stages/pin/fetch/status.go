package fetch

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Status is an answer other than 2xx.
type Status struct {
	Code   int
	Header http.Header
	Origin http.Header // of the last answer by the host that was asked
	Words  string      // what the server said, made safe to print; "" = nothing, or a page
	Where  string      // scheme, host and path
}

// Error says who answered what.
func (s *Status) Error() string {
	text := fmt.Sprintf("%s: %d %s", s.Where, s.Code, http.StatusText(s.Code))
	if s.Words != "" {
		text += " (" + s.Words + ")"
	}
	return text
}

// newStatus reads the beginning of what was said and closes the answer.
func newStatus(resp *http.Response, at *url.URL, origin http.Header, secret string) *Status {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // half of an explanation is better than none
	_ = resp.Body.Close()
	words := string(b)
	if m := resp.Header.Get("X-Error-Message"); m != "" {
		words = m
	} else if strings.HasPrefix(strings.TrimSpace(words), "<") {
		words = "" // a page for browsers
	}
	return &Status{Code: resp.StatusCode, Header: resp.Header, Origin: origin, Words: Words(words, secret), Where: place(at)}
}

// Words makes a server's text safe to print: one line, at most 200 characters,
// nothing that steers a terminal, and without the credential secret, which may
// begin with a scheme such as Bearer.
func Words(s, secret string) string {
	if _, after, ok := strings.Cut(secret, " "); ok {
		secret = after
	}
	if len(secret) >= 4 {
		s = strings.ReplaceAll(s, secret, "[redacted]")
	}
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	return clip(strings.Join(strings.Fields(s), " "), 200)
}

// clip shortens s to n characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
