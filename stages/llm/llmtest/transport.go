package llmtest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Transport answers in memory, with exactly the reads and pauses that the case
// says. expire is called when the server goes quiet. The pauses are those of
// the testing/synctest bubble that it runs in.
func (h Hostile) Transport(expire func()) http.RoundTripper {
	return transport(func(req *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		p := &pieces{h: h, left: slices.Clone(h.Pieces), pauses: slices.Clone(h.Pauses), expire: expire, ctx: req.Context()}
		for in := bufio.NewReaderSize(p, 64<<10); ; {
			resp, err := http.ReadResponse(in, req)
			if err != nil || resp.StatusCode >= 200 {
				return resp, err
			}
		}
	})
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// pieces gives one piece per read.
type pieces struct {
	h      Hostile
	left   []string
	pauses []time.Duration
	expire func()
	ctx    context.Context
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, p.end()
	}
	if len(p.pauses) > 0 {
		time.Sleep(p.pauses[0])
		p.pauses[0] = 0
	}
	if t := httptrace.ContextClientTrace(p.ctx); t != nil && t.GotFirstResponseByte != nil {
		t.GotFirstResponseByte()
	}
	n := copy(b, p.left[0])
	if p.left[0] = p.left[0][n:]; p.left[0] == "" {
		p.left = p.left[1:]
		p.pauses = p.pauses[min(1, len(p.pauses)):]
	}
	return n, nil
}

func (p *pieces) end() error {
	switch p.h.End {
	case Reset:
		return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case Hold:
		p.expire()
		<-p.ctx.Done()
		return p.ctx.Err()
	}
	return io.EOF
}

// Listen answers over TCP, whatever is asked, and returns the base URL. An
// answer that ends in Reset cannot be told apart from one that loses its last
// pieces, and what is read before a deadline is chance: use Transport for these.
func (h Hostile) Listen(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			h.Answer(conn, func(time.Duration) {})
		}
	}()
	tb.Cleanup(func() { _ = l.Close(); <-done })
	return "http://" + l.Addr().String()
}

// Answer reads one request from a connection, answers it and closes. sleep is
// called for the pauses.
func (h Hostile) Answer(conn net.Conn, sleep func(time.Duration)) {
	defer conn.Close()
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, req.Body); err == nil {
		h.write(conn, sleep)
	}
}

// write sends the answer, one write per piece, and ends as the case says but
// for the close.
func (h Hostile) write(conn net.Conn, sleep func(time.Duration)) {
	for i, p := range h.Pieces {
		if i < len(h.Pauses) && h.Pauses[i] > 0 {
			sleep(h.Pauses[i])
		}
		if _, err := io.WriteString(conn, p); err != nil {
			return
		}
	}
	switch tcp, ok := conn.(*net.TCPConn); {
	case h.End == Reset && ok:
		_ = tcp.SetLinger(0) // closing then sends a reset
	case h.End == Hold:
		_, _ = io.Copy(io.Discard, conn) // until the client leaves
	}
}
