package loopback

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
)

// brisk is over in a few milliseconds.
var brisk = Schedule{First: time.Millisecond, Gap: 100 * time.Microsecond, Events: 20}

// start serves on a real port until the test ends, and then checks that the
// server ends too.
func start(t *testing.T, s Schedule) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, s) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return "http://" + l.Addr().String()
}

func TestServePages(t *testing.T) {
	url := start(t, brisk)
	for _, tc := range []struct {
		method, path string
		status       int
		holds        string
	}{
		{"GET", "/v1/models", 200, `"id":"loopback"`},
		{"GET", "/stats", 200, `"gap_ns":100000`},
		{"POST", "/stats", 200, `"events":0`},
		{"GET", "/v1/chat/completions", 404, "no such page"},
		{"GET", "/api/version", 404, "no such page"},
		{"POST", "/v1/chat/completions", 200, "data: [DONE]"},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), tc.method, url+tc.path, strings.NewReader("{}"))
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != tc.status || !strings.Contains(string(body), tc.holds) {
			t.Errorf("%s %s: %d %q, %v", tc.method, tc.path, resp.StatusCode, body, err)
		}
	}
}

// TestServeClient: the measuring client finds its identity and its connections.
func TestServeClient(t *testing.T) {
	for name, s := range map[string]Schedule{"paced": brisk, "full speed": {Events: 20, Bytes: 32}, "one event": {Events: 1}} {
		c, err := llm.New(llm.Options{URL: start(t, s) + "/v1", MaxConns: 3})
		if err != nil {
			t.Fatal(err)
		}
		id, err := c.Identity(t.Context())
		if err != nil || id.Served != Model {
			t.Fatalf("%s: identity %+v, %v", name, id, err)
		}
		if err := c.Warm(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		p, err := c.Prepare(llm.Request{Messages: []llm.Message{{Role: "user", Content: "x"}}, Sampling: llm.Sampling{TopP: 1, MaxTokens: 1}})
		if err != nil {
			t.Fatal(err)
		}
		r := c.Do(t.Context(), p)
		if r.Failure != nil || !r.Times.Reused || r.FinishReason != "stop" || *r.Usage.OutputTokens != int64(s.Events) || len(r.Text) != s.Events*s.width() {
			t.Errorf("%s: %+v", name, r)
		}
		c.Close()
	}
}

func TestServeRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := Serve(t.Context(), l, Schedule{}); err == nil || !strings.Contains(err.Error(), "0 events") {
		t.Errorf("a bad schedule: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is still open: %v", err)
	}
	if err := Serve(t.Context(), l, brisk); err == nil {
		t.Error("serving on a closed listener is no error")
	}
}

// pipes is a listener whose connections are pipes, so that a bubble can tell
// when everyone waits.
type pipes chan net.Conn

func (p pipes) Addr() net.Addr { return nil }
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) dial() net.Conn {
	here, there := net.Pipe()
	p <- there
	return here
}

const ask = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"

// TestServeEnds: when its context ends, a server in the middle of a stream, in
// the middle of a request and between requests closes everything and returns.
func TestServeEnds(t *testing.T) {
	for name, sent := range map[string]string{"streaming": ask, "half a request": ask[:20], "idle": ""} {
		synctest.Test(t, func(t *testing.T) {
			l := make(pipes)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- serve(ctx, l, Schedule{First: time.Second, Gap: time.Second, Events: 9}, time.Sleep) }()
			c := l.dial()
			if _, err := io.WriteString(c, sent); err != nil {
				t.Fatal(err)
			}
			if sent == ask { // the first event is there
				if _, err := c.Read(make([]byte, 4096)); err != nil {
					t.Fatal(err)
				}
			}
			ended := time.Now()
			cancel()
			if err := <-done; err != nil || time.Since(ended) > longest {
				t.Errorf("%s: %v after %s", name, err, time.Since(ended))
			}
			if _, err := c.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("%s: the connection is left open: %v", name, err)
			}
		})
	}
}

// TestServeBounds: a connection that asks for nothing is closed after a while,
// one that asks for too much at once.
func TestServeBounds(t *testing.T) {
	for name, sent := range map[string]string{
		"silent":        "",
		"no request":    "\x16\x03\x01 hello\r\n\r\n",
		"endless head":  "GET / HTTP/1.1\r\nX: " + strings.Repeat("a", maxRequest),
		"endless body":  "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n" + strings.Repeat("a", maxRequest),
		"asks to close": "GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			l := make(pipes)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- serve(ctx, l, brisk, time.Sleep) }()
			c := l.dial()
			wait := time.Duration(0)
			if sent == "" {
				wait = idle
			}
			began := time.Now()
			go io.WriteString(c, sent) // until it is closed
			if _, err := io.Copy(io.Discard, c); err != nil || time.Since(began) != wait {
				t.Errorf("%s: closed after %s, want %s: %v", name, time.Since(began), wait, err)
			}
			cancel()
			<-done
		})
	}
}

// TestServeCut: of a full-speed stream whose reader goes away, only what was
// written counts.
func TestServeCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- serve(ctx, l, Schedule{Events: 9}, time.Sleep) }()
		reader, asker := l.dial(), l.dial()
		if _, err := io.WriteString(reader, ask); err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Read(make([]byte, 4096)); err != nil { // the first of nine
			t.Fatal(err)
		}
		reader.Close()
		synctest.Wait()
		if _, err := io.WriteString(asker, "GET /stats HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(asker)
		if err != nil || !strings.Contains(string(said), `"requests":1,"events":1,"cut":1,`) {
			t.Errorf("%q, %v", said, err)
		}
		cancel()
		<-done
	})
}

// TestAtOnce: a reader that does not read is an error, not a wait.
func TestAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	reader, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	write := atOnce(c)
	if err := write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(reader, got); err != nil || string(got) != "hello" {
		t.Fatalf("%q, %v", got, err)
	}
	for range 10_000 {
		if err = write(make([]byte, 64<<10)); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("640 MB were taken by a reader that does not read")
	}
}
