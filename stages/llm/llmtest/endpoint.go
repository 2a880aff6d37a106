// Package llmtest serves scripted model endpoints to tests: one that speaks
// OpenAI's and Ollama's protocols with faults where a test wants them, and a
// suite of hostile answers with what must come out: text, counts, stamps or
// the class of the failure. Handler serves the suite to any client.
package llmtest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/llm"
)

// Script says what an endpoint answers. The zero value serves one model
// "tiny" that repeats the prompt.
type Script struct {
	Models []Model                                           // nil = one called "tiny"
	Ollama string                                            // version of Ollama that it claims to be, "" = it is not Ollama
	Answer func(prompt string) string                        // nil = the prompt itself
	Fault  func(n int, prompt string) Fault                  // n counts chat requests from 0; nil = no faults
	Count  func(prompt string) int                           // of a prompt's tokens; nil = its words
	Probes bool                                              // requests of a token probe are requests like others
	Before func(w http.ResponseWriter, r *http.Request) bool // sees every request first; true = it has answered
}

// Model is one entry of the endpoint's list.
type Model struct {
	ID           string
	Digest       string // 64 hex: of the file (OpenAI), of the manifest (Ollama)
	Weights      string // 64 hex: of Ollama's blob
	Quantization string
	Template     string
	Context      int
}

// Fault is what goes wrong with one answer. The zero value is none.
type Fault struct {
	Status     int             // another status than 200, with Message as the error's text
	RetryAfter string          // header of such an answer
	Message    string          // text of an error
	Wait       <-chan struct{} // before anything is sent, until it is closed or the client has left
	InBand     bool            // an error object in the stream, after After pieces
	Cut        bool            // the connection is closed after After pieces
	Hang       bool            // nothing more is sent after After pieces, until the client has left
	After      int
	NoUsage    bool
	NoDone     bool
	Empty      bool          // a complete answer without a word in it
	Reasoning  string        // sent before the answer
	Tool       *llm.ToolCall // sent after the answer
	Model      string        // named in the answer instead of the one asked for
	Finish     string        // finish reason, "" = stop or length
}

// Seen is one chat request that arrived.
type Seen struct {
	Path   string
	Prompt string // content of the last user message
	Body   []byte
	Header http.Header
}

// Endpoint is a running server. Its methods may be called at any time.
type Endpoint struct {
	URL    string // without /v1
	script Script
	server *httptest.Server

	mu       sync.Mutex
	seen     []Seen
	inFlight int
	highest  int
	conns    int
}

// New starts an endpoint on a loopback port and stops it with the test.
func New(tb testing.TB, s Script) *Endpoint {
	tb.Helper()
	if s.Models == nil {
		s.Models = []Model{{ID: "tiny"}}
	}
	if s.Answer == nil {
		s.Answer = func(prompt string) string { return prompt }
	}
	if s.Count == nil {
		s.Count = func(prompt string) int { return len(strings.Fields(prompt)) }
	}
	if s.Fault == nil {
		s.Fault = func(int, string) Fault { return Fault{} }
	}
	e := &Endpoint{script: s}
	e.server = httptest.NewUnstartedServer(e)
	e.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			e.mu.Lock()
			e.conns++
			e.mu.Unlock()
		}
	}
	e.server.Start()
	tb.Cleanup(func() { e.server.CloseClientConnections(); e.server.Close() })
	e.URL = e.server.URL
	return e
}

// Client returns a client of the endpoint for its first model, closed with the test.
func (e *Endpoint) Client(tb testing.TB, api llm.API) *llm.Client {
	tb.Helper()
	o := llm.Options{URL: e.URL, API: api, Model: e.script.Models[0].ID}
	if api == llm.OpenAI {
		o.URL += "/v1"
	}
	c, err := llm.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// Requests is the number of chat requests so far.
func (e *Endpoint) Requests() int { return len(e.Seen()) }

// Seen returns the chat requests so far, in order of arrival.
func (e *Endpoint) Seen() []Seen {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Seen(nil), e.seen...)
}

// MostInFlight is the highest number of chat requests that were being answered at once.
func (e *Endpoint) MostInFlight() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.highest
}

// Connections is the number of connections that were opened so far.
func (e *Endpoint) Connections() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.conns
}

// ServeHTTP answers both protocols.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e.script.Before != nil && e.script.Before(w, r) {
		return
	}
	ollama := e.script.Ollama != ""
	switch path := r.Method + " " + r.URL.Path; {
	case path == "GET /v1/models":
		reply(w, e.models())
	case path == "GET /props" && !ollama:
		e.props(w, r)
	case path == "GET /api/version" && ollama:
		reply(w, map[string]string{"version": e.script.Ollama})
	case path == "GET /api/tags" && ollama:
		reply(w, e.tags())
	case path == "POST /api/show" && ollama:
		e.show(w, r)
	case path == "GET /api/ps" && ollama:
		reply(w, e.loaded())
	case path == "POST /v1/chat/completions", path == "POST /api/chat" && ollama:
		e.chat(w, r)
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

// find returns the model of that name, "name" and "name:latest" being one for Ollama.
func (e *Endpoint) find(name string) (Model, bool) {
	for _, m := range e.script.Models {
		if m.ID == name || e.script.Ollama != "" && strings.TrimSuffix(m.ID, ":latest") == strings.TrimSuffix(name, ":latest") {
			return m, true
		}
	}
	return Model{}, false
}

func reply(w http.ResponseWriter, doc any) {
	b, err := json.Marshal(doc, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b)
}

func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
