package llm_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// serve starts a server of one handler and returns a client of it.
func serve(tb testing.TB, o llm.Options, h http.HandlerFunc) *llm.Client {
	tb.Helper()
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	o.URL = s.URL + o.URL
	c := newClient(tb, o)
	tb.Cleanup(c.Close)
	return c
}

const metricsText = "# HELP vllm:num_requests_running Requests.\nvllm:num_requests_running{model_name=\"m\"} 2.0\n"

func TestScrape(t *testing.T) {
	page := func(kind string, write func(http.ResponseWriter)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Path != "/metrics" || r.Header.Get("Accept-Encoding") != "" {
				http.Error(w, "wrong request "+r.URL.Path, http.StatusTeapot)
				return
			}
			w.Header().Set("Content-Type", kind)
			write(w)
		}
	}
	text := func(s string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { _, _ = io.WriteString(w, s) }
	}
	for _, c := range []struct {
		name string
		serv http.HandlerFunc
		want string
		says string
		is   error
	}{
		{"vLLM", page("text/plain; version=0.0.4; charset=utf-8", text(metricsText)), metricsText, "", nil},
		{"openmetrics", page("application/openmetrics-text; version=1.0.0", text("# EOF\n")), "# EOF\n", "", nil},
		{"a key in a label", page("text/plain", text("up{key=\"sk-secret\"} 1\n")), "up{key=\"[redacted]\"} 1\n", "", nil},
		{"Ollama", func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }, "", "no metrics page", llm.ErrNoMetrics},
		{"llama.cpp without --metrics", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", http.StatusNotImplemented) }, "", "no metrics page", llm.ErrNoMetrics},
		{"HTML", page("text/html", text("<html>sk-secret login")), "", `content type "text/html", not text/plain: <html>[redacted]`, step.ErrOutside},
		{"no type", func(w http.ResponseWriter, _ *http.Request) { w.Header()["Content-Type"] = nil }, "", `content type ""`, step.ErrOutside},
		{"gzip", page("text/plain", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, metricsText)
			_ = z.Close()
		}), "", "compresses its answer (gzip)", step.ErrOutside},
		{"huge", page("text/plain", text(strings.Repeat("x", 8<<20+1))), "", "longer than 8 MiB", step.ErrOutside},
		{"as long as may be", page("text/plain", text(strings.Repeat("x", 8<<20))), strings.Repeat("x", 8<<20), "", nil},
		{"cut", page("text/plain", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "x")
		}), "", "closed in the middle", step.ErrUnreachable},
		{"key refused", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no sk-secret", http.StatusUnauthorized) }, "", "no [redacted]", step.ErrOutside},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/metrics/", 307) }, "", "not followed", step.ErrOutside},
	} {
		client := serve(t, llm.Options{URL: "/v1", Model: "m", APIKey: "sk-secret"}, c.serv)
		body, err := client.Scrape(t.Context())
		if string(body) != c.want {
			t.Errorf("%s: %d bytes %.80q", c.name, len(body), body)
		}
		if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || !errors.Is(err, c.is) || strings.Contains(err.Error(), "sk-secret")) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// A page that never ends is given up, and the caller's own end is not an error
// of the endpoint.
func TestScrapeThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := answeringRequests(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: hanging{r.Context()}}, nil
		})
		c := newClient(t, llm.Options{URL: "http://127.0.0.1:1/v1", Model: "m", Transport: hang})
		begin := time.Now()
		if _, err := c.Scrape(t.Context()); !errors.Is(err, step.ErrUnreachable) || time.Since(begin) != 30*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Scrape(ctx); !errors.Is(err, step.ErrUnreachable) || time.Since(begin) != 31*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if _, err := c.Scrape(stopped); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
	})
}

type answeringRequests func(*http.Request) (*http.Response, error)

func (a answeringRequests) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// hanging is a body that brings nothing until its request ends.
type hanging struct{ ctx context.Context }

func (h hanging) Read([]byte) (int, error) { <-h.ctx.Done(); return 0, h.ctx.Err() }
func (hanging) Close() error               { return nil }

// A scrape while a cell runs takes none of the cell's connections.
func TestScrapeBesideACell(t *testing.T) {
	e := llmtest.New(t, llmtest.Script{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/metrics" {
			return false
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, metricsText)
		return true
	}})
	c := e.Client(t, llm.OpenAI)
	if err := c.Warm(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	p := hi(t, c)
	for range 2 {
		if _, err := c.Scrape(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := c.Do(t.Context(), p); r.Failure != nil || !r.Times.Reused {
			t.Errorf("%+v, reused %v", r.Failure, r.Times.Reused)
		}
	}
	if n := e.Connections(); n != 2 {
		t.Errorf("%d connections, want one for the cell and one beside it", n)
	}
}
