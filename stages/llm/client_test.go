package llm_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

func prepare(tb testing.TB, c *llm.Client, prompt string) *llm.Prepared {
	tb.Helper()
	p, err := c.Prepare(llm.Request{
		Messages: []llm.Message{{Role: "user", Content: prompt}},
		Sampling: llm.Sampling{TopP: 1, Seed: 1, MaxTokens: 100},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func hi(tb testing.TB, c *llm.Client) *llm.Prepared { return prepare(tb, c, "hi there") }

// Over a real connection the stamps are in order, for both protocols, and the
// second request finds the first one's connection.
func TestStampsAreOrdered(t *testing.T) {
	for _, api := range []llm.API{llm.OpenAI, llm.Ollama} {
		e := llmtest.New(t, llmtest.Script{Ollama: "0.17.4"})
		c := e.Client(t, api)
		p := prepare(t, c, strings.Repeat("word ", 50))
		for n := range 2 {
			r := c.Do(t.Context(), p)
			if r.Failure != nil || r.Text != strings.Repeat("word ", 50) || *r.Usage.OutputTokens != 51 {
				t.Fatalf("%s: %+v", api, r)
			}
			last := int64(0)
			for _, ns := range []int64{r.Times.Conn, r.Times.Header, r.Times.FirstOutput, r.Times.FirstVisible, r.Times.LastOutput, r.Times.End} {
				if ns < last {
					t.Errorf("%s: stamps out of order: %+v", api, r.Times)
				}
				last = ns
			}
			if r.Times.Reused != (n == 1) || r.Times.Written < r.Times.Conn || r.Times.StartUnixNS == 0 {
				t.Errorf("%s, request %d: %+v", api, n+1, r.Times)
			}
		}
		if e.Connections() != 1 {
			t.Errorf("%s: %d connections for 2 requests, want 1", api, e.Connections())
		}
	}
}

// After Warm(n), n requests at once open no connection.
func TestWarm(t *testing.T) {
	const n = 12
	all := make(chan struct{})
	var arrived sync.WaitGroup
	arrived.Add(n)
	e := llmtest.New(t, llmtest.Script{Fault: func(int, string) llmtest.Fault { arrived.Done(); return llmtest.Fault{Wait: all} }})
	c := e.Client(t, llm.OpenAI)
	if err := c.Warm(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	p := hi(t, c)
	results := make(chan llm.Response, n)
	for range n {
		go func() { results <- c.Do(t.Context(), p) }()
	}
	arrived.Wait()
	close(all)
	for range n {
		if r := <-results; r.Failure != nil || !r.Times.Reused {
			t.Errorf("failure %v, reused %v", r.Failure, r.Times.Reused)
		}
	}
	if e.Connections() != n || e.MostInFlight() != n {
		t.Errorf("%d connections, %d in flight; want %d of both", e.Connections(), e.MostInFlight(), n)
	}
	if err := c.Warm(t.Context(), 65); err == nil || !strings.Contains(err.Error(), "only 64") {
		t.Errorf("beyond the pool: %v", err)
	}
}

// A kept connection that the server drops when the next request arrives is a
// failure before the first byte, and nothing was sent again behind our back,
// not even when a header claims that sending again is harmless.
func TestNoHiddenRetry(t *testing.T) {
	var posts atomic.Int32
	e := llmtest.New(t, llmtest.Script{Before: func(_ http.ResponseWriter, r *http.Request) bool {
		if posts.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
		return false
	}})
	c, err := llm.New(llm.Options{URL: e.URL + "/v1", Model: "tiny", Headers: map[string]string{"Idempotency-Key": "7"}})
	if err != nil {
		t.Fatal(err)
	}
	first, second := c.Do(t.Context(), hi(t, c)), c.Do(t.Context(), hi(t, c))
	if first.Failure != nil {
		t.Fatal(first.Failure)
	}
	if f := second.Failure; f == nil || f.Class != llm.ClassUnreachable || !f.NoByte || !second.Times.Reused {
		t.Errorf("failure %+v, times %+v", f, second.Times)
	}
	if n := posts.Load(); n != 2 {
		t.Errorf("%d requests arrived, want 2", n)
	}
}

// A caller's cancellation and a refused connection have their own classes.
func TestCanceledAndUnreachable(t *testing.T) {
	e := llmtest.New(t, llmtest.Script{})
	c := e.Client(t, llm.OpenAI)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := c.Do(ctx, hi(t, c)); r.Failure == nil || r.Failure.Class != llm.ClassCanceled || r.Failure.NoByte {
		t.Errorf("canceled: %+v", r.Failure)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	c, err = llm.New(llm.Options{URL: "http://" + l.Addr().String() + "/v1", Model: "tiny"})
	if err != nil {
		t.Fatal(err)
	}
	r := c.Do(t.Context(), hi(t, c))
	if r.Failure == nil || r.Failure.Class != llm.ClassUnreachable || !r.Failure.NoByte || r.Times.Conn != -1 {
		t.Errorf("refused: %+v %+v", r.Failure, r.Times)
	}
}

// The client's own time-out ends a request in which nothing more arrives, with
// what had arrived; one that has its finish reason is complete.
func TestTimeout(t *testing.T) {
	for _, h := range llmtest.Hostiles() {
		if h.End != llmtest.Hold {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := h.Client(t, "http://127.0.0.1:1", h.Transport(func() {}))
				start := time.Now()
				h.Check(t, c.Do(t.Context(), p))
				want := 10 * time.Minute
				if h.Class == "" && !strings.HasPrefix(h.Name, "no sentinel") {
					want = llm.DrainTimeout
				}
				if took := time.Since(start); took != want {
					t.Errorf("took %s, want %s", took, want)
				}
			})
		})
	}
}

// A clock that goes back makes the row inconsistent, not negative.
func TestInconsistentClock(t *testing.T) {
	h := llmtest.Hostiles()[0]
	c, p := h.Client(t, "http://127.0.0.1:1", h.Transport(func() {}))
	now := time.Now()
	c.SetClock(func() time.Time { now = now.Add(-time.Millisecond); return now })
	if r := c.Do(t.Context(), p); r.Failure == nil || r.Failure.Class != llm.ClassInconsistent || r.Text == "" {
		t.Errorf("%+v", r.Failure)
	}
}

// Many requests at once share a client: run with -race.
func TestConcurrentUse(t *testing.T) {
	e := llmtest.New(t, llmtest.Script{})
	c := e.Client(t, llm.OpenAI)
	p := hi(t, c)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if r := c.Do(t.Context(), p); r.Failure != nil || r.Text != "hi there" {
					t.Errorf("%q %+v", r.Text, r.Failure)
				}
			}
		})
	}
	wg.Go(func() {
		if _, err := c.Identity(t.Context()); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
}

// Headers and the key go out, and nothing that the client must not send.
func TestHeaders(t *testing.T) {
	e := llmtest.New(t, llmtest.Script{})
	c, err := llm.New(llm.Options{URL: e.URL + "/v1", Model: "tiny", APIKey: "sk-1", Headers: map[string]string{"x-team": "blue"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Do(t.Context(), hi(t, c)); r.Failure != nil {
		t.Fatal(r.Failure)
	}
	got := e.Seen()[0].Header
	for name, want := range map[string]string{"Authorization": "Bearer sk-1", "X-Team": "blue", "Accept": "text/event-stream",
		"Accept-Encoding": "", "Content-Type": "application/json", "User-Agent": "cupel"} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Get(name), want)
		}
	}
}
