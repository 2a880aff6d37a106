package llm_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// A client beside another one asks the same server, by the same name and with
// the same key, at the other protocol's path.
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		suffix    string
		from, to  llm.API
		path, key string
	}{
		{"", llm.Ollama, llm.OpenAIResponses, "/v1/responses", "k"},
		{"/v1", llm.OpenAI, llm.OpenAIResponses, "/v1/responses", "k"},
		{"/v1", llm.OpenAI, llm.OllamaGenerate, "/api/generate", "k"},
		{"/proxy/v1", llm.OpenAI, llm.OpenAIResponses, "/proxy/v1/responses", ""},
	} {
		var path, auth string
		e := llmtest.New(t, llmtest.Script{Before: func(w http.ResponseWriter, r *http.Request) bool {
			path, auth = r.URL.Path, r.Header.Get("Authorization")
			http.Error(w, "no", http.StatusTeapot)
			return true
		}})
		first := newClient(t, llm.Options{URL: e.URL + c.suffix, API: c.from, Model: "m", APIKey: c.key})
		b, err := first.Beside(c.to)
		if err != nil || b.API() != c.to || b.Served() != "m" || first.API() != c.from {
			t.Fatalf("%s to %s: %v", c.from, c.to, err)
		}
		p, err := b.Prepare(llm.Request{Messages: []llm.Message{{Role: "user", Content: "hi"}}, Sampling: llm.Sampling{TopP: 1, MaxTokens: 1}})
		if err != nil {
			t.Fatal(err)
		}
		b.Do(t.Context(), p)
		if path != c.path || strings.TrimPrefix(auth, "Bearer ") != c.key {
			t.Errorf("%s to %s: asked at %s as %q", c.from, c.to, path, auth)
		}
	}
	if _, err := of(t, llm.OpenAI).Beside("x"); err == nil {
		t.Error("a protocol that does not exist")
	}
	if _, err := newClient(t, llm.Options{URL: "http://127.0.0.1:1/v1"}).Beside(llm.OpenAIResponses); err == nil {
		t.Error("a model that is not known")
	}
}

// Only the protocol's own end counts as one, not a stream that closes after its
// finish reason.
func TestEnded(t *testing.T) {
	for _, noDone := range []bool{false, true} {
		e := llmtest.New(t, llmtest.Script{Fault: func(int, string) llmtest.Fault { return llmtest.Fault{NoDone: noDone} }})
		c := e.Client(t, llm.OpenAI)
		p, err := c.Prepare(llm.Request{Messages: []llm.Message{{Role: "user", Content: "hi"}}, Sampling: llm.Sampling{TopP: 1, MaxTokens: 4}})
		if err != nil {
			t.Fatal(err)
		}
		if r := c.Do(t.Context(), p); r.Failure != nil || r.Ended == noDone {
			t.Errorf("no [DONE] %v: ended %v, %v", noDone, r.Ended, r.Failure)
		}
	}
}
