package llmtest

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Every case has a name of its own in a URL.
func TestSlugs(t *testing.T) {
	seen := map[string]string{}
	for _, h := range Hostiles() {
		if s := h.Slug(); s == "" || seen[s] != "" {
			t.Errorf("%q and %q are both %q", h.Name, seen[s], s)
		} else {
			seen[s] = h.Name
		}
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestHandlerPages(t *testing.T) {
	server := httptest.NewServer(Handler())
	defer server.Close()
	for path, want := range map[string]struct {
		code int
		part string
	}{
		"/":                             {200, "/case/gzip\tprotocol\tgzip\n"},
		"/case/crlf/v1/models":          {200, `"id":"tiny"`},
		"/case/ndjson-plain/api/tags":   {200, `"name":"tiny"`},
		"/case/crlf/api/version":        {200, `"version"`},
		"/case/crlf/metrics":            {404, ""},
		"/case/none/v1/chat":            {404, "no such case"},
		"/elsewhere":                    {404, "no such case"},
		"/case/timed-one-token/nothing": {404, ""},
	} {
		if code, body := get(t, server.URL+path); code != want.code || !strings.Contains(body, want.part) {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
}

// post sends a request by hand and returns what came back until the end.
func post(t *testing.T, url, slug string, enough int) (string, error) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /case/"+slug+"/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	if enough == 0 {
		b, err := io.ReadAll(conn)
		return string(b), err
	}
	b := make([]byte, enough)
	_, err = io.ReadFull(conn, b)
	return string(b), err
}

// The ends that net/http has no words for: a reset, and silence until the
// client leaves.
func TestHandlerEnds(t *testing.T) {
	var waited time.Duration
	server := httptest.NewServer(HandlerWith(func(d time.Duration) { waited += d }))
	defer server.Close() // returns when no handler is left
	for _, h := range Hostiles() {
		all := strings.Join(h.Pieces, "")
		switch h.Slug() {
		case "reset":
			if got, err := post(t, server.URL, h.Slug(), 0); !errors.Is(err, syscall.ECONNRESET) || !strings.HasPrefix(all, got) {
				t.Errorf("reset: %q, %v", got, err)
			}
		case "quiet-until-the-deadline":
			if got, err := post(t, server.URL, h.Slug(), len(all)); err != nil || got != all {
				t.Errorf("hold: %q, %v", got, err)
			}
		case "timed-role-only-delta-early":
			if got, err := post(t, server.URL, h.Slug(), 0); err != nil || got != all || waited != 120*time.Millisecond {
				t.Errorf("timed: %q, %v, waited %s", got, err, waited)
			}
		}
	}
}

func TestListen(t *testing.T) {
	h := Hostiles()[0]
	c, p := h.Client(t, h.Listen(t), nil)
	h.Check(t, c.Do(t.Context(), p))
}

// A case can be answered on any connection, and says what it needs otherwise.
func TestAnswerAndNoHijack(t *testing.T) {
	ours, theirs := net.Pipe()
	h := Hostiles()[0]
	go h.Answer(theirs, time.Sleep)
	go func() { _, _ = io.WriteString(ours, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}") }()
	got, err := io.ReadAll(bufio.NewReader(ours))
	if err != nil || string(got) != strings.Join(h.Pieces, "") {
		t.Errorf("%q, %v", got, err)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/case/plain/v1/chat/completions", strings.NewReader("{}")))
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "does not give its connection away") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
