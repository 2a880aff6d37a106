package llmtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
)

// End is what a hostile server does after its last piece.
type End int

// The ends.
const (
	Close End = iota // an orderly close
	Reset            // a connection reset
	Hold             // nothing more, until the client's deadline passes
)

// Hostile is one answer that a client must read right, or refuse for the
// right reason.
type Hostile struct {
	Name     string
	API      llm.API // "" = OpenAI
	Model    string  // asked for, "" = tiny
	NoStream bool
	Pieces   []string // the raw HTTP response; in memory each piece is one read
	End      End

	Class     llm.Class // "" = a usable answer
	Says      string    // part of the failure's message
	Text      string
	Reasoning string
	Tools     []llm.ToolCall
	Finish    string
	Tokens    int64 // output tokens, -1 = no usage
	Status    int
	Retry     int
	NoByte    bool
}

// Client returns a client for the answer. rt nil = over TCP to url.
func (h Hostile) Client(tb testing.TB, url string, rt http.RoundTripper) (*llm.Client, *llm.Prepared) {
	tb.Helper()
	api := h.API
	if api == "" {
		api = llm.OpenAI
	}
	model := h.Model
	if model == "" {
		model = "tiny"
	}
	c, err := llm.New(llm.Options{URL: url, API: api, Model: model, APIKey: "sk-very-secret", Headers: map[string]string{"X-Team": "team-secret"}, Transport: rt})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	p, err := c.Prepare(llm.Request{
		Messages: []llm.Message{{Role: "user", Content: "hello"}},
		Sampling: llm.Sampling{TopP: 1, MaxTokens: 8}, NoStream: h.NoStream,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return c, p
}

// Check compares an answer with what must come out.
func (h Hostile) Check(tb testing.TB, r llm.Response) {
	tb.Helper()
	f := r.Failure
	if f == nil {
		f = &llm.Failure{}
	}
	check := func(what string, got, want any) {
		tb.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			tb.Errorf("%s: %q, want %q (failure: %q)", what, fmt.Sprint(got), fmt.Sprint(want), f.Message)
		}
	}
	check("class", f.Class, h.Class)
	check("text", r.Text, h.Text)
	check("reasoning", r.Reasoning, h.Reasoning)
	check("tool calls", r.ToolCalls, h.Tools)
	check("finish reason", r.FinishReason, h.Finish)
	check("status", f.Status, h.Status)
	check("retry after", f.RetryAfter, h.Retry)
	check("no byte", f.NoByte, h.NoByte)
	tokens := int64(-1)
	if r.Usage != nil && r.Usage.OutputTokens != nil {
		tokens = *r.Usage.OutputTokens
	}
	check("output tokens", tokens, h.Tokens)
	if !strings.Contains(f.Message, h.Says) {
		tb.Errorf("message: %q, want %q in it", f.Message, h.Says)
	}
	if strings.Contains(f.Message, "secret") || len(f.Message) > 2048 || f.Class != "" && f.Message == "" {
		tb.Errorf("message: %q is empty, too long or holds a secret", f.Message)
	}
	if (r.Times.End >= 0) != (h.Class == "" || h.Class == llm.ClassEmpty || h.Class == llm.ClassWrongModel) {
		tb.Errorf("end %d with class %q", r.Times.End, h.Class)
	}
	if (r.Times.FirstVisible >= 0) != (r.Text != "" && !h.NoStream) {
		tb.Errorf("first visible %d with text %q", r.Times.FirstVisible, r.Text)
	}
}

// Transport answers in memory, with exactly the reads that Pieces say. expire
// is called when the server goes quiet.
func (h Hostile) Transport(expire func()) http.RoundTripper {
	return transport(func(req *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		p := &pieces{h: h, left: h.Pieces, expire: expire, ctx: req.Context()}
		return http.ReadResponse(bufio.NewReaderSize(p, 64<<10), req)
	})
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// pieces gives one piece per read.
type pieces struct {
	h      Hostile
	left   []string
	expire func()
	ctx    context.Context
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, p.end()
	}
	if t := httptrace.ContextClientTrace(p.ctx); t != nil && t.GotFirstResponseByte != nil {
		t.GotFirstResponseByte()
	}
	n := copy(b, p.left[0])
	if p.left[0] = p.left[0][n:]; p.left[0] == "" {
		p.left = p.left[1:]
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

// Listen answers over TCP and returns the base URL. An answer that ends in
// Reset cannot be told apart from one that loses its last pieces, and what is
// read before a deadline is chance: use Transport for these.
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
			h.answer(conn)
		}
	}()
	tb.Cleanup(func() { _ = l.Close(); <-done })
	return "http://" + l.Addr().String()
}

func (h Hostile) answer(conn net.Conn) {
	defer conn.Close()
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, req.Body)
	for _, p := range h.Pieces {
		if _, err := io.WriteString(conn, p); err != nil {
			return
		}
	}
}
