package llm_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/llm"
)

// answering is a transport that gives the same answer to everything.
type answering func() (*http.Response, error)

func (a answering) RoundTrip(*http.Request) (*http.Response, error) { return a() }

// rawAnswer is an answer as it was on the wire, with its header.
func rawAnswer(raw string, form func(io.Reader) io.Reader) answering {
	return func() (*http.Response, error) {
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(raw)), nil)
		if err == nil {
			resp.Body = io.NopCloser(form(resp.Body))
		}
		return resp, err
	}
}

// bodyAnswer is an answer of that type and body.
func bodyAnswer(contentType, body string, form func(io.Reader) io.Reader) answering {
	return func() (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {contentType}},
			Body: io.NopCloser(form(strings.NewReader(body)))}, nil
	}
}

func contentType(api llm.API, stream bool) string {
	switch {
	case !stream:
		return "application/json"
	case api == llm.Ollama || api == llm.OllamaGenerate:
		return "application/x-ndjson"
	}
	return "text/event-stream"
}

// readings are the ways in which an answer may arrive.
var readings = map[string]func(io.Reader) io.Reader{
	"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader,
	"halves": iotest.HalfReader, "with its end": iotest.DataErrReader,
}

// send asks for anything and returns the answer without its stamps.
func send(tb testing.TB, rt http.RoundTripper, api llm.API, stream bool) llm.Response {
	tb.Helper()
	c := newClient(tb, llm.Options{URL: "http://127.0.0.1:1", API: api, Model: "m", Transport: rt})
	p, err := c.Prepare(llm.Request{Messages: []llm.Message{{Role: "user", Content: "hi"}},
		Sampling: llm.Sampling{TopP: 1, MaxTokens: 4}, NoStream: !stream})
	if err != nil {
		tb.Fatal(err)
	}
	r := c.Do(tb.Context(), p)
	chunks := r.ContentChunks + r.ReasoningChunks
	if len(r.OutputNS) > 0 != (r.Times.FirstOutput >= 0) || !stream && len(r.OutputNS) > 0 || len(r.ToolCalls) == 0 && 2*len(r.OutputNS) < chunks {
		tb.Errorf("%d stamps for %d chunks of output, first at %d", len(r.OutputNS), chunks, r.Times.FirstOutput)
	}
	r.Times, r.OutputNS, r.Coalesced, r.Raw, r.Ended = llm.Times{}, nil, 0, 0, false
	return r
}

func usage(prompt, output int64, more ...int64) *llm.Usage {
	u := &llm.Usage{PromptTokens: &prompt, OutputTokens: &output}
	for i := range more {
		switch i {
		case 0:
			u.CachedTokens = &more[0]
		case 1:
			u.ReasoningTokens = &more[1]
		}
	}
	return u
}

// wireCase is an answer and what it means.
type wireCase struct {
	name     string
	api      llm.API
	noStream bool
	body     string
	want     llm.Response // without stamps
}

func (c wireCase) run(t *testing.T, answer func(form func(io.Reader) io.Reader) answering) {
	t.Helper()
	for how, form := range readings {
		if diff := cmp.Diff(c.want, send(t, answer(form), c.api, !c.noStream)); diff != "" {
			t.Errorf("%s, read as %s (-want +got):\n%s", c.name, how, diff)
		}
	}
}

func runWire(t *testing.T, cases []wireCase) {
	t.Helper()
	for _, c := range cases {
		c.run(t, func(form func(io.Reader) io.Reader) answering {
			return bodyAnswer(contentType(c.api, !c.noStream), c.body, form)
		})
	}
}

// events writes server-sent events, one for each line.
func events(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString("data: " + line + "\n\n")
		}
	}
	return b.String()
}

// ours reads a capture of this package.
func ours(tb testing.TB, name string) string {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "wire", "ollama-"+name+".txt"))
	if err != nil {
		tb.Fatal(err)
	}
	_, raw, ok := bytes.Cut(b, []byte("# ---- raw (curl -sN -i)\n"))
	if !ok {
		tb.Fatalf("%s is no capture", name)
	}
	return strings.Replace(string(raw), "Transfer-Encoding: chunked\r\n", "", 1)
}
