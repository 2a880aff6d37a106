package llm_test

import (
	"bufio"
	"fmt"
	"io"
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

// pipes are in-memory connections to a server that keeps them open. The truth
// of an answer: a role after 30 ms, text after 80 and 90, the end after 100.
type pipes struct {
	dialling time.Duration
	opened   atomic.Int32
	closing  bool // close each connection after its answer
}

func (p *pipes) dial() net.Conn {
	time.Sleep(p.dialling)
	p.opened.Add(1)
	ours, theirs := net.Pipe()
	go p.serve(theirs)
	return ours
}

func (p *pipes) serve(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewReader(conn); ; {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		if req.Method == http.MethodGet {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"data\":[]}")
			continue
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for _, b := range []struct {
			wait  time.Duration
			event string
		}{{30, `{"choices":[{"delta":{"role":"assistant","content":""}}]}`}, {50, `{"choices":[{"delta":{"content":"hello "}}]}`}, {10, `{"choices":[{"delta":{"content":"world"}}]}`}, {10, `[DONE]`}} {
			time.Sleep(b.wait * time.Millisecond)
			_, _ = fmt.Fprintf(conn, "%x\r\ndata: %s\n\n\r\n", len(b.event)+8, b.event)
		}
		_, _ = io.WriteString(conn, "0\r\n\r\n")
		if p.closing {
			return
		}
	}
}

func (p *pipes) client(t *testing.T) *llm.Client {
	t.Helper()
	c, err := llm.New(llm.Options{URL: "http://127.0.0.1:1/v1", Model: "tiny", MaxConns: 1, Transport: llm.TransportOver(p.dial)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Connecting is a stamp of its own: a request that had to connect says so, one
// on a connection made before has the server's exact time to the first token.
func TestConnectionTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{dialling: 200 * time.Millisecond}
		c := p.client(t)
		cold, warm := c.Do(t.Context(), hi(t, c)), c.Do(t.Context(), hi(t, c))
		if f, m := cold.Times, time.Millisecond; cold.Failure != nil || f.Reused || f.Conn != int64(200*m) || f.FirstOutput != int64(280*m) {
			t.Errorf("cold: %+v %+v", cold.Failure, f)
		}
		if f, m := warm.Times, time.Millisecond; warm.Failure != nil || !f.Reused || f.Conn != 1 || f.Written != 1 ||
			f.Header != 0 || f.FirstOutput != int64(80*m) || f.LastOutput != int64(90*m) || f.End != int64(100*m) || fmt.Sprint(warm.OutputNS) != "[80000000 10000000]" {
			t.Errorf("warm: %+v %+v %v", warm.Failure, f, warm.OutputNS)
		}
		c.Close()
		synctest.Wait()
		if err := c.Warm(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if again := c.Do(t.Context(), hi(t, c)); !again.Times.Reused || again.Times.FirstOutput != int64(80*time.Millisecond) {
			t.Errorf("warmed: %+v", again.Times)
		}
		c.Close()
	})
}

// An idle connection is dropped before common servers drop it, and one that
// the server dropped while it was idle is not used.
func TestIdleConnections(t *testing.T) {
	for name, c := range map[string]struct {
		closing bool
		idle    time.Duration
		opened  int32
	}{"kept": {false, 3900 * time.Millisecond, 1}, "too old": {false, 4100 * time.Millisecond, 2}, "dropped by the server": {true, time.Millisecond, 2}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pipes{closing: c.closing}
				client := p.client(t)
				for range 2 {
					if r := client.Do(t.Context(), hi(t, client)); r.Failure != nil || r.Text != "hello world" {
						t.Errorf("%q %+v", r.Text, r.Failure)
					}
					time.Sleep(c.idle)
				}
				if n := p.opened.Load(); n != c.opened {
					t.Errorf("%d connections, want %d", n, c.opened)
				}
				client.Close()
			})
		})
	}
}

// The number of kept connections is no limit to the requests in flight.
func TestMoreRequestsThanConnections(t *testing.T) {
	const n = 12
	all := make(chan struct{})
	var arrived, answered sync.WaitGroup
	arrived.Add(n)
	e := llmtest.New(t, llmtest.Script{Fault: func(int, string) llmtest.Fault { arrived.Done(); return llmtest.Fault{Wait: all} }})
	c, err := llm.New(llm.Options{URL: e.URL + "/v1", Model: "tiny", MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		answered.Go(func() {
			if r := c.Do(t.Context(), hi(t, c)); r.Failure != nil {
				t.Error(r.Failure)
			}
		})
	}
	arrived.Wait() // would not return if any were held back
	close(all)
	answered.Wait()
	if e.MostInFlight() != n {
		t.Errorf("%d in flight, want %d", e.MostInFlight(), n)
	}
	c.Close()
}

// crowd counts the requests that are in flight at once.
type crowd struct{ now, most, all atomic.Int32 }

func (c *crowd) RoundTrip(r *http.Request) (*http.Response, error) {
	c.all.Add(1)
	n := c.now.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	time.Sleep(time.Millisecond)
	c.now.Add(-1)
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// Warming up opens every connection, a few at a time.
func TestWarmIsPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &crowd{}
		c, err := llm.New(llm.Options{URL: "http://127.0.0.1:1/v1", Model: "tiny", MaxConns: 100, Transport: all})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Warm(t.Context(), 100); err != nil || all.all.Load() != 100 || all.most.Load() != llm.Dialing {
			t.Errorf("%v, %d connections, %d at once; want 100 and %d", err, all.all.Load(), all.most.Load(), llm.Dialing)
		}
	})
}

// A refused request is one request, and the caller's to repeat.
func TestRefusalIsNotRetried(t *testing.T) {
	for status, class := range map[int]llm.Class{429: llm.ClassOverload, 500: llm.ClassServerError, 503: llm.ClassOverload} {
		e := llmtest.New(t, llmtest.Script{Fault: func(int, string) llmtest.Fault {
			return llmtest.Fault{Status: status, RetryAfter: "1", Message: "busy"}
		}})
		c := e.Client(t, llm.OpenAI)
		if r := c.Do(t.Context(), hi(t, c)); r.Failure == nil || r.Failure.Class != class || r.Failure.RetryAfter != 1 || r.Failure.NoByte || e.Requests() != 1 {
			t.Errorf("%d: %+v after %d requests", status, r.Failure, e.Requests())
		}
	}
}

// Times are differences on the monotonic clock, which no step of the wall
// clock moves.
func TestMonotonicClock(t *testing.T) {
	c := (&pipes{}).client(t)
	if now := c.Clock()(); !strings.Contains(now.String(), " m=") {
		t.Errorf("%s has no monotonic reading", now)
	}
}
