package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestCredentials: what is sent to one server is sent to no other, also when a
// redirect comes back.
func TestCredentials(t *testing.T) {
	var own, other *httptest.Server
	got := map[string]string{}
	note := func(name string, r *http.Request) { got[name+r.URL.Path] = r.Header.Get("Authorization") }
	own = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note("own", r)
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, "/b", http.StatusFound)
		case "/b":
			w.Header().Set("X-Repo-Commit", "b")
			http.Redirect(w, r, other.URL+"/c?Signature=secret", http.StatusTemporaryRedirect)
		}
	}))
	defer own.Close()
	other = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note("other", r)
		w.Header().Set("X-Repo-Commit", "forged")
		fmt.Fprint(w, "content")
	}))
	defer other.Close()
	resp, err := New(Options{}).Do(t.Context(), Request{URL: own.URL + "/a", Authorization: "Bearer secret", Header: http.Header{"Range": {"bytes=0-"}}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := resp.ReadAll(100)
	if string(b) != "content" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if got["own/a"] != "Bearer secret" || got["own/b"] != "Bearer secret" || got["other/c"] != "" {
		t.Errorf("%v", got)
	}
	if resp.Origin.Get("X-Repo-Commit") != "b" || strings.Contains(resp.Place(), "Signature") {
		t.Errorf("%v %s", resp.Origin, resp.Place())
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://hub.example.com":       "",
		"https://hub.example.com/sub":   "",
		"http://127.0.0.1:8080":         "",
		"http://[::1]:8080":             "",
		"http://localhost":              "",
		"http://hub.example.com":        "plain http",
		"http://127.0.0.1.example.com":  "plain http",
		"https://u:p@hub.example.com":   "an address with credentials",
		"ftp://hub.example.com":         "want an https address",
		"hub.example.com":               "names no host",
		"https://":                      "names no host",
		"https://hub.example.com?x=1":   "no ? or # part",
		"https://hub.example.com/#here": "no ? or # part",
		"https://hub\x00":               "is not an address",
	} {
		err := CheckBase(address)
		if (want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "u:p")) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}

// TestRedirects: https leads to https, and only a server on this machine leads
// to plain http on this machine.
func TestRedirects(t *testing.T) {
	hub, local := mustParse(t, "https://hub.example.com/a/b"), mustParse(t, "http://127.0.0.1:8080/a")
	for _, c := range []struct {
		from     *url.URL
		location string
		plain    bool
		want     string // "" = refused
	}{
		{hub, "/c?x=1", false, "https://hub.example.com/c?x=1"},
		{hub, "https://cdn.example.com/c", false, "https://cdn.example.com/c"},
		{hub, "//cdn.example.com/c", false, "https://cdn.example.com/c"},
		{hub, "http://hub.example.com/c", false, ""},
		{hub, "http://127.0.0.1/c", false, ""},
		{hub, "https://me:secret@cdn.example.com/c", false, ""},
		{hub, "file:///etc/passwd", false, ""},
		{hub, ":", false, ""},
		{local, "http://127.0.0.1:9/c", true, "http://127.0.0.1:9/c"},
		{local, "http://169.254.169.254/c", true, ""},
	} {
		got, err := follow(c.from, c.location, c.plain)
		if (err == nil) != (c.want != "") || err == nil && got.String() != c.want || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, %v; want %q", c.location, got, err, c.want)
		}
	}
}

func TestWaits(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for said, want := range map[string]string{
		"":                              "[1s 2s 4s 8s 16s] given up after 6 tries",
		"7":                             "[7s 7s 7s 7s 7s] given up",
		"0":                             "[1s 1s 1s 1s 1s] given up",
		"Mon, 30 Nov 2026 12:00:40 GMT": "[40s 40s 40s 40s 40s] given up",
		"Mon, 30 Nov 2026 11:00:00 GMT": "[1s 1s 1s 1s 1s] given up",
		"soon":                          "[1s 2s 4s 8s 16s] given up",
		"-5":                            "[1s 2s 4s 8s 16s] given up",
		"3600":                          "[] it asks to wait 1h0m0s, and more than 5m0s is not waited for; run the same command later",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if said != "" {
				w.Header().Set("Retry-After", said)
			}
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		var waits []time.Duration
		c := New(Options{Now: func() time.Time { return now }, Sleep: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }})
		_, _, err := c.JSON(t.Context(), Request{URL: s.URL}, 100)
		list, words, _ := strings.Cut(want, "]")
		if err == nil || fmt.Sprint(waits) != list+"]" || !strings.Contains(err.Error(), strings.TrimSpace(words)) {
			t.Errorf("Retry-After %q: %v, %v; want %s", said, waits, err, want)
		}
		s.Close()
	}
}

// TestStalls: an answer in which nothing arrives any more ends, and may be asked
// for again.
func TestStalls(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "begin")
		w.(http.Flusher).Flush()
		<-release
	}))
	defer s.Close()
	defer close(release)
	resp, err := New(Options{Idle: 30 * time.Millisecond}).Do(t.Context(), Request{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if string(b) != "begin" || !errors.Is(err, errStalled) || !Passing(err) {
		t.Errorf("%q, %v", b, err)
	}
	resp.Body.Close()
}

func TestBounds(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, strings.Repeat("x", 4096)); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	_, _, err := New(Options{}).JSON(t.Context(), Request{URL: s.URL}, 10_000)
	if err == nil || !strings.Contains(err.Error(), "answer of more than 10000 bytes") {
		t.Error(err)
	}
}

func TestGone(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	var waits int
	c := New(Options{Sleep: func(context.Context, time.Duration) error { waits++; return nil }})
	_, _, err := c.JSON(t.Context(), Request{URL: s.URL}, 10)
	if err == nil || waits != 5 || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%d waits, %v", waits, err)
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31m b\n\n c":        "a [31m b c",
		"your key hunter22 is bad": "your key [redacted] is bad",
		"\xff\xfe":                 "",
		strings.Repeat("ü", 300):   strings.Repeat("ü", 200) + "…",
	} {
		if got := Words(in, "Bearer hunter22"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
